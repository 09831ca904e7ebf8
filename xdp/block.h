/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks: prefixes of clients, suffixes of names, and types. A query that a block matches is
 * dropped, refused, truncated or left to a worker until the block expires. Userspace writes one
 * table, which the driver and the engine read.
 *
 *   chunk 0    filter of IPv4 prefixes                     ┐ lines of 64 octets
 *   chunk 1    filter of IPv6 prefixes, names and types    ┘
 *   chunk 2    struct volley_block_head │ buckets of 8 words, a cache line each │ blocks, 32 octets
 *   chunk 3..  buckets and blocks go on
 *
 *      word = tag:more:location ──► block        more: go on in the next of its buckets
 *
 * A client has up to 129 prefixes. The filter (a blocked Bloom filter: Putze, Sanders and Singler,
 * JEA 14, 2009) says which of them may be in the table. The prefix lengths form groups of eight.
 * The group and the address's octets before it select a line, and in three octets of this line one
 * bit stands for each length. So a client costs one line for each group, 5 or 17 at most, and these
 * loads do not wait for each other. If the bit of a length is set, two more bits of the same line
 * tell whether the prefix itself may be in the table. Only then it is looked up, the longest first.
 *
 *   address    a0 │ a1 │ a2 │ ...              group 2: lengths 16 to 23, found by a0 and a1
 *              └────────┴─► line ─► 3 octets, and-ed: bit 0 for /16, 1 for /17, ... 7 for /23
 *                             └───► 2 bits, by the address's first 16 to 23 bits
 *
 * A suffix of a name is identified by a hash of 64 bits: the sum of its octets times secret
 * numbers, one for each distance from the end. So one pass gives the hashes of all suffixes. Two
 * different suffixes have the same hash with a chance of at most 2^-57.
 *
 * Order of memory: as in abi.h. A block is filled, then one store publishes its word. `rule` is
 * replaced by one store as well. A block's place is used again only after a grace period.
 */
#ifndef VOLLEY_XDP_BLOCK_H
#define VOLLEY_XDP_BLOCK_H

#include <linux/types.h>

#include "xdp/abi.h"
#include "xdp/key.h"
#include "xdp/verifier.h"

#define VOLLEY_BLOCK_INLINE static inline __attribute__((always_inline))

#define VOLLEY_BLOCK_HEAD_BYTES 8192u
#define VOLLEY_BLOCK_LINE       64u
#define VOLLEY_BLOCK_LINES_MAX  (VOLLEY_BLOCK_CHUNK_BYTES / VOLLEY_BLOCK_LINE) /* of a chunk */
#define VOLLEY_BLOCK_LINES_MIN  64u
#define VOLLEY_BLOCK_BYTES      32u
#define VOLLEY_BLOCK_IN_CHUNK   (VOLLEY_BLOCK_CHUNK_BYTES / VOLLEY_BLOCK_BYTES)
#define VOLLEY_BLOCK_MORE       0x80000000u
#define VOLLEY_BLOCK_TRIES      8u /* buckets in which a block may lie, all in one page */
#define VOLLEY_BLOCK_GROUPS4    5u
#define VOLLEY_BLOCK_GROUPS6    17u

enum volley_block_action {
	VOLLEY_BLOCK_NONE,
	VOLLEY_BLOCK_DROP,
	VOLLEY_BLOCK_REFUSE,
	VOLLEY_BLOCK_TRUNCATE,
	VOLLEY_BLOCK_UP,
	VOLLEY_BLOCK_ALLOW,
	VOLLEY_BLOCK_N_ACTIONS,
};

enum volley_block_kind {
	VOLLEY_BLOCK_PREFIX4 = 1, /* high: the address in its upper half, in host order */
	VOLLEY_BLOCK_PREFIX6,     /* high, low: the address, in host order */
	VOLLEY_BLOCK_NAME,        /* high: the suffix's hash; bits: its octets */
	VOLLEY_BLOCK_TYPE,        /* high: the type */
};

