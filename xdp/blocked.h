/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the driver handles a query that is blocked (xdp/block.h). It looks up no answer for it.
 *
 *      packet ─► its prefix: drop, up ──────────────────────────► at once, whatever the message is
 *                            refuse, truncate ─┐
 *      question ─► its name, its type ─────────┴─► REFUSED or TC=1, in place
 *                  malformed ────────────────────► up: the engine answers
 *
 * Without blocks a query costs one branch. Most of these functions are global: the verifier walks
 * each once, by itself. If the daemon's heartbeat is older than cache.orphan-serve, the driver
 * blocks nothing, as it answers nothing.
 */
#ifndef VOLLEY_XDP_BLOCKED_H
#define VOLLEY_XDP_BLOCKED_H

#define VOLLEY_BLOCK_MAP

#include "xdp/abi.h"
#include "xdp/block.h"
#include "xdp/options.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/reply.h"
#include "xdp/suffixes.h"

#define DNS_REFUSED         5
#define EDE_BLOCKED         15 /* a name or a type */
#define EDE_PROHIBITED      18 /* a client */
#define BLOCK_GROUP_LENGTHS 8

/* A placeholder: volleyd makes the table in use, in the size that it needs. */
struct volley_block_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, VOLLEY_BLOCK_CHUNK_BYTES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct volley_block_map);
} volley_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_blocked);
} volley_blocked SEC(".maps");

int block_probe(struct volley_cpu *cpu);
int block_masks(struct volley_cpu *cpu);
int block_group(struct volley_cpu *cpu, __u32 group);
int block_choose(struct xdp_md *ctx, struct volley_cpu *cpu, const struct volley_options *o);
int block_send(struct xdp_md *ctx, struct volley_cpu *cpu, const struct volley_state *state);
int block_client(struct xdp_md *ctx, struct volley_cpu *cpu, const struct volley_state *state);
int block_question(struct volley_cpu *cpu);

static __always_inline void *block_table_now(void)
{
	const __u32 zero = 0;

	return bpf_map_lookup_elem(&volley_blocks, &zero);
}

static __always_inline void block_count(struct volley_block *block, __u64 rule)
{
	const __u32 zero = 0;
	__u32 list = volley_block_list(rule);
	struct volley_blocked *blocked;

	if (!list) {
		__sync_fetch_and_add(&block->met, 1);
		return;
	}
	blocked = bpf_map_lookup_elem(&volley_blocked, &zero);
	if (blocked) /* atomic, since a run may be preempted: VOLLEY_ROOMS */
		__sync_fetch_and_add(&blocked->met[bounded(list, VOLLEY_BLOCK_LISTS - 1)], 1);
}

/*
 * The action of the block of cpu->block_key; VOLLEY_BLOCK_NONE: there is no block, or it has
 * expired. Each packet is counted once: here if it is dropped, after its answer is written if it
 * has one (block_is_done), in the worker if it goes up.
 */
__noinline int block_probe(struct volley_cpu *cpu)
{
	const struct volley_block_head *head;
	struct volley_block *block;
	void *table;
	int action;
	__u64 rule;

	if (!cpu)
		return VOLLEY_BLOCK_NONE;
	table = block_table_now();
	if (!table)
		return VOLLEY_BLOCK_NONE;
	head = block_chunk(table, VOLLEY_BLOCK_HEAD);
	if (!head)
		return VOLLEY_BLOCK_NONE;
	block = volley_block_find(table, head, (const struct volley_block_key *)cpu->block_key);
	if (!block)
		return VOLLEY_BLOCK_NONE;
	rule = load_once(&block->rule);
	if (!volley_block_is_alive(rule, cpu->now_s))
		return VOLLEY_BLOCK_NONE;
	action = (int)volley_block_action(rule);
	if (action == VOLLEY_BLOCK_DROP || cpu->block_is_done)
		block_count(block, rule);
	return action;
}

/* Puts the client's address into cpu->block_client. 0, or -1. */
static __always_inline int block_address(struct xdp_md *ctx, struct volley_cpu *cpu)
{
	const void *end = (void *)(long)ctx->data_end;
	const void *l3 = (void *)(long)ctx->data + bounded(cpu->l3_offset, OFFSET_MASK);
	const __be32 *from;

	if (l3 + sizeof(struct ipv6hdr) > end)
		return -1; /* never: with UDP and DNS, an IPv4 packet is as long */
	if (!cpu->ipv6) {
		cpu->block_client[0] = (__u64)bpf_ntohl(((const struct iphdr *)l3)->saddr) << 32;
		cpu->block_client[1] = 0;
		return 0;
	}
	from = ((const struct ipv6hdr *)l3)->saddr.in6_u.u6_addr32;
	cpu->block_client[0] = (__u64)bpf_ntohl(from[0]) << 32 | bpf_ntohl(from[1]);
	cpu->block_client[1] = (__u64)bpf_ntohl(from[2]) << 32 | bpf_ntohl(from[3]);
	return 0;
}

