/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter of all names that exist in our zones: a name that it does not know does not exist. The
 * driver reads it, volleyd writes it (userspace/shield/name_filter.h).
 *
 *      name ─► hash of each suffix ─► a line of 64 octets, 7 of its 512 bits
 *      (a blocked Bloom filter)
 *
 * It has every owner of records and every empty non-terminal of every zone, and the names above an
 * apex. Names at which the walk has more to do are marked, too: the apex of a zone, even if that
 * cannot be served; a zone cut or a DNAME; the parent of a wildcard. A name or mark that the filter
 * does not have was never added. One that it has may be a false positive: then the query goes up.
 *
 *      com                     known
 *      example.com             known, marked: an apex
 *      b.example.com           known
 *      a.b.example.com         unknown: nothing at or below it exists
 *
 * A suffix is identified by a hash of 64 bits: the sum of its folded octets times secret numbers,
 * one for each distance from the name's end. So one pass gives the hashes of all suffixes. If two
 * suffixes have the same hash, some queries go up without need.
 *
 * Order of memory: a name is added before the zone that has it is served. While
 * volley_names_state.id stays the same, bits are set and never cleared. Before userspace clears
 * bits, it sets the id to 0 and waits for a grace period.
 *
 * A worker publishes an answer that many names share (engine/shared_answer.h) beside the answer
 * that it has rendered. The driver looks for it when the query has no entry of its own and the walk
 * has ended at an unknown suffix (deny.h); in a flood of such names the walk comes first:
 *
 *    walk ─┬─ no wildcard above ──► DENIAL, by the apex ─── signed, DO ─► INTERVAL ───┐
 *          ├─ wildcard right above ► WILDCARD ─┬─ found ──────────────────────────────┼► look twice
 *          │                                   └─ DO ─► DENIAL ─► INTERVAL, with type ┘   ─► answer
 *          └─ all known, a cut, a DNAME, a wildcard further above ─► up
 *
 * shield.h has the checks that no denial is wrong: the driver hands up one of VOLLEY_CHECK_EVERY
 * queries that it could answer.
 */
#ifndef VOLLEY_XDP_NAMES_H
#define VOLLEY_XDP_NAMES_H

#include <linux/types.h>

#include "xdp/abi.h"
#include "xdp/key.h"
#include "xdp/verifier.h"

#define VOLLEY_NAMES_INLINE static inline __attribute__((always_inline))

#define VOLLEY_NAMES_MIX 0x9e3779b97f4a7c15ull /* odd, its bits are spread */

enum volley_name_mark {
	VOLLEY_NAME_EXISTS,
	VOLLEY_NAME_MARKED, /* has at least one of the following */
	VOLLEY_NAME_APEX,
	VOLLEY_NAME_STOP, /* a cut or a DNAME: the zone does not deny names below it */
	VOLLEY_NAME_WILD, /* there is a wildcard below it */
};

/* An octet's part of the sum of each suffix that has it. from_end is its distance from the name's
 * end; the root's octet has 0. */
VOLLEY_NAMES_INLINE __u64 volley_names_part(const __u64 *keys, __u8 octet, __u32 from_end)
{
	return octet * keys[bounded(from_end, VOLLEY_NAME_BYTES - 1)];
}

/* From a suffix's sum to its hash. */
VOLLEY_NAMES_INLINE __u64 volley_names_hash(__u64 sum)
{
	return volley_hash_mix(sum);
}

/* The line of a hash, of n_lines. */
VOLLEY_NAMES_INLINE __u32 volley_names_line(__u64 hash, __u32 n_lines)
{
	return (__u32)((hash >> 32) * n_lines >> 32);
}

/* Seven numbers of 9 bits: the bits of a name with this mark in its line. */
VOLLEY_NAMES_INLINE __u64 volley_names_bits(__u64 hash, enum volley_name_mark mark)
{
	return (hash + (__u64)mark * 0xd6e8feb86659fd93ull) * VOLLEY_NAMES_MIX >> 1;
}

#define VOLLEY_NAMES_BIT(bits, i) ((__u32)((bits) >> 9 * (i)) & 511)

/* Whether all seven are set. */
VOLLEY_NAMES_INLINE int volley_names_has(const struct volley_names_line *line, __u64 bits)
{
	__u64 all = 1;
	__u32 i;

#if defined(__bpf__)
#pragma unroll
#endif
	for (i = 0; i < VOLLEY_NAMES_N_BITS; i++) {
		__u64 bit = bounded(bits >> 9 * i, 511);

		all &= load_once(&line->words[bit >> 6]) >> (bit & 63);
	}
	return (int)(all & 1);
}

#endif