/* The client prefix, name or type that is blocked. */
struct volley_block_key {
	__u64 high;
	__u64 low;
	__u32 kind_bits; /* VOLLEY_BLOCK_* | bits << 8 */
	__u32 zero;
};

/*
 * rule = expires_s | kind_bits << 32 | action << 48 | list << 56. List 0 is none: the block was set
 * by a command, and has its own counter.
 */
struct volley_block {
	__u64 high;
	__u64 low;
	__u64 rule;
	__u64 met; /* packets that it matched, if it is in no list */
};

struct volley_block_head {
	__u32 n_buckets;    /* a multiple of VOLLEY_PAGE_BUCKETS */
	__u32 filter_shift; /* of both filters: a line's number is the upper bits of a hash */
	__u32 groups[2];    /* in use, IPv4 and IPv6: bit n for the lengths from 8 n on */
	__u64 hash_keys[3];
	__u64 octet_keys[16];
	__u64 group_keys[2][VOLLEY_BLOCK_GROUPS6];
	__u64 name_keys[VOLLEY_NAME_BYTES]; /* by the distance from a name's end */
};

/*
 * The table is a map of chunks for the program, and memory for userspace. block_chunk() gives NULL
 * for a chunk that does not exist, and then no other function reads it.
 */
#ifdef __bpf__
#define BLOCK_UNROLL        _Pragma("unroll")
#define block_follow(where) load_once(where) /* later loads depend on it */
#else
#define BLOCK_UNROLL
#define block_follow(where) __atomic_load_n(where, __ATOMIC_ACQUIRE)
#endif

#ifdef VOLLEY_BLOCK_MAP
#define block_chunk(table, number)                            \
	({                                                    \
		__u32 block_number_ = (number);               \
		bpf_map_lookup_elem((table), &block_number_); \
	})
#else
#define block_chunk(table, number) \
	((void *)((__u8 *)(table) + (__u64)(number)*VOLLEY_BLOCK_CHUNK_BYTES))
#endif

VOLLEY_BLOCK_INLINE __u32 volley_block_expires_s(__u64 rule)
{
	return (__u32)rule;
}

VOLLEY_BLOCK_INLINE __u32 volley_block_action(__u64 rule)
{
	return (__u32)(rule >> 48) & 0xff;
}

VOLLEY_BLOCK_INLINE __u32 volley_block_list(__u64 rule)
{
	return (__u32)(rule >> 56);
}

VOLLEY_BLOCK_INLINE __u64 volley_block_rule(__u32 expires_s, __u32 kind_bits, __u32 action,
					    __u32 list)
{
	return expires_s | (__u64)(kind_bits & 0xffff) << 32 | (__u64)(action & 0xff) << 48 |
	       (__u64)list << 56;
}

VOLLEY_BLOCK_INLINE __u64 volley_block_hash(const struct volley_block_head *head, __u64 high,
					    __u64 low, __u32 kind_bits)
{
	__u64 sum = volley_hash_word(high, head->hash_keys[0]) +
		    volley_hash_word(low, head->hash_keys[1]) +
		    volley_hash_word(kind_bits, head->hash_keys[2]);

	return volley_hash_mix(sum);
}

/* Bits `bits` and more are cleared. */
VOLLEY_BLOCK_INLINE __u64 volley_block_high(__u64 high, __u32 bits)
{
	return bits >= 64 ? high : bits ? high & ~0ull << ((64 - bits) & 63) : 0;
}

VOLLEY_BLOCK_INLINE __u64 volley_block_low(__u64 low, __u32 bits)
{
	return bits <= 64 ? 0 : low & ~0ull << ((128 - bits) & 63);
}

/* An octet of an address, 0 to 15. */
VOLLEY_BLOCK_INLINE __u64 volley_block_octet(__u64 high, __u64 low, __u32 i)
{
	return (i < 8 ? high >> ((56 - 8 * i) & 63) : low >> ((120 - 8 * i) & 63)) & 0xff;
}

