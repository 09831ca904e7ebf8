/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that do not exist, answered in the driver.
 *
 *      query that is not in the cache
 *        │  the suffixes of its name, from the shortest apex's length on: does the filter know them?   xdp/names.h
 *        │     known                                  go on with one label more
 *        │     known, an apex                         the zone is this one, or a deeper one
 *        │     known, a cut, a DNAME, a wildcard      what is below may exist: up
 *        │     all known                              it may exist: up
 *        ▼     unknown, an apex above it              it does not exist
 *      the zone's denial, an entry of the cache       none, or a dead one: up, and a worker publishes one
 *        ▼
 *      NXDOMAIN with the zone's SOA, its pointers moved to this question's length
 *
 * What is uncertain goes up. A denial is an entry like others: it dies with its zone's generation, has a view, and is
 * withdrawn when the SOA changes.
 */
#ifndef VOLLEY_XDP_DENY_H
#define VOLLEY_XDP_DENY_H

#include "xdp/abi.h"
#include "xdp/choose.h"
#include "xdp/key.h"
#include "xdp/names.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/suffixes.h"
#include "xdp/sum.h"

#define DENIAL_BODY_MAX 1023 /* octets, a mask: SOA with its owner has 542 at most */
#define POINTER_BYTES   2

int deny_look(struct volley_cpu *cpu, const struct volley_state *state);
int deny_key(struct volley_cpu *cpu, const struct volley_state *state);

/* A walk over the suffixes of a name, from the shortest on. */
struct deny_walk {
	struct volley_cpu *cpu;
	__u64 sum; /* of the name */
	__u32 n_lines;
	__u32 first; /* number of the suffix that is looked at first; the whole name has number 0 */
	__u32 has_apex;
	__u32 is_stopped; /* behind a cut, a DNAME or a wildcard's parent of the zone */
	__u32 is_unknown;
};

static __always_inline int deny_is(const struct volley_names_line *line, __u64 hash,
				   enum volley_name_mark mark)
{
	return volley_names_has(line, volley_names_bits(hash, mark));
}

/* Of a name that the filter knows, and has marked. */
static __always_inline void deny_marked(struct deny_walk *walk,
					const struct volley_names_line *line, __u64 hash, __u64 at)
{
	struct volley_cpu *cpu = walk->cpu;

	if (deny_is(line, hash, VOLLEY_NAME_APEX)) {
		cpu->denial_at = cpu->suffix_from[at];
		cpu->denial_next = 0;
		walk->has_apex = 1;
		walk->is_stopped = 0;
	}
	if (deny_is(line, hash, VOLLEY_NAME_STOP) || deny_is(line, hash, VOLLEY_NAME_WILD))
		walk->is_stopped = 1;
}

/* Looks at the next suffix. 1: the walk has ended. */
static long deny_suffix(__u32 number, struct deny_walk *walk)
{
	struct volley_cpu *cpu = walk->cpu;
	__u64 at = bounded(walk->first - number, VOLLEY_SUFFIXES - 1);
	__u64 hash = suffix_hash(cpu, walk->sum, at);
	__u32 n = volley_names_line(hash, walk->n_lines);
	const struct volley_names_line *line = bpf_map_lookup_elem(&volley_names, &n);

	if (!line) /* cannot be: n_lines are there */
		return 1;
	if (walk->has_apex && !cpu->denial_next)
		cpu->denial_next = hash;
	if (!deny_is(line, hash, VOLLEY_NAME_EXISTS)) {
		walk->is_unknown = 1;
		return 1;
	}
	if (deny_is(line, hash, VOLLEY_NAME_MARKED))
		deny_marked(walk, line, hash, at);
	return !at;
}

/*
 * For a query that has no entry: -1, and cpu->denial_at is the apex of the zone that has nothing at its name, or above it;
 * or a reason to go up.
 */
__noinline int deny_look(struct volley_cpu *cpu, const struct volley_state *state)
{
	struct deny_walk walk = { .cpu = cpu };
	const struct volley_key *key;
	__u32 labels;

	if (!cpu || !state)
		return VOLLEY_UP_MISS;
	key = (const void *)&cpu->folded[0];
	if (!volley_is_data_type(bpf_ntohs(key->qtype)))
		return VOLLEY_UP_MISS;
	walk.sum = suffixes_note(cpu, state->names.keys);
	labels = state->names.labels;
	if (labels >= cpu->n_suffixes)
		return VOLLEY_UP_MISS;
	walk.first = cpu->n_suffixes - 1 - labels;
	walk.n_lines = state->names.n_lines;
	bpf_loop(VOLLEY_SUFFIXES, deny_suffix, &walk, 0);
	if (!walk.has_apex)
		return VOLLEY_UP_MISS;
	return walk.is_unknown && !walk.is_stopped ? -1 : VOLLEY_UP_MAYBE;
}