/* Fills cpu->block_masks for the address. 0: no block can match. */
__noinline int block_masks(struct volley_cpu *cpu)
{
	const struct volley_block_head *head;
	const void *table, *filter;

	if (!cpu)
		return 0;
	table = block_table_now();
	if (!table)
		return 0;
	head = block_chunk((void *)table, VOLLEY_BLOCK_HEAD);
	filter = block_chunk((void *)table, cpu->ipv6 ? 1 : 0);
	if (!head || !filter)
		return 0;
	if (cpu->ipv6)
		return (int)volley_block_masks(head, filter, 1, cpu->block_client[0],
					       cpu->block_client[1], cpu->block_masks,
					       cpu->block_hashes);
	__builtin_memset(cpu->block_masks, 0, sizeof(cpu->block_masks)); /* of IPv6's */
	return (int)volley_block_masks(head, filter, 0, cpu->block_client[0], 0, cpu->block_masks,
				       cpu->block_hashes);
}

/* Makes the key of the client's first `bits` bits. */
static __always_inline void block_key_of(struct volley_cpu *cpu, __u32 bits)
{
	bits &= 0xff;
	cpu->block_key[0] = volley_block_high(cpu->block_client[0], bits);
	cpu->block_key[1] = volley_block_low(cpu->block_client[1], bits);
	cpu->block_key[2] = (cpu->ipv6 ? VOLLEY_BLOCK_PREFIX6 : VOLLEY_BLOCK_PREFIX4) | bits << 8;
	forget_bounds();
}

/* The action of the longest block of a group, among the lengths in cpu->block_masks. */
__noinline int block_group(struct volley_cpu *cpu, __u32 group)
{
	const struct volley_block_head *head;
	const void *filter;
	void *table;
	int bit, action;
	__u64 next;

	if (!cpu || group >= VOLLEY_BLOCK_GROUPS6)
		return VOLLEY_BLOCK_NONE;
	table = block_table_now();
	if (!table)
		return VOLLEY_BLOCK_NONE;
	head = block_chunk(table, VOLLEY_BLOCK_HEAD);
	filter = block_chunk(table, cpu->ipv6 ? 1 : 0);
	if (!head || !filter)
		return VOLLEY_BLOCK_NONE;
	next = volley_block_octet(cpu->block_client[0], cpu->block_client[1], group & 15);
	for (bit = BLOCK_GROUP_LENGTHS - 1; bit >= 0; bit--) {
		__u64 hash = cpu->block_hashes[bounded(group, 31)];

		if (!(cpu->block_masks[bounded(group, 31)] >> bit & 1) ||
		    !volley_block_is_fine(head, filter, hash,
					  volley_block_fine(hash, next, (__u32)bit)))
			continue;
		block_key_of(cpu, group * BLOCK_GROUP_LENGTHS + (__u32)bit);
		action = block_probe(cpu);
		if (action)
			return action;
	}
	return VOLLEY_BLOCK_NONE;
}

/* The action of the longest block that has the client, of all groups. */
static __always_inline int block_longest(struct volley_cpu *cpu)
{
	int group, action;

	for (group = VOLLEY_BLOCK_GROUPS6 - 1; group >= 0; group--) {
		if (!cpu->block_masks[group])
			continue;
		action = block_group(cpu, (__u32)group);
		if (action)
			return action;
	}
	return VOLLEY_BLOCK_NONE;
}

/* For a packet that is ours: whether a block may match the client. 0: none does. */
__noinline int block_client(struct xdp_md *ctx, struct volley_cpu *cpu,
			    const struct volley_state *state)
{
	if (!cpu || !state)
		return 0;
	cpu->block = VOLLEY_BLOCK_NONE;
	cpu->block_is_done = 0;
	if (!(cpu->block_kinds & VOLLEY_BLOCKS_PREFIXES))
		return 0;
	read_clock(cpu, state);
	if (cpu->now_s >= state->serve_until_s || block_address(ctx, cpu))
		return 0;
	return block_masks(cpu);
}

