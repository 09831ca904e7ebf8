/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Response rate limiting: limits the answers to each prefix of clients, the same in the driver and
 * in userspace.
 *
 *      answer ─► near: load of this CPU in this period, by IPv4 /24 or IPv6 /40
 *                  │ little                        ─► sent; no other CPU's memory is touched
 *                  │ much: the load that was held back is charged, too
 *                  ▼
 *                loads: /32 /24 /20 /18, or /128 /64 /56 /48 /32, one line each, for all CPUs and
 *                workers
 *                  │ all have room                  ─► sent, and added to each
 *                  ▼ one has none
 *                over the limit: nothing is added. TC=1 or BADCOOKIE for one in `slip`, the others
 *                are dropped
 *
 * The table of loads follows the idea of Knot's limiter: count heavy prefixes, evict the lightest,
 * decay exponentially by the millisecond. Id, time and load of a prefix are one word of 8 octets,
 * which one compare-and-swap changes. So there is no lock, and no load is half decayed. A line of 7
 * prefixes has 64 octets. Each prefix has one line. A prefix that is not in its line takes the
 * place of the lightest one and inherits a load from it, so its load is never much too low.
 *
 * The limit of a wider prefix is the limit of an address times its weight (rrl_weigh()).
 *
 * Because of the first stage a client far below its limit costs no cache line that other CPUs
 * write. It holds back at most near_cost for each CPU and period: over all CPUs and workers half of
 * an address's limit (limiter_configure()). When the load exceeds near_cost, the held load is
 * charged, too. So prefixes over a limit are counted exactly; only an IPv6 /32 whose load is spread
 * evenly over its /40s may get up to three times its limit.
 *
 * An answer costs the larger of two shares: one of the answers that an address may get in a second,
 * or its octets of the octets that an address may get. The decision record is
 * docs/decisions/0038-rate-limiting.md.
 */
#ifndef VOLLEY_XDP_RRL_H
#define VOLLEY_XDP_RRL_H

#include "xdp/abi.h"
#include "xdp/verifier.h"

/* Unrolled, so that the verifier knows each index of an array. Userspace is faster, too. */
#ifdef __clang__
#define RRL_UNROLL _Pragma("unroll")
#else
#define RRL_UNROLL _Pragma("GCC unroll 5")
#endif

#define RRL_INLINE static inline __attribute__((always_inline))

#define RRL_PREFIXES     VOLLEY_RRL_PREFIXES
#define RRL_PREFIXES_V4  4
#define RRL_V6_MAPPED    0xffff0000u /* third word of ::ffff:0:0/96, in network order */
#define RRL_PERIOD_BITS  7           /* a period of the first stage: 128 ms */
#define RRL_PERIOD_SHIFT 34
#define RRL_PERIOD_MASK  0x3fffffffu /* periods: four years */
#define RRL_HOT          (1ull << 33)
#define RRL_HOT_PERIODS  4u /* without a packet, after which a prefix is no longer hot */
#define RRL_LOAD_MASK    (RRL_HOT - 1)
#define RRL_NEWER_MAX    1024u  /* ms by which another clock may be ahead */
#define RRL_DEAD         0x8000 /* ms after which nothing is left of a load */
#define RRL_TURN_BITS    14     /* a turn in which a line is tidied: 16 s */
#define RRL_PLACE_MASK   7u
#define RRL_OLD_MS       20000u /* after that time 2 of 10^9 of a load are left */
#define RRL_INHERIT_MAX  (VOLLEY_RRL_FULL / 4)
#define RRL_TRIES        3
#define RRL_MIX          0x9e3779b97f4a7c15ull /* odd, its bits are spread */

enum rrl_verdict { RRL_GIVEN, RRL_SLIPS, RRL_DROPPED };

/* A client in the table: two words as they lie in memory, IPv4 as ::ffff:0:0/96 (RFC 4291). */
struct rrl_client {
	__u64 address[2];
	__u32 is_ipv6;
};

