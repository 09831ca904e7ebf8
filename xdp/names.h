/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter of all names that exist in our zones: what it does not know does not exist. The driver reads it, volleyd
 * writes it (userspace/engine/name_filter.h).
 *
 *      name ─► hash of each suffix ─► a line of 64 octets, 7 of its 512 bits        (a blocked Bloom filter)
 *
 * In it are: every owner of records and every empty non-terminal of every zone, and what stands above an apex; and besides,
 * marked, each name behind which the walk has more to do: the apex of a zone, also of one that cannot be served; a zone
 * cut or a DNAME; the parent of a wildcard. A name or a mark that is not there has never been added. One that is there may
 * be of another: then the query goes up.
 *
 *      com                     known
 *      example.com             known, marked: an apex
 *      b.example.com           known
 *      a.b.example.com         unknown: nothing at or below it exists
 *
 * A suffix is known by a hash of 64 bits: the sum of its octets, folded, times secret numbers, one for each distance from
 * the name's end. So one pass gives the hashes of all suffixes. Two suffixes with one hash would be one name here: a
 * query more goes up.
 *
 * Order of memory: a name is added before the zone that has it is served; bits are only ever set while volley_names_state.id
 * stays what it is. Who clears them sets it to 0 first, and waits for a grace period.
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
	VOLLEY_NAME_MARKED, /* has one of the following */
	VOLLEY_NAME_APEX,
	VOLLEY_NAME_STOP, /* what is below it is not the zone's to deny: a cut, a DNAME */
	VOLLEY_NAME_WILD, /* there is a wildcard below it */
};

/* What an octet adds to the sum of each suffix that it is in; it is so far from the name's end, the root's octet 0. */
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

/* Seven numbers of 9 bits: which bits of its line a name has with this mark. */
VOLLEY_NAMES_INLINE __u64 volley_names_bits(__u64 hash, enum volley_name_mark mark)
{
	return (hash + (__u64)mark * 0xd6e8feb86659fd93ull) * VOLLEY_NAMES_MIX >> 1;
}

#define VOLLEY_NAMES_BIT(bits, i) ((__u32)((bits) >> 9 * (i)) & 511)

/* Whether all of them are set. */
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