/*
 * For a packet that is ours: -1, and cpu->block is the kind of its answer; or a reason to drop it
 * or to hand it up. Inline, since on some kernels the stacks of a chain of calls have 512 octets in
 * all.
 */
static __always_inline int block_judge(struct xdp_md *ctx, struct volley_cpu *cpu,
				       const struct volley_state *state)
{
	int action;

	if (!block_client(ctx, cpu, state))
		return -1;
	action = block_longest(cpu);
	if (action == VOLLEY_BLOCK_DROP)
		return VOLLEY_DROP_BLOCKED;
	if (action == VOLLEY_BLOCK_UP)
		return VOLLEY_UP_BLOCKED;
	if (action == VOLLEY_BLOCK_REFUSE || action == VOLLEY_BLOCK_TRUNCATE)
		cpu->block = (__u8)action;
	return -1;
}

/* A walk over the suffixes of a name. */
struct block_walk {
	struct volley_cpu *cpu;
	const struct volley_block_head *head;
	const void *filter;
	__u64 sum; /* of the name */
	int action;
};

/* Takes the action of a suffix's block. 1: there is one. */
static long block_suffix(__u32 number, struct block_walk *walk)
{
	struct volley_cpu *cpu = walk->cpu;
	__u64 at = bounded(number, VOLLEY_SUFFIXES - 1);
	__u64 hash = suffix_hash(cpu, walk->sum, at);

	if (!(volley_block_filtered(walk->head, walk->filter, hash) & VOLLEY_BLOCK_BIT(hash)))
		return 0;
	cpu->block_key[0] = hash;
	cpu->block_key[1] = 0;
	cpu->block_key[2] = VOLLEY_BLOCK_NAME |
			    (__u64)((cpu->name_bytes - cpu->suffix_from[at]) & 0xff) << 8;
	walk->action = block_probe(cpu);
	return walk->action != VOLLEY_BLOCK_NONE;
}

/* The action of the longest blocked suffix of the name. The verifier walks each loop once. */
static __always_inline int block_name(struct volley_cpu *cpu)
{
	struct block_walk walk = { .cpu = cpu };
	void *table = block_table_now();

	if (!table)
		return VOLLEY_BLOCK_NONE;
	walk.head = block_chunk(table, VOLLEY_BLOCK_HEAD);
	walk.filter = block_chunk(table, 1);
	if (!walk.head || !walk.filter)
		return VOLLEY_BLOCK_NONE;
	walk.sum = suffixes_note(cpu, walk.head->name_keys);
	bpf_loop(cpu->n_suffixes, block_suffix, &walk, 0);
	return walk.action;
}

static __always_inline int block_type(struct volley_cpu *cpu)
{
	const struct volley_key *key = (const void *)&cpu->folded[0];

	cpu->block_key[0] = bpf_ntohs(key->qtype);
	cpu->block_key[1] = 0;
	cpu->block_key[2] = VOLLEY_BLOCK_TYPE;
	return block_probe(cpu);
}

static __always_inline int block_is_silent(int action)
{
	return action == VOLLEY_BLOCK_NONE || action == VOLLEY_BLOCK_ALLOW;
}

/*
 * For a query that is understood, after block_client(): -1, and cpu->block is the kind of its
 * answer; or a reason to drop it or to hand it up.
 */
__noinline int block_question(struct volley_cpu *cpu)
{
	int action = VOLLEY_BLOCK_NONE;

	if (!cpu)
		return -1;
	cpu->ede = EDE_PROHIBITED;
	if (cpu->block)
		return -1;
	cpu->ede = EDE_BLOCKED;
	if (cpu->block_kinds & VOLLEY_BLOCKS_NAMES)
		action = block_name(cpu);
	if (block_is_silent(action) && (cpu->block_kinds & VOLLEY_BLOCKS_TYPES))
		action = block_type(cpu);
	if (action == VOLLEY_BLOCK_DROP)
		return VOLLEY_DROP_BLOCKED;
	if (action == VOLLEY_BLOCK_UP)
		return VOLLEY_UP_BLOCKED;
	cpu->block = block_is_silent(action) ? VOLLEY_BLOCK_NONE : (__u8)action;
	return -1;
}

/*
 * The options of a block's answer, which no limit bounds: -1 or a reason to go up. Unless a good
 * cookie shows that the client's address is not forged, the answer has no other option than an
 * extended error.
 */
