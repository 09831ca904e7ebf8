/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the shared answer (xdp/shared.h) for a name that does not exist, or for which a wildcard
 * stands.
 *
 *      query that is not in the cache
 *        │  its name's suffixes, from the shortest apex's length on: does the filter know them?
 *        │  (xdp/names.h)
 *        │     known                        go on with the suffix one label longer
 *        │     known, an apex               the zone is this one, or a deeper one
 *        │     known, a cut or a DNAME      a name below it may exist: up
 *        │     all known the name may exist: up
 *        ▼     unknown, an apex above it    the name does not exist
 *      is there a wildcard's parent between the apex and the unknown suffix?
 *        │     none                         the zone's denial
 *        │     right above it               the wildcard's answer; it is there only if that parent
 *        │                                  exists
 *        ▼     further above                what the filter knows below it may be known by mistake:
 *                                           up
 *      an entry of the cache                none, or a dead one: up, and a worker publishes one
 *
 * A query whose answer is uncertain goes up. A shared answer is an entry like others: it ends with
 * its zone's generation, has a view, and is withdrawn when one of its records changes.
 */
#ifndef VOLLEY_XDP_DENY_H
#define VOLLEY_XDP_DENY_H

#include "xdp/abi.h"
#include "xdp/key.h"
#include "xdp/names.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/suffixes.h"

/* Results of deny_look() other than reasons, which are 0 or more. */
#define DENY_NAME     -1 /* the name does not exist */
#define DENY_WILDCARD -2 /* it does not exist, but a wildcard may stand for it */

int deny_look(struct volley_cpu *cpu, const struct volley_state *state);
int shared_make_key(struct volley_cpu *cpu, const struct volley_state *state, __u32 kind);

/* A walk over the suffixes of a name, from the shortest on. */
struct deny_walk {
	struct volley_cpu *cpu;
	__u64 sum; /* of the name */
	__u32 n_lines;
	__u32 first; /* number of the first suffix to look up; the whole name is number 0 */
	__u32 has_apex;
	__u32 is_stopped; /* behind a cut or a DNAME of the zone */
	__u32 is_unknown;
	__u32 wild; /* 1 + number of the zone's last parent of a wildcard; 0: none */
	__u32 last; /* 1 + number of the suffix that was looked up last */
};

static __always_inline int deny_is(const struct volley_names_line *line, __u64 hash,
				   enum volley_name_mark mark)
{
	return volley_names_has(line, volley_names_bits(hash, mark));
}

/* Handles the marks of a suffix that the filter knows. */
static __always_inline void deny_marked(struct deny_walk *walk,
					const struct volley_names_line *line, __u64 hash, __u64 at)
{
	struct volley_cpu *cpu = walk->cpu;

	if (deny_is(line, hash, VOLLEY_NAME_APEX)) {
		cpu->apex_at = cpu->suffix_from[at];
		cpu->apex_hash = hash;
		cpu->below_apex = 0;
		walk->has_apex = 1;
		walk->is_stopped = 0;
		walk->wild = 0;
	}
	if (deny_is(line, hash, VOLLEY_NAME_STOP))
		walk->is_stopped = 1;
	if (deny_is(line, hash, VOLLEY_NAME_WILD))
		walk->wild = (__u32)at + 1;
}

/* Looks up the next suffix. 1: the walk has ended. */
static long deny_suffix(__u32 number, struct deny_walk *walk)
{
	struct volley_cpu *cpu = walk->cpu;
	__u64 at = bounded(walk->first - number, VOLLEY_SUFFIXES - 1);
	__u64 hash = suffix_hash(cpu, walk->sum, at);
	__u32 n = volley_names_line(hash, walk->n_lines);
	const struct volley_names_line *line = bpf_map_lookup_elem(&volley_names, &n);

	if (!line) /* never: the map has n_lines */
		return 1;
	if (walk->has_apex && !cpu->below_apex)
		cpu->below_apex = hash;
	walk->last = (__u32)at + 1;
	if (!deny_is(line, hash, VOLLEY_NAME_EXISTS)) {
		cpu->unknown = hash;
		cpu->unknown_at = cpu->suffix_from[at];
		walk->is_unknown = 1;
		return 1;
	}
	cpu->encloser_at = cpu->suffix_from[at];
	if (deny_is(line, hash, VOLLEY_NAME_MARKED))
		deny_marked(walk, line, hash, at);
	return !at;
}

/*
 * For a query that has no entry: DENY_NAME or DENY_WILDCARD if a zone of ours does not have its
 * name. Then cpu->apex_at is the zone's apex and cpu->encloser_at the longest suffix in the filter.
 * Else a reason to go up.
 */
__noinline int deny_look(struct volley_cpu *cpu, const struct volley_state *state)
{
	struct deny_walk walk = { .cpu = cpu };
	const struct volley_key *key;
	__u32 labels;

	if (!cpu || !state)
		return VOLLEY_UP_MISS;
	key = (const void *)&cpu->folded[0];
	if (!volley_is_cached_type(bpf_ntohs(key->qtype)))
		return VOLLEY_UP_MISS;
	walk.sum = suffixes_note(cpu, state->names.keys);
	labels = state->names.labels;
	if (labels >= cpu->n_suffixes)
		return VOLLEY_UP_MISS;
	walk.first = cpu->n_suffixes - 1 - labels;
	walk.n_lines = state->names.n_lines;
	walk.has_apex = walk.is_stopped = walk.is_unknown = walk.wild =
		unknown_zero(cpu->n_suffixes);
	bpf_loop(VOLLEY_SUFFIXES, deny_suffix, &walk, 0);
	if (!walk.has_apex)
		return VOLLEY_UP_MISS;
	if (!walk.is_unknown || walk.is_stopped)
		return VOLLEY_UP_MAYBE;
	if (!walk.wild)
		return DENY_NAME;
	return walk.wild == walk.last + 1 ? DENY_WILDCARD : VOLLEY_UP_MAYBE;
}

