/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key of an answer: folding and hashing, the same in the driver and in userspace.
 *
 * The hash is NH (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, CRYPTO 1999): the sum over the
 * words of (low half + key) * (high half + key). Two different keys of equal length collide with a
 * chance of 2^-32 over the secret hash keys, so an attacker cannot choose names that share a
 * bucket. NH costs one multiplication for 8 octets, and these do not wait for each other. Names are
 * padded with zeros; names of different length differ in the first word (volley_key.name_bytes).
 */
#ifndef VOLLEY_XDP_KEY_H
#define VOLLEY_XDP_KEY_H

#include <linux/types.h>

#include "xdp/abi.h"

#define VOLLEY_PAGE_BUCKETS 64 /* of 64 bytes, in 4 KiB */

/* `word` with every octet from A to Z made lower case; no other octet changes. */
static inline __attribute__((always_inline)) __u64 volley_fold_word(__u64 word)
{
	const __u64 ones = 0x0101010101010101ull;
	__u64 low7 = word & (ones * 0x7f);
	__u64 from_a = low7 + ones * (0x80 - 'A');     /* bit 7: octet >= 'A' */
	__u64 past_z = low7 + ones * (0x80 - 'Z' - 1); /* bit 7: octet > 'Z' */
	__u64 upper = from_a & ~past_z & ~word & (ones * 0x80);

	return word | upper >> 2;
}

/* One word's part of the NH sum. */
static inline __attribute__((always_inline)) __u64 volley_hash_word(__u64 word, __u64 secret)
{
	__u32 low = (__u32)word + (__u32)secret;
	__u32 high = (__u32)(word >> 32) + (__u32)(secret >> 32);

	return (__u64)low * high;
}

/* From the NH sum to 64 well-mixed bits (the finalizer of MurmurHash3, a bijection). */
static inline __attribute__((always_inline)) __u64 volley_hash_mix(__u64 sum)
{
	sum ^= sum >> 33;
	sum *= 0xff51afd7ed558ccdull;
	sum ^= sum >> 33;
	sum *= 0xc4ceb9fe1a85ec53ull;
	return sum ^ sum >> 33;
}

/*
 * The two buckets in which an entry may lie. They are different lines of one page of
 * VOLLEY_PAGE_BUCKETS buckets, so a look into both misses the TLB once, and in a large cache a TLB
 * miss costs more than a line. n_buckets is a multiple of VOLLEY_PAGE_BUCKETS, not of more.
 */
static inline __attribute__((always_inline)) __u32 volley_bucket(__u64 hash, __u32 n_buckets)
{
	return (__u32)(((hash & 0xffffffff) * n_buckets) >> 32);
}

static inline __attribute__((always_inline)) __u32 volley_bucket2(__u64 hash, __u32 n_buckets)
{
	__u32 step = 1 + (__u32)((hash >> 32 & 0xffff) * (VOLLEY_PAGE_BUCKETS - 1) >> 16);

	return volley_bucket(hash, n_buckets) ^ step;
}

static inline __attribute__((always_inline)) __u32 volley_tag(__u64 hash)
{
	return (__u32)(hash >> 32);
}

/* The first slot of a bucket to look at: a publish takes it if it is free, so most entries have
 * it. */
static inline __attribute__((always_inline)) __u32 volley_slot(__u64 hash)
{
	return volley_tag(hash) % VOLLEY_BUCKET_SLOTS;
}

/*
 * The first of the VOLLEY_SERVICE_PROBES slots in which a service address may lie. `words` are
 * those of its struct volley_service. Program and userspace must agree.
 */
static inline __attribute__((always_inline)) __u32
volley_service_slot(const struct volley_services *t, const __u64 words[3])
{
	__u64 sum = volley_hash_word(words[0], t->keys[0]) +
		    volley_hash_word(words[1], t->keys[1]) + volley_hash_word(words[2], t->keys[2]);

	return (__u32)(sum * 0x9e3779b97f4a7c15ull >> 53);
}

/* The same for a struct volley_service. */
static inline __attribute__((always_inline)) __u32
volley_service_place(const struct volley_services *t, const struct volley_service *s)
{
	__u64 words[3];

	__builtin_memcpy(words, s, sizeof(words));
	return volley_service_slot(t, words);
}

/* The place of a next hop in volley_link.hops. Several may share one. */
static inline __attribute__((always_inline)) __u8 volley_hop(const __u8 mac[6])
{
	return (__u8)(mac[0] ^ mac[1] ^ mac[2] ^ mac[3] ^ mac[4] ^ mac[5]);
}

/* The offset in an entry of its list of TTL offsets. */
static inline __attribute__((always_inline)) __u32 volley_ttls_offset(const struct volley_entry *e)
{
	return e->body_offset + ((e->full_bytes + 1u) & ~1u);
}

_Static_assert(VOLLEY_SERVICE_SLOTS == 2048, "volley_service_slot gives 11 bits");

/* Whether answers to this type, in host order, may be cached: it is neither IXFR nor AXFR. To a
 * type of which there is no data, 128 for example, a zone answers that there is none. */
static inline __attribute__((always_inline)) int volley_is_cached_type(__u16 qtype)
{
	return qtype != 251 && qtype != 252;
}

/* A name's octets with their padding to whole words. */
static inline __attribute__((always_inline)) __u32 volley_name_padded(__u32 name_bytes)
{
	return (name_bytes + 7) & ~7u;
}

#endif
