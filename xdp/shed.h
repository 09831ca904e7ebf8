/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When more packets go up than the worker of a queue answers, this drops some before they cost a
 * copy and a place in the ring. It chooses them by the client's prefix.
 *
 *   on its way = handed - taken
 *
 *     0          limit / 4                                          limit
 *     ├──────────────┼────────────────────────────────────────────────┤
 *     │ all goes up, │ a prefix that has sent less than the room     │ nothing goes up:
 *     │ unseen       │ that is left allows goes up; else DROP_SHARE  │ DROP_OVERLOAD
 *
 * This is the dynamic threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking 6:2,
 * 1998), for prefixes in place of a switch's ports. The threshold grows with the square of the
 * room: if one prefix floods, half of the limit is left for the others; if a hundred do, a
 * twentieth. So no rate is known or set anywhere, and only the prefixes that send most are answered
 * less than they ask.
 *
 * The packets of a prefix are counted in turns. A turn is over when the worker has taken
 * VOLLEY_TURN times the limit, and then all counts are halved. So the counts follow the worker, at
 * any speed. A secret multiplier that changes with time selects the slot: an attacker cannot choose
 * a client's slot, and two prefixes that share one by chance do so for some seconds.
 *
 * The decision record is docs/decisions/0016-overload.md.
 */
#ifndef VOLLEY_XDP_SHED_H
#define VOLLEY_XDP_SHED_H

#include "xdp/abi.h"
#include "xdp/packet.h"

#define SHED_SLOT_BITS   12
#define SHED_PERIOD_BITS 10 /* jiffies: 4 s at 250 Hz, 1 s at 1000 Hz */
#define SHED_QUEUE_SHIFT 48
#define SHED_IPV6        (1ull << 63)

/* Below 0 if the worker counted packets as lost that came late. */
static __always_inline __s64 shed_on_its_way(const struct volley_queue *queue)
{
	return (__s64)(load_once(&queue->handed) - load_once(&queue->taken));
}

/* Whether shares matter. While there is room, a packet costs no more than this check. */
static __always_inline int shed_is_behind(const struct volley_queue *queue)
{
	__u32 limit = load_once(&queue->limit);

	return limit && shed_on_its_way(queue) >= (__s64)(limit / 4);
}

/* A distinct number of cpu->client's IPv4 /24 or IPv6 /48 and the queue, which has its own
 * turns. */
static __always_inline __u64 shed_prefix(const struct volley_cpu *cpu, __u32 queue)
{
	const struct in6_addr *from = (const void *)cpu->client.address;
	const __be32 *word = from->in6_u.u6_addr32;
	__u64 of_queue = (__u64)queue << SHED_QUEUE_SHIFT;

	if (!cpu->ipv6)
		return of_queue | (word[3] & bpf_htonl(0xffffff00));
	return of_queue | SHED_IPV6 | (__u64)(word[1] & bpf_htonl(0xffff0000)) << 32 | word[0];
}

/* Multiply-shift hashing (Dietzfelbinger and others, Journal of Algorithms 25, 1997). */
static __always_inline __u32 shed_slot(__u64 prefix, __u64 secret, __u64 period)
{
	__u64 factor = (secret + period * 0x9e3779b97f4a7c15ull) | 1;

	return (__u32)(prefix * factor >> (64 - SHED_SLOT_BITS));
}

/*
 * The count up to which a prefix goes up. A prefix that floods alone has sent 2 * VOLLEY_TURN *
 * limit at the end of a turn: the result for half of the limit as room. turn_bits is
 * log2(VOLLEY_TURN * limit).
 */
static __always_inline __u64 shed_allowed(const struct volley_queue *queue, __u64 room)
{
	return 1 + (room * room * (8 * VOLLEY_TURN * VOLLEY_TURN) >> (queue->turn_bits & 63));
}

static __always_inline __u32 shed_sent(const struct volley_share *share, __u32 turn)
{
	__u32 turns = turn - share->turn;

	return turns < 32 ? share->sent >> turns : 0;
}

/*
 * For a packet of cpu->client if shed_is_behind(): -1, and it is counted as sent; or a reason to
 * drop it. Only this CPU serves the queue of this number.
 */
static __always_inline int shed_judge(const struct volley_cpu *cpu,
				      const struct volley_state *state,
				      const struct volley_queue *queue, __u32 number,
				      struct volley_shares *shares)
{
	__s64 room = (__s64)queue->limit - shed_on_its_way(queue);
	__u32 turn = (__u32)(queue->taken >> (queue->turn_bits & 63));
	struct volley_share *share;
	__u32 slot, sent;

	if (!shares)
		return -1;
	if (room <= 0)
		return VOLLEY_DROP_OVERLOAD;
	slot = shed_slot(shed_prefix(cpu, number), state->hash_keys[0],
			 bpf_jiffies64() >> SHED_PERIOD_BITS);
	share = &shares->slots[slot % VOLLEY_SHARE_SLOTS];
	sent = shed_sent(share, turn);
	if (sent >= shed_allowed(queue, (__u64)room))
		return VOLLEY_DROP_SHARE;
	share->turn = turn;
	share->sent = sent + 1;
	return -1;
}

_Static_assert(VOLLEY_SHARE_SLOTS == 1u << SHED_SLOT_BITS, "shed_slot gives so many bits");

#endif