/* -1 if the suffix that was unknown to deny_look() is still unknown, or a reason to go up. */
static __always_inline int deny_again(const struct volley_cpu *cpu,
				      const struct volley_state *state)
{
	__u32 n = volley_names_line(cpu->unknown, state->names.n_lines);
	const struct volley_names_line *line = bpf_map_lookup_elem(&volley_names, &n);

	return !line || deny_is(line, cpu->unknown, VOLLEY_NAME_EXISTS) ? VOLLEY_UP_MAYBE : -1;
}

/* The part of a key's name before the base: its first words, and the mask of the bits of the old
 * words that stay. */
struct deny_prefix {
	__u64 octets[2], rest[2];
	__u32 bytes;
};

#define DENY_STAR        0x2a01ull /* label "*", as it lies in memory */
#define DENY_STAR_BYTES  2u
#define DENY_POINT_BYTES 9u /* a label of 8 octets */

/* Added to a kind: the name does not exist, and a wildcard stands for it. */
#define DENY_EXPANDED 0x10u

static __always_inline void deny_prefix_of(struct deny_prefix *prefix, const struct volley_cpu *cpu,
					   __u32 kind)
{
	__u64 point = bpf_cpu_to_be64(cpu->interval);

	prefix->octets[0] = prefix->octets[1] = 0;
	prefix->rest[0] = prefix->rest[1] = ~0ull;
	prefix->bytes = 0;
	if (kind == VOLLEY_KEY_WILDCARD) {
		prefix->octets[0] = DENY_STAR;
		prefix->rest[0] = ~0xffffull;
		prefix->bytes = DENY_STAR_BYTES;
	} else if (kind == VOLLEY_KEY_INTERVAL) {
		prefix->octets[0] = 8 | point << 8;
		prefix->rest[0] = 0;
		prefix->octets[1] = point >> 56;
		prefix->rest[1] = ~0xffull;
		prefix->bytes = DENY_POINT_BYTES;
	}
}

/* The first word of the key. */
static __always_inline void shared_key_word(struct volley_cpu *cpu, __u32 kind, __u32 id,
					    __u32 bytes)
{
	struct volley_key *key = (void *)&cpu->shared_key[0];

	cpu->shared_key[0] = cpu->folded[0];
	if (kind != VOLLEY_KEY_WILDCARD && !(kind & DENY_EXPANDED))
		key->qtype = 0;
	key->qclass = bpf_htons(VOLLEY_SHARED_CLASS(id));
	key->name_bytes = (__u8)bytes;
	key->kind = VOLLEY_SHARED_KIND(kind & 3, id);
}

/*
 * Makes the key and the hash of the shared answer of this kind: cpu->shared_key, shared_bytes and
 * shared_hash. -1, or a reason: there is no such name. The prefix replaces the labels before the
 * base. If the base follows the query's first label, the prefix may reach into the key's own word.
 */
__noinline int shared_make_key(struct volley_cpu *cpu, const struct volley_state *state, __u32 kind)
{
	struct deny_prefix prefix;
	__u32 bytes, i, base;
	const __u8 *name;
	__u64 sum, *last;

	if (!cpu || !state)
		return VOLLEY_UP_MISS;
	deny_prefix_of(&prefix, cpu, kind & 3);
	base = kind == VOLLEY_KEY_DENIAL ? cpu->apex_at : cpu->encloser_at;
	cpu->below = kind == VOLLEY_KEY_DENIAL ? cpu->below_apex : cpu->unknown;
	bytes = cpu->name_bytes - base + prefix.bytes;
	if (bytes > DNS_NAME_MAX)
		return VOLLEY_UP_MISS;
	shared_key_word(cpu, kind, state->names.id, bytes);
	cpu->shared_bytes = bytes;
	name = (const __u8 *)&cpu->folded[0] + bounded(8 + base - prefix.bytes, 511);
	sum = volley_hash_word(load_once(&cpu->shared_key[0]), state->hash_keys[0]);
	for (i = 0; i < VOLLEY_NAME_WORDS && i * 8 < load_once(&cpu->shared_bytes); i++)
		cpu->shared_key[1 + i] = *(const __u64 *)(name + i * 8);
	cpu->shared_key[1] = (cpu->shared_key[1] & prefix.rest[0]) | prefix.octets[0];
	cpu->shared_key[2] = (cpu->shared_key[2] & prefix.rest[1]) | prefix.octets[1];
	last = &cpu->shared_key[1 + bounded((bytes - 1) / 8, VOLLEY_NAME_WORDS - 1)];
	*last &= ~0ull >> ((64 - 8 * (bytes & 7)) & 63);
	for (i = 0; i < VOLLEY_NAME_WORDS && i * 8 < load_once(&cpu->shared_bytes); i++)
		sum += volley_hash_word(load_once(&cpu->shared_key[1 + i]),
					state->hash_keys[1 + i]);
	cpu->shared_hash = volley_hash_mix(sum);
	cpu->shared = kind == VOLLEY_KEY_WILDCARD || kind & DENY_EXPANDED ? VOLLEY_KEY_WILDCARD :
									    VOLLEY_KEY_DENIAL;
	return -1;
}

#endif