static __always_inline int block_options(struct xdp_md *ctx, struct volley_cpu *cpu,
					 const struct volley_options *o)
{
	int reason = options_make(ctx, cpu, o);

	if (reason >= 0 || cpu->cookie_good ||
	    !(cpu->options & (VOLLEY_OPTION_COOKIE | VOLLEY_OPTION_NSID)))
		return reason;
	if (cpu->options & VOLLEY_OPTION_COOKIE)
		cookie_count(cpu);
	options_keep(cpu, VOLLEY_OPTION_EDE);
	cpu->body_sum = 0;
	return cpu->options ? options_make(ctx, cpu, o) : -1;
}

/* The answer's header, and the sums of its OPT. -1 or a reason to go up. */
__noinline int block_choose(struct xdp_md *ctx, struct volley_cpu *cpu,
			    const struct volley_options *o)
{
	if (!cpu || !o)
		return VOLLEY_UP_BLOCKED;
	cpu->options &= (__u8)~VOLLEY_OPTION_EXPIRE; /* it is not handed over, either */
	cpu->zone_counter = VOLLEY_COUNT_NO_ZONE;
	cpu->reason = VOLLEY_HIT_REFUSED;
	cpu->flags = bpf_htons(DNS_QR | DNS_REFUSED);
	if (cpu->block == VOLLEY_BLOCK_TRUNCATE) {
		cpu->reason = VOLLEY_HIT_BLOCK_TRUNCATED;
		cpu->flags = bpf_htons(DNS_QR | DNS_TC);
	} else if (cpu->edns)
		options_add_ede(cpu, cpu->ede);
	cpu->ancount = 0;
	cpu->nscount = 0;
	cpu->arcount = bpf_htons(cpu->edns);
	cpu->body_bytes = 0;
	cpu->body_sum = 0;
	return cpu->options ? block_options(ctx, cpu, o) : -1;
}

/* As reply_send(), without a body. */
__noinline int block_send(struct xdp_md *ctx, struct volley_cpu *cpu,
			  const struct volley_state *state)
{
	__u32 dns_bytes, udp_bytes, opt_at;
	int grow, reason;
	__u64 sum, opt;

	if (!cpu || !state)
		return VOLLEY_UP_BLOCKED;
	dns_bytes = DNS_HEADER + cpu->name_bytes + 4u + cpu->opt_bytes;
	udp_bytes = (__u32)sizeof(struct udphdr) + dns_bytes;
	grow = (int)(cpu->dns_offset + dns_bytes) - (int)cpu->frame_bytes;
	opt = reply_opt_word(cpu, state);
	if (packet_has_more(ctx, cpu))
		return VOLLEY_UP_NO_ROOM;
	if (cpu->tunnel_bytes)
		grow = tunnel_growth(cpu, grow);
	reason = reply_resize(ctx, cpu, grow);
	if (reason < 0 && cpu->tunnel_bytes)
		reason = tunnel_leave(ctx, cpu);
	opt_at = cpu->dns_offset + DNS_HEADER + cpu->name_bytes + 4u;
	if (reason < 0)
		reason = reply_ethernet(ctx, cpu);
	if (reason < 0)
		reason = reply_ip(ctx, cpu, udp_bytes, &sum);
	if (reason < 0)
		reason = reply_headers(ctx, cpu, udp_bytes, opt, sum);
	if (reason < 0)
		reason = reply_opt(ctx, opt, opt_at);
	if (reason < 0 && cpu->options)
		reason = options_write(ctx, cpu, &state->options[cpu->options_at & 1]);
	if (reason < 0 && cpu->tunnel_bytes)
		reason = tunnel_cut(ctx, cpu->dns_offset + dns_bytes);
	return reason >= 0 ? reason : (int)cpu->reason;
}

/* The same; if the block's action is an answer, writes it in place. -1: not blocked. */
static __always_inline int block_turn(struct xdp_md *ctx, struct volley_cpu *cpu,
				      const struct volley_state *state)
{
	int reason = -1;

	if (cpu->block || (cpu->block_kinds & ~VOLLEY_BLOCKS_PREFIXES))
		reason = block_question(cpu);
	if (reason >= 0 || !cpu->block)
		return reason;
	reason = block_choose(ctx, cpu, &state->options[cpu->options_at & 1]);
	if (reason < 0)
		reason = block_send(ctx, cpu, state);
	if (reason == VOLLEY_HIT_REFUSED || reason == VOLLEY_HIT_BLOCK_TRUNCATED) {
		cpu->block_is_done = 1;
		block_probe(cpu);
	}
	return reason;
}

#endif