/* The key and the hash of the zone's denial: cpu->denial_key, denial_bytes and denial_hash. 0. */
__noinline int deny_key(struct volley_cpu *cpu, const struct volley_state *state)
{
	struct volley_key *key;
	const __u8 *name;
	__u32 id, bytes, i;
	__u64 sum;

	if (!cpu || !state)
		return 0;
	key = (void *)&cpu->denial_key[0];
	cpu->denial_key[0] = cpu->folded[0];
	id = state->names.id;
	bytes = cpu->name_bytes - cpu->denial_at;
	key->qtype = bpf_htons(VOLLEY_DENIAL_TYPE(id));
	key->qclass = bpf_htons(VOLLEY_DENIAL_CLASS(id));
	key->name_bytes = (__u8)bytes;
	cpu->denial_bytes = bytes;
	name = (const __u8 *)&cpu->folded[1] + bounded(cpu->denial_at, DNS_NAME_MAX);
	sum = volley_hash_word(load_once(&cpu->denial_key[0]), state->hash_keys[0]);
	for (i = 0; i < VOLLEY_NAME_WORDS && i * 8 < bytes; i++) {
		__u64 word = *(const __u64 *)(name + i * 8);
		__u32 left = bytes - i * 8;

		if (left < 8)
			word &= ~0ull >> (64 - 8 * (left & 7));
		cpu->denial_key[1 + i] = word;
		sum += volley_hash_word(word, state->hash_keys[1 + i]);
	}
	cpu->denial_hash = volley_hash_mix(sum);
	return 0;
}

/*
 * What lies behind the body of a denial, or NULL: that is no denial. Loops over its pointers load n_pointers anew: else clang
 * 19 takes from a comparison before them that VOLLEY_DENIAL_POINTERS need not be compared with, and the verifier does not.
 */
static __always_inline const struct volley_denial *deny_of(const struct volley_entry *e)
{
	__u32 at = e->body_offset + (__u32)e->short_bytes;

	if (at > DENIAL_BODY_MAX || e->body_offset > BODY_OFFSET_MAX ||
	    e->full_bytes != e->short_bytes + sizeof(struct volley_denial))
		return NULL;
	return (const void *)e + bounded(at, DENIAL_BODY_MAX);
}

/* By how much the question is longer than one for the apex. */
static __always_inline __u32 deny_longer(const struct volley_cpu *cpu)
{
	return cpu->name_bytes - cpu->denial_bytes;
}

/* As reply_choose(), of a denial: -1, or a reason to go up. */
static __always_inline int deny_choose(struct volley_cpu *cpu, const struct volley_entry *e)
{
	const struct volley_denial *d = deny_of(e);
	__u32 fixed = DNS_HEADER + cpu->name_bytes + 4 + cpu->opt_bytes;
	__u32 longer = deny_longer(cpu), i;
	__u64 sum;

	if (!d || d->n_pointers > VOLLEY_DENIAL_POINTERS ||
	    fixed + e->short_bytes > cpu->reply_limit)
		return VOLLEY_UP_MISS;
	if (cpu->denial_next == d->suffixes[0] || cpu->denial_next == d->suffixes[1])
		return VOLLEY_UP_MAYBE;
	cpu->reason = VOLLEY_HIT_DENIED;
	cpu->flags = e->flags;
	cpu->ancount = e->ancount;
	cpu->nscount = e->nscount;
	cpu->arcount = bpf_htons(cpu->edns);
	cpu->body_bytes = e->short_bytes;
	sum = sum_at(e->short_sum, longer);
	for (i = 0; i < VOLLEY_DENIAL_POINTERS && i < load_once(&d->n_pointers); i++) {
		if (d->pointers[i] + POINTER_BYTES > e->short_bytes)
			return VOLLEY_UP_MISS;
		sum += sum_at(bpf_htons((__u16)longer), cpu->name_bytes + d->pointers[i]);
	}
	cpu->body_sum = sum;
	forget_bounds();
	return -1;
}

/* Moves the pointers of the body, which lies at `at` in the frame. -1 or a reason. */
static __always_inline int deny_write(struct xdp_md *ctx, const struct volley_cpu *cpu,
				      const struct volley_entry *e, __u32 at)
{
	const void *end = (void *)(long)ctx->data_end;
	void *body = (void *)(long)ctx->data + bounded(at, HEAD_MASK);
	const struct volley_denial *d = deny_of(e);
	__u32 i;

	if (!cpu->body_bytes)
		return -1; /* TC=1 or BADCOOKIE, in its place */
	if (!d)
		return VOLLEY_DROP_EDIT;
	for (i = 0; i < VOLLEY_DENIAL_POINTERS && i < load_once(&d->n_pointers); i++) {
		__be16 *pointer = body + bounded(d->pointers[i], DENIAL_BODY_MAX);

		if ((void *)(pointer + 1) > end)
			return VOLLEY_DROP_EDIT;
		*pointer = bpf_htons((__u16)(bpf_ntohs(*pointer) + deny_longer(cpu)));
	}
	return -1;
}

#endif