/* The line of a hash in a filter, and its three octets in that line. */
VOLLEY_BLOCK_INLINE __u32 volley_block_line(const struct volley_block_head *head, __u64 hash)
{
	return (__u32)bounded(hash >> (head->filter_shift & 63), VOLLEY_BLOCK_LINES_MAX - 1);
}

#define VOLLEY_BLOCK_OCTET1(hash) ((hash) >> 8 & 63)
#define VOLLEY_BLOCK_OCTET2(hash) ((hash) >> 14 & 63)
#define VOLLEY_BLOCK_OCTET3(hash) ((hash) >> 20 & 63)

/* Two further bits of the line, from volley_block_fine(): the octet, and the bit in it. */
#define VOLLEY_BLOCK_FINE1(hash)     ((hash) >> 40 & 63)
#define VOLLEY_BLOCK_FINE1_BIT(hash) (1u << ((hash) >> 46 & 7))
#define VOLLEY_BLOCK_FINE2(hash)     ((hash) >> 50 & 63)
#define VOLLEY_BLOCK_FINE2_BIT(hash) (1u << ((hash) >> 56 & 7))

/* For names and types: one of the eight bits. */
#define VOLLEY_BLOCK_BIT(hash) (1u << ((hash) >> 26 & 7))

/* The eight bits: each is set if all three octets have it. */
VOLLEY_BLOCK_INLINE __u32 volley_block_filtered(const struct volley_block_head *head,
						const void *filter, __u64 hash)
{
	const __u8 *line =
		(const __u8 *)filter + (__u64)volley_block_line(head, hash) * VOLLEY_BLOCK_LINE;

	return (__u32)(load_once(&line[VOLLEY_BLOCK_OCTET1(hash)]) &
		       load_once(&line[VOLLEY_BLOCK_OCTET2(hash)]) &
		       load_once(&line[VOLLEY_BLOCK_OCTET3(hash)]));
}

/* The hash of a prefix: of its group's octets (`hash`), and of `more` further bits, 0 to 7, the
 * first of the octet `next`. */
VOLLEY_BLOCK_INLINE __u64 volley_block_fine(__u64 hash, __u64 next, __u32 more)
{
	__u64 position = 1ull << more | next >> (8 - more);

	return (hash ^ position) * 0x9e3779b97f4a7c15ull;
}

/* Whether both bits are set, so the prefix may be in the table. */
VOLLEY_BLOCK_INLINE int volley_block_is_fine(const struct volley_block_head *head,
					     const void *filter, __u64 hash, __u64 fine)
{
	const __u8 *line =
		(const __u8 *)filter + (__u64)volley_block_line(head, hash) * VOLLEY_BLOCK_LINE;

	return (load_once(&line[VOLLEY_BLOCK_FINE1(fine)]) & VOLLEY_BLOCK_FINE1_BIT(fine)) &&
	       (load_once(&line[VOLLEY_BLOCK_FINE2(fine)]) & VOLLEY_BLOCK_FINE2_BIT(fine));
}

/* The block at a location, or NULL where none can be. */
VOLLEY_BLOCK_INLINE struct volley_block *volley_block_at(void *table, __u32 location)
{
	void *chunk = block_chunk(table, location / VOLLEY_BLOCK_IN_CHUNK);

	if (!chunk)
		return (void *)0;
	return (struct volley_block *)((__u8 *)chunk +
				       bounded(location, VOLLEY_BLOCK_IN_CHUNK - 1) *
					       VOLLEY_BLOCK_BYTES);
}

/* The page that has all buckets of a hash, or NULL. */
VOLLEY_BLOCK_INLINE void *volley_block_page(void *table, __u32 bucket)
{
	__u32 line = bucket / VOLLEY_PAGE_BUCKETS * VOLLEY_PAGE_BUCKETS +
		     VOLLEY_BLOCK_HEAD_BYTES / VOLLEY_BLOCK_LINE;
	void *chunk = block_chunk(table, VOLLEY_BLOCK_HEAD + line / VOLLEY_BLOCK_LINES_MAX);

	if (!chunk)
		return (void *)0;
	return (__u8 *)chunk + bounded(line / VOLLEY_PAGE_BUCKETS,
				       VOLLEY_BLOCK_LINES_MAX / VOLLEY_PAGE_BUCKETS - 1) *
				       (VOLLEY_PAGE_BUCKETS * VOLLEY_BLOCK_LINE);
}