/* Functions that the verifier walks once each, and not once for each path that leads to them. */
#if defined(__bpf__) || defined(VOLLEY_XDP_NATIVE_H)
#define RRL_GLOBAL __noinline
int rrl_tidy(const struct volley_try *t, __u64 now_ms);
int rrl_look(struct volley_try *t, const struct volley_rrl *r, __u64 now_ms);
int rrl_add(struct volley_try *t, const struct volley_rrl *r, __u64 load, __u64 now_ms);
int rrl_give_back(struct volley_try *t, const struct volley_rrl *r, __u64 load, __u64 now_ms);
#else
#define RRL_GLOBAL static inline
#endif

/* The line of this prefix. Never NULL, but the verifier does not know that. */
RRL_INLINE struct volley_rrl_line *rrl_line(const struct volley_try *t)
{
#if defined(__bpf__) || defined(VOLLEY_XDP_NATIVE_H)
	__u32 line = t->line;

	return bpf_map_lookup_elem(&volley_loads, &line);
#else
	return (struct volley_rrl_line *)t->table + t->line;
#endif
}

/* A prefix's slot. `place` is below VOLLEY_RRL_WAYS. */
RRL_INLINE __u64 *rrl_slot(struct volley_rrl_line *line, __u32 place)
{
	return (__u64 *)line + bounded(place, RRL_PLACE_MASK);
}

/* ---- Prefixes -------------------------------------------------------------------------------- */

/* Keeps the first `octets` of a word in memory. */
RRL_INLINE __u64 rrl_keep(__u64 word, __u32 octets)
{
	return word & (~0ull >> (64 - 8 * octets));
}

/* IPv4 addresses are the last 4 octets; /20 and /18 keep half an octet and two bits of the next. */
RRL_INLINE __u64 rrl_ipv4_prefix(const struct rrl_client *c, int i)
{
	return c->address[1] >> 32 & (i == 0 ? 0xffffffff :
				      i == 1 ? 0x00ffffff :
				      i == 2 ? 0x00f0ffff :
					       0x00c0ffff);
}

/* Length of prefix i in bits; for IPv4 with the 96 before it. Not a table: the program has no data
 * section. */
RRL_INLINE __u32 rrl_bits(const struct rrl_client *c, int i)
{
	switch (i) {
	case 0:
		return 128;
	case 1:
		return c->is_ipv6 ? 64 : 120;
	case 2:
		return c->is_ipv6 ? 56 : 116;
	case 3:
		return c->is_ipv6 ? 48 : 114;
	default:
		return 32;
	}
}

/* The two words of prefix i. */
RRL_INLINE void rrl_prefix(const struct rrl_client *c, int i, __u64 words[2])
{
	words[0] = 0;
	words[1] = 0;
	if (!c->is_ipv6) {
		words[1] = rrl_ipv4_prefix(c, i);
		return;
	}
	words[0] = i < 2 ? c->address[0] : rrl_keep(c->address[0], i == 2 ? 7 : i == 3 ? 6 : 4);
	if (!i)
		words[1] = c->address[1];
}

/*
 * Keyed, so that an attacker cannot choose addresses that collide. The upper half gives line and
 * id. Each step is a bijection of the word that it adds.
 */
RRL_INLINE __u64 rrl_hash(const struct volley_rrl *r, const __u64 words[2], __u32 bits)
{
	__u64 h = (words[0] ^ r->keys[0]) * (r->keys[1] | 1);

	h = ((h ^ h >> 32) + words[1] + bits) * (r->keys[2] | 1);
	h = ((h ^ h >> 32) + r->keys[3]) * RRL_MIX;
	return h ^ h >> 29;
}

/* The part of a load that prefix i is charged: Knot's weights. A third is a multiplication, 2^-32
 * too small. */
RRL_INLINE __u64 rrl_weigh(__u64 load, __u32 is_ipv6, int i)
{
	const __u64 third = load * 0x55555555 >> 32;

	switch (i) {
	case 0:
		return load;
	case 1:
		return is_ipv6 ? load >> 1 : load >> 5;
	case 2:
		return is_ipv6 ? third : load >> 8;
	case 3:
		return is_ipv6 ? load >> 2 : third >> 8;
	default:
		return load >> 6;
	}
}

