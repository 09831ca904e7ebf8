/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the interval of its zone's chain in which a name lies (xdp/intervals.h), in the driver.
 *
 *      the shortest suffix that the filter does not know ─► its point
 *        ─► root, ..., leaf ─► the largest point below
 */
#ifndef VOLLEY_XDP_INTERVAL_H
#define VOLLEY_XDP_INTERVAL_H

#include "xdp/abi.h"
#include "xdp/intervals.h"
#include "xdp/nsec3.h"
#include "xdp/packet.h"

int interval_look(struct volley_cpu *cpu, __u32 at, __u32 id);

static __always_inline const void *interval_line(__u32 number)
{
	return bpf_map_lookup_elem(&volley_names, &number);
}

/* The point of the first label of the unknown suffix. */
static __always_inline __u64 interval_label_point(const struct volley_cpu *cpu)
{
	const __u8 *label = (const __u8 *)&cpu->folded[1] + bounded(cpu->unknown_at, DNS_NAME_MAX);
	__u64 octets = *(const __u64 *)(label + 1);
	__u32 n = label[0];

	if (n < 8)
		octets &= (1ull << 8 * (n & 7)) - 1;
	return bpf_be64_to_cpu(octets);
}

/* *point is the unknown suffix's point in this region's chain: 0. Or 1: it has none. */
static __always_inline int interval_point(struct volley_cpu *cpu,
					  const struct volley_intervals_head *head, __u64 *point)
{
	__u32 kind = load_once(&head->kind);

	if (kind == VOLLEY_INTERVALS_NSEC) {
		*point = interval_label_point(cpu);
		return 0;
	}
	if (kind != VOLLEY_INTERVALS_NSEC3)
		return 1;
	cpu->nsec3_salt = *(const __u64 *)head->salt;
	cpu->nsec3_salt_bytes = head->salt_bytes;
	if (nsec3_point(cpu, cpu->unknown_at))
		return 1;
	*point = cpu->interval_point;
	return 0;
}

/*
 * -1 if interval_look() would find the same again, or a reason to go up. The id is checked, too: a
 * region that was replaced gets no more points, so its leaf would never change.
 */
static __always_inline int interval_again(const struct volley_cpu *cpu, __u32 at, __u32 id)
{
	const struct volley_intervals_head *head = interval_line(at);
	const struct volley_names_line *leaf = interval_line(cpu->interval_leaf);
	__u64 start;

	if (!head || load_once(&head->id) != id || !leaf ||
	    volley_intervals_before(leaf, cpu->interval_point, &start) || start != cpu->interval)
		return VOLLEY_UP_MAYBE;
	return -1;
}

/* The number of a point's leaf, or a number that no line has. */
static __always_inline __u32 interval_leaf(const struct volley_intervals_head *head, __u64 point)
{
	__u32 node = 0, level;

	for (level = 0; level < VOLLEY_INTERVALS_LEVELS - 1; level++) {
		const struct volley_names_line *line;

		if (level + 1 >= load_once(&head->n_levels))
			break;
		line = interval_line(load_once(&head->level_at[level]) + node);
		if (!line)
			return ~0u;
		node = node * VOLLEY_INTERVALS_CHILDREN + volley_intervals_child(line, point);
	}
	return load_once(&head->level_at[level]) + node;
}

/*
 * Looks in the region with this id whose head is line `at`. -1, and cpu->interval is the first
 * point of the interval; or a reason to go up.
 */
__noinline int interval_look(struct volley_cpu *cpu, __u32 at, __u32 id)
{
	const struct volley_intervals_head *head = interval_line(at);
	const struct volley_names_line *leaf;
	__u64 point, start;
	__u32 number;

	if (!cpu || !head || !id || load_once(&head->id) != id)
		return VOLLEY_UP_MISS;
	if (interval_point(cpu, head, &point))
		return VOLLEY_UP_MISS;
	if (!volley_intervals_is_point(point))
		return VOLLEY_UP_MAYBE;
	number = interval_leaf(head, point);
	leaf = interval_line(number);
	if (!leaf)
		return VOLLEY_UP_MISS;
	if (volley_intervals_before(leaf, point, &start))
		return VOLLEY_UP_MAYBE;
	cpu->interval = start;
	cpu->interval_point = point;
	cpu->interval_leaf = number;
	return -1;
}

#endif
