/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the interval of a zone's NSEC or NSEC3 chain in which a name lies: one proof serves all
 * names in it. The driver and the workers read the intervals, volleyd writes them
 * (userspace/shield/interval_regions.h).
 *
 * A signed zone has a set of points, which are words of 64 bits. A name that does not exist has a
 * closest encloser C, and S is the name one label longer than C. If two such names have the same C,
 * and no point lies between the points of their S, the same records deny both. So C and the largest
 * point below the point of S, the start of the interval, identify a denial.
 *
 *      NSEC    the first 8 octets of the name's first label, folded, zeros behind. Each name of the
 *              zone gives one, whatever its parent is. The order of points is that of labels (RFC
 *              4034 section 6.1), and a point too many only splits an interval.
 *      NSEC3   the first 64 bits of the name's hash. Each owner of an NSEC3 gives one.
 *
 * A name whose point is in the set is uncertain: it may differ from the zone's name after these 64
 * bits. 0 and ~0 are not points, so a name with one of these is uncertain, too.
 *
 * The set is stored in a region: lines of volley_names behind the filter.
 *
 *      head        struct volley_intervals_head
 *      level 0     one line, the root: 8 separators for 9 children
 *      level 1     up to 9 lines: child c of node i of a level is node i * 9 + c of the next one
 *      ...
 *      the last    leaves: 8 words, each a point or 0 (free). A leaf has the points from its
 *                  separator to the next one's.
 *
 * Order of memory: a point is added before a version of the zone that needs it is served. Inner
 * lines do not change. The words of a leaf are filled from the first to the last, each by one
 * store, and read from the last to the first: a worker that finds a point finds all that were added
 * to the leaf before it. The driver looks twice (xdp/memory_order.h). A point is never removed. If
 * a leaf is full, its last word becomes VOLLEY_INTERVALS_MARK, and all names in it are uncertain.
 * When a region is replaced, its id becomes 0, and its lines are used again only after
 * volley_names_state.intervals_id has been 0 for a grace period.
 */
#ifndef VOLLEY_XDP_INTERVALS_H
#define VOLLEY_XDP_INTERVALS_H

#include <linux/types.h>

#include "xdp/abi.h"
#include "xdp/verifier.h"

#define VOLLEY_INTERVALS_INLINE static inline __attribute__((always_inline))

#define VOLLEY_INTERVALS_WORDS    8u /* of a line */
#define VOLLEY_INTERVALS_CHILDREN (VOLLEY_INTERVALS_WORDS + 1)
#define VOLLEY_INTERVALS_LEVELS   8u
#define VOLLEY_INTERVALS_MARK     (~0ull)
/* Octets of the longest salt: zones with a longer one have no region. */
#define VOLLEY_INTERVALS_SALT 8u

enum volley_intervals_kind {
	VOLLEY_INTERVALS_NONE,
	VOLLEY_INTERVALS_NSEC,
	VOLLEY_INTERVALS_NSEC3, /* SHA-1 without further iterations */
};

struct volley_intervals_head {
	__u32 id; /* of this region, below 2^31; 0: not in use */
	__u32 n_levels;
	__u32 kind;
	__u32 salt_bytes;
	/* each level's first line in volley_names */
	__u32 level_at[VOLLEY_INTERVALS_LEVELS];
	__u8 salt[VOLLEY_INTERVALS_SALT];
	__u64 reserved;
};

/* Reads a word of a line once; in userspace also in order with the words read before it. A test
 * defines its own. */
#ifndef VOLLEY_INTERVALS_LOAD
#if defined(__bpf__)
#define VOLLEY_INTERVALS_LOAD(word) load_once(word)
#else
#define VOLLEY_INTERVALS_LOAD(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#endif
#endif

_Static_assert(sizeof(struct volley_intervals_head) == VOLLEY_NAMES_LINE_BYTES, "a cache line");

/* Names with other values are uncertain, and are not looked up. */
VOLLEY_INTERVALS_INLINE int volley_intervals_is_point(__u64 point)
{
	return point && point != VOLLEY_INTERVALS_MARK;
}

/* The point of a folded label: `octets` are its first n, 8 at most. */
VOLLEY_INTERVALS_INLINE __u64 volley_intervals_label_point(const __u8 *octets, __u32 n)
{
	__u64 point = 0;
	__u32 i;

	for (i = 0; i < 8; i++)
		point = point << 8 | (i < n ? octets[i] : 0);
	return point;
}

/* 1 if a < b, else 0, by the borrow of a - b: BPF compares only in branches, and the processor
 * would mispredict half of these. */
VOLLEY_INTERVALS_INLINE __u64 volley_intervals_less(__u64 a, __u64 b)
{
	__u64 borrow = ((~a & b) | ((~a | b) & (a - b))) >> 63;

	one_copy(borrow); /* else clang branches on it */
	return borrow;
}

/* The child of an inner line that leads to the leaf of `point`, 0 to 8. Unused separators are
 * ~0. */
VOLLEY_INTERVALS_INLINE __u32 volley_intervals_child(const struct volley_names_line *line,
						     __u64 point)
{
	__u32 child = VOLLEY_INTERVALS_WORDS, i;

#if defined(__bpf__)
#pragma unroll
#endif
	for (i = 0; i < VOLLEY_INTERVALS_WORDS; i++)
		child -=
			(__u32)volley_intervals_less(point, VOLLEY_INTERVALS_LOAD(&line->words[i]));
	return child;
}

/*
 * 0: *start is the largest point of the leaf below `point`, or 0 if there is none. 1: uncertain.
 * The distance from a word up to `point`, modulo 2^64, is greater than `point` for a word above it,
 * `point` for a free one, and 0 for an equal one. So the largest word below has the least distance.
 * The last word is read first (see above).
 */
VOLLEY_INTERVALS_INLINE int volley_intervals_before(const struct volley_names_line *line,
						    __u64 point, __u64 *start)
{
	__u64 least = point, last = 0;
	__u32 i;

#if defined(__bpf__)
#pragma unroll
#endif
	for (i = VOLLEY_INTERVALS_WORDS; i > 0; i--) {
		__u64 word = VOLLEY_INTERVALS_LOAD(&line->words[i - 1]);
		__u64 distance = point - word;

		if (i == VOLLEY_INTERVALS_WORDS)
			last = word;
		least ^= (least ^ distance) & -volley_intervals_less(distance, least);
	}
	*start = point - least;
	return !least || last == VOLLEY_INTERVALS_MARK || point == VOLLEY_INTERVALS_MARK;
}

#endif