/* The bucket of the page to search at the nth try. */
VOLLEY_BLOCK_INLINE __u32 volley_block_try(__u32 bucket, __u64 hash, __u32 n)
{
	__u32 step = (__u32)(hash >> 40) | 1;

	return (__u32)bounded(bucket + n * step, VOLLEY_PAGE_BUCKETS - 1);
}

/* The block of this key among a bucket's words, expired or not, or NULL. */
VOLLEY_BLOCK_INLINE struct volley_block *volley_block_in(void *table, const __u64 *words, __u32 tag,
							 const struct volley_block_key *key)
{
	struct volley_block *block;
	__u32 location;
	__u64 word;
	int i;

	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
		word = block_follow(&words[i]);
		location = (__u32)word & ~VOLLEY_BLOCK_MORE;
		if (word >> 32 != tag || !location)
			continue;
		block = volley_block_at(table, location);
		if (block && block->high == key->high && block->low == key->low &&
		    (load_once(&block->rule) >> 32 & 0xffff) == key->kind_bits)
			return block;
	}
	return (void *)0;
}

/* The same, in all buckets in which it may lie. */
VOLLEY_BLOCK_INLINE struct volley_block *volley_block_find(void *table,
							   const struct volley_block_head *head,
							   const struct volley_block_key *key)
{
	__u64 hash = volley_block_hash(head, key->high, key->low, key->kind_bits);
	__u32 bucket = volley_bucket(hash, head->n_buckets);
	void *page = volley_block_page(table, bucket);
	const __u64 *words;
	struct volley_block *block;
	__u64 first;
	__u32 n;

	if (!page)
		return (void *)0;
	for (n = 0; n < VOLLEY_BLOCK_TRIES; n++) {
		words = (const __u64 *)((__u8 *)page + volley_block_try(bucket, hash, n) *
							       (__u64)VOLLEY_BLOCK_LINE);
		first = load_once(&words[0]);
		block = volley_block_in(table, words, volley_tag(hash), key);
		if (block || !(first & VOLLEY_BLOCK_MORE))
			return block;
	}
	return (void *)0;
}

/*
 * For each group: an octet in `masks` with the lengths that may be in the table for this address,
 * and the group's hash. Returns 0 if there are none. `is_ipv6` is a compile-time constant.
 */
VOLLEY_BLOCK_INLINE __u32 volley_block_masks(const struct volley_block_head *head,
					     const void *filter, int is_ipv6, __u64 high, __u64 low,
					     __u8 *masks, __u64 *hashes)
{
	const __u64 *keys = head->group_keys[is_ipv6];
	const __u32 in_use = load_once(&head->groups[is_ipv6]);
	__u32 any = 0, i;
	__u64 sum = 0;

	BLOCK_UNROLL
	for (i = 0; i < (is_ipv6 ? VOLLEY_BLOCK_GROUPS6 : VOLLEY_BLOCK_GROUPS4); i++) {
		__u32 mask = 0;

		if (in_use >> i & 1)
			mask = volley_block_filtered(head, filter, sum + keys[i]);
		masks[i] = (__u8)mask;
		hashes[i] = sum + keys[i];
		any |= mask;
		if (i < 16)
			sum += volley_block_octet(high, low, i) * head->octet_keys[i];
	}
	return any;
}

/* Whether the block has not expired. */
VOLLEY_BLOCK_INLINE int volley_block_is_alive(__u64 rule, __u32 now_s)
{
	return now_s < volley_block_expires_s(rule) || volley_block_expires_s(rule) == VOLLEY_NEVER;
}

_Static_assert(sizeof(struct volley_block) == VOLLEY_BLOCK_BYTES, "two to a cache line");
_Static_assert(sizeof(struct volley_block_head) <= VOLLEY_BLOCK_HEAD_BYTES, "it has its room");

#endif