/* ---- The first stage ------------------------------------------------------------------------- */

/* The load of an answer with this many octets of DNS. */
RRL_INLINE __u64 rrl_cost(const struct volley_rrl *r, __u32 octets)
{
	__u64 cost = (__u64)r->octet_cost * octets;

	if (cost < r->answer_cost)
		cost = r->answer_cost;
	return cost < VOLLEY_RRL_FULL ? cost : VOLLEY_RRL_FULL;
}

/* The prefix that a slot of the first stage stands for, as a word. */
RRL_INLINE __u64 rrl_near_prefix_ipv4(__u32 net_address)
{
	return net_address & 0x00ffffff;
}

RRL_INLINE __u64 rrl_near_prefix_ipv6(__u64 first_word)
{
	return rrl_keep(first_word, 5) | 1ull << 63;
}

/*
 * Adds an answer to this CPU's load of the prefix. Returns the load to charge in the table of
 * loads: 0 if the client is far below any limit, else this answer's load and the load held back
 * before.
 */
RRL_INLINE __u64 rrl_near(struct volley_near *near, const struct volley_rrl *r, __u64 prefix,
			  __u64 now_ms, __u64 cost)
{
	__u64 h = (prefix ^ r->keys[0]) * (r->keys[1] | 1);
	__u64 *slot = &near->slots[(h ^ h >> 32) * RRL_MIX >> 52];
	__u64 period = now_ms >> RRL_PERIOD_BITS & RRL_PERIOD_MASK;
	__u64 word = *slot, load = word & RRL_LOAD_MASK, hot = word & RRL_HOT;
	__u64 periods = (period - (word >> RRL_PERIOD_SHIFT)) & RRL_PERIOD_MASK;

	if (periods) {
		if (periods > RRL_HOT_PERIODS || load <= r->near_cost / 2)
			hot = 0;
		load = 0;
	}
	load += cost;
	if (load > RRL_LOAD_MASK)
		load = RRL_LOAD_MASK;
	if (!hot && load > r->near_cost) {
		hot = RRL_HOT;
		cost = load;
	}
	*slot = period << RRL_PERIOD_SHIFT | hot | load;
	return hot ? cost : 0;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* The rest of a load `ms` milliseconds later. */
RRL_INLINE __u32 rrl_decayed(const struct volley_rrl *r, __u32 load, __u32 ms)
{
	__u64 left = load;

	if (!ms)
		return load;
	if (ms >= RRL_DEAD)
		return 0;
	left = left * r->decay[0][ms % 32] >> 32;
	left = left * r->decay[1][ms / 32 % 32] >> 32;
	return (__u32)(left * r->decay[2][ms / 1024 % 32] >> 32);
}

/* Milliseconds from a slot's time to now; 0 if another clock was ahead. */
RRL_INLINE __u32 rrl_age(__u64 word, __u64 now_ms)
{
	__u32 ms = (__u32)(now_ms - (word >> 32)) & 0xffff;

	return ms > 0xffff - RRL_NEWER_MAX ? 0 : ms;
}

/* Roughly the rest of a slot's load, to find the lightest of a line. A load halves in 693 ms. */
RRL_INLINE __u32 rrl_weight(__u64 word, __u64 now_ms)
{
	__u32 halves = rrl_age(word, now_ms) * 3 / 2048;

	return halves < 32 ? (__u32)word >> halves : 0;
}

/* The place in its line of the prefix with this id, or of the lightest one. */
RRL_INLINE __u32 rrl_place(const struct volley_rrl_line *line, __u32 id, __u64 now_ms)
{
	__u32 least = ~0u, place = 0, i;

	for (i = 0; i < VOLLEY_RRL_WAYS; i++)
		if (load_once(&line->slots[i]) >> 48 == id)
			return i;
	for (i = 0; i < VOLLEY_RRL_WAYS; i++) {
		__u32 weight = rrl_weight(load_once(&line->slots[i]), now_ms);

		if (weight < least) {
			least = weight;
			place = i;
		}
	}
	return place;
}

/* Reads the load and time in t->word, decayed to now. */
RRL_INLINE void rrl_read(struct volley_try *t, const struct volley_rrl *r, __u64 now_ms)
{
	__u32 age = rrl_age(t->word, now_ms);

	t->load = rrl_decayed(r, (__u32)t->word, age);
	t->tick = (__u32)(age ? now_ms : t->word >> 32) & 0xffff;
	if (t->word >> 48 == t->id)
		return;
	t->tick = (__u32)now_ms & 0xffff;
	if (t->load > RRL_INHERIT_MAX)
		t->load = RRL_INHERIT_MAX;
}

/*
 * Removes old loads from a line, in each turn before the line is first read. A slot has 16 bits of
 * milliseconds, so without this a load of 65 s ago would look new. In a line that was read in the
 * turn before, no load is older than RRL_OLD_MS and two turns. In any other line all loads are old.
 * If two do this at a time, one does it. Returns 0.
 */
RRL_GLOBAL int rrl_tidy(const struct volley_try *t, __u64 now_ms)
{
	__u64 turn = now_ms >> RRL_TURN_BITS, last;
	struct volley_rrl_line *line;
	int i;

	if (!t)
		return 0;
	line = rrl_line(t);
	if (!line)
		return 0;
	last = load_once(&line->tidied);
	if (turn <= last || __sync_val_compare_and_swap(&line->tidied, last, turn) != last)
		return 0;
	for (i = 0; i < (int)VOLLEY_RRL_WAYS; i++) {
		__u64 word = load_once(&line->slots[i]);

		if (turn - last > 1 || rrl_age(word, now_ms) > RRL_OLD_MS)
			__sync_val_compare_and_swap(&line->slots[i], word, 0);
	}
	return 0;
}

/* Finds the prefix in its line. Returns 0. */
RRL_GLOBAL int rrl_look(struct volley_try *t, const struct volley_rrl *r, __u64 now_ms)
{
	struct volley_rrl_line *line;

	if (!t || !r)
		return 0;
	line = rrl_line(t);
	if (!line)
		return 0;
	if (load_once(&line->tidied) < now_ms >> RRL_TURN_BITS)
		rrl_tidy(t, now_ms);
	t->place = rrl_place(line, t->id, now_ms);
	t->word = load_once(rrl_slot(line, t->place));
	rrl_read(t, r, now_ms);
	return 0;
}

/* Adds to the prefix. If others keep changing its word, the load is lost. Returns 0. */
RRL_GLOBAL int rrl_add(struct volley_try *t, const struct volley_rrl *r, __u64 load, __u64 now_ms)
{
	struct volley_rrl_line *line;
	int i;

	if (!t || !r)
		return 0;
	line = rrl_line(t);
	if (!line)
		return 0;
	for (i = 0; i < RRL_TRIES; i++) {
		__u64 *slot = rrl_slot(line, t->place);
		__u64 sum = t->load + load, found;

		if (sum > VOLLEY_RRL_FULL)
			sum = VOLLEY_RRL_FULL;
		sum |= (__u64)t->id << 48 | (__u64)t->tick << 32;
		found = __sync_val_compare_and_swap(slot, t->word, sum);
		if (found == t->word || found >> 48 != t->id)
			return 0;
		t->word = found;
		rrl_read(t, r, now_ms);
	}
	return 0;
}

#if defined(__bpf__) || defined(VOLLEY_XDP_NATIVE_H)
/* Undoes rrl_add(), if the prefix is still in its line. Returns 0. */
RRL_GLOBAL int rrl_give_back(struct volley_try *t, const struct volley_rrl *r, __u64 load,
			     __u64 now_ms)
{
	struct volley_rrl_line *line;
	__u64 left;

	if (!t || !r)
		return 0;
	line = rrl_line(t);
	if (!line)
		return 0;
	rrl_look(t, r, now_ms);
	if (t->word >> 48 != t->id)
		return 0;
	left = t->load > load ? t->load - load : 0;
	left |= (__u64)t->id << 48 | (__u64)t->tick << 32;
	__sync_val_compare_and_swap(rrl_slot(line, t->place), t->word, left);
	return 0;
}
#endif

/* ---- The verdict ----------------------------------------------------------------------------- */

RRL_INLINE int rrl_has(const struct rrl_client *c, int i)
{
	return i < RRL_PREFIXES_V4 || c->is_ipv6;
}

/* Looks up all prefixes of the client. All lines are prefetched before the first is used, so the
 * waits overlap. */
RRL_INLINE void rrl_look_all(struct volley_try tries[RRL_PREFIXES], struct volley_rrl_line *table,
			     const struct volley_rrl *r, const struct rrl_client *c, __u64 now_ms)
{
	int i;

	RRL_UNROLL
	for (i = 0; i < RRL_PREFIXES; i++) {
		const struct volley_rrl_line *line;
		__u64 words[2], hash;

		rrl_prefix(c, i, words);
		hash = rrl_hash(r, words, rrl_bits(c, i));
		tries[i].table = table;
		tries[i].line = (__u32)(hash >> 48);
		tries[i].id = (__u32)(hash >> 32) & 0xffff;
		if (!rrl_has(c, i))
			break;
		line = rrl_line(&tries[i]);
		if (line)
			(void)load_once(&line->slots[0]);
	}
	RRL_UNROLL
	for (i = 0; i < RRL_PREFIXES; i++)
		if (rrl_has(c, i))
			rrl_look(&tries[i], r, now_ms);
}

/* The first prefix, from the address on, without room for an answer of this cost; -1: none. */
RRL_INLINE int rrl_find_over(const struct volley_try tries[RRL_PREFIXES],
			     const struct rrl_client *c, __u64 cost)
{
	int i, over = -1;

	RRL_UNROLL
	for (i = 0; i < RRL_PREFIXES; i++)
		if (over < 0 && rrl_has(c, i) &&
		    tries[i].load + rrl_weigh(cost, c->is_ipv6, i) > VOLLEY_RRL_FULL)
			over = i;
	return over;
}

/* Whether a prefix of the client has at most a 64th of its limit left. */
RRL_INLINE int rrl_is_full(struct volley_try tries[RRL_PREFIXES], const struct volley_rrl *r,
			   const struct rrl_client *c, __u64 now_ms)
{
	int i, full = 0;

	rrl_look_all(tries, NULL, r, c, now_ms);
	RRL_UNROLL
	for (i = 0; i < RRL_PREFIXES; i++)
		if (rrl_has(c, i))
			full |= tries[i].load > VOLLEY_RRL_FULL - VOLLEY_RRL_FULL / 64;
	return full;
}

/*
 * Charges an answer of this cost to all prefixes of the client, with the load that the first stage
 * held back (carry is both). -1, or the prefix that is over its limit: then nothing is charged.
 */
RRL_INLINE int rrl_charge(struct volley_try tries[RRL_PREFIXES], struct volley_rrl_line *table,
			  const struct volley_rrl *r, const struct rrl_client *c, __u64 now_ms,
			  __u64 cost, __u64 carry)
{
	int i, over;

	rrl_look_all(tries, table, r, c, now_ms);
	over = rrl_find_over(tries, c, cost);
	if (over >= 0)
		return over;
	RRL_UNROLL
	for (i = 0; i < RRL_PREFIXES; i++)
		if (rrl_has(c, i))
			rrl_add(&tries[i], r, rrl_weigh(carry, c->is_ipv6, i), now_ms);
	return -1;
}

/* Whether an answer over the limit becomes TC=1 or BADCOOKIE, or is dropped. `id` is the
 * query's. */
RRL_INLINE enum rrl_verdict rrl_slip(const struct volley_rrl *r, const struct rrl_client *c,
				     __u16 id, __u64 now_ms)
{
	const __u64 words[2] = { c->address[0] ^ (__u64)id << 32 ^ now_ms, c->address[1] };

	if (!r->slip)
		return RRL_DROPPED;
	return (__u32)(rrl_hash(r, words, 1) >> 32) % r->slip ? RRL_DROPPED : RRL_SLIPS;
}

/* ---- The list -------------------------------------------------------------------------------- */

#define RRL_LIST_PROBES 4
#define RRL_LIST_REST_S 60 /* without a packet, after which a prefix gives its place away */

/* A prefix for the list: two words as in struct rrl_client, and its length. */
struct rrl_listed {
	__u64 key;
	__u64 address[2];
	__u32 bits;
};

/* Prefix `which` of the client. A loop, since an index that is not a constant would need tables in
 * memory. */
RRL_INLINE void rrl_listed_of(struct rrl_listed *p, const struct volley_rrl *r,
			      const struct rrl_client *c, int which)
{
	int i;

	RRL_UNROLL
	for (i = 0; i < RRL_PREFIXES; i++) {
		if (i != which)
			continue;
		rrl_prefix(c, i, p->address);
		p->bits = rrl_bits(c, i);
	}
	p->key = rrl_hash(r, p->address, p->bits) | 1;
	if (!c->is_ipv6)
		p->address[1] = p->address[1] << 32 | RRL_V6_MAPPED;
}

/*
 * Whether this place belongs to the prefix; takes it if it is free or rested. The place of another
 * prefix is claimed by its `bits`, and a free one by its key. While a place is written, its bits
 * are 0, and nobody else takes it.
 */
RRL_INLINE int rrl_list_take(struct volley_limited *at, const struct rrl_listed *p, __u32 now_s)
{
	__u64 theirs = load_once(&at->key);
	__u32 bits = load_once(&at->bits);

	if (theirs == p->key)
		return 1;
	if (theirs && (!bits || now_s - load_once(&at->last_s) < RRL_LIST_REST_S))
		return 0;
	if (theirs && __sync_val_compare_and_swap(&at->bits, bits, 0) != bits)
		return 0;
	if (__sync_val_compare_and_swap(&at->key, theirs, p->key) != theirs) {
		/* Since the look at the key another taker has taken and written the place. */
		if (theirs)
			__sync_val_compare_and_swap(&at->bits, 0, bits);
		return 0;
	}
	at->address[0] = p->address[0];
	at->address[1] = p->address[1];
	at->first_s = now_s;
	store_once(&at->slipped, 0);
	store_once(&at->dropped, 0);
	return !__sync_val_compare_and_swap(&at->bits, 0, p->bits);
}

/* Counts a packet of prefix `which` of the client, which is over its limit. */
RRL_INLINE void rrl_list(struct volley_rrl *r, const struct rrl_client *c, int which,
			 enum rrl_verdict verdict, __u32 now_s)
{
	struct rrl_listed p = {};
	__u32 n;

	rrl_listed_of(&p, r, c, which);
	for (n = 0; n < RRL_LIST_PROBES; n++) {
		struct volley_limited *at =
			&r->limited[bounded((p.key >> 20) + n, VOLLEY_RRL_LIMITED - 1)];

		if (!rrl_list_take(at, &p, now_s))
			continue;
		store_once(&at->last_s, now_s);
		if (verdict == RRL_SLIPS)
			__sync_fetch_and_add(&at->slipped, 1);
		else
			__sync_fetch_and_add(&at->dropped, 1);
		return;
	}
	__sync_fetch_and_add(&r->unlisted, 1);
}

_Static_assert(VOLLEY_NEAR_SLOTS == 1u << 12, "rrl_near gives 12 bits");
_Static_assert(VOLLEY_RRL_LINES == 1u << 16, "rrl_look_all gives 16 bits");
#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "prefixes are octets of little endian words");
#endif

#endif
