/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions of intervals (xdp/intervals.h). Control writes them; the driver and workers read them.
 *
 *	intervals_begin()      no regions, all lines free, new ids
 *	intervals_add_zone()   adds the points of a version; serve it then with intervals_of()
 *
 *      | filter of names | head, inner lines, leaves | head, leaf | free       |
 *                        first                                    first + used first + n_lines
 *
 * A region is built with 5 points in each leaf of 8. Points are added until too many leaves are
 * marked; then the region is built anew in other lines. Lines are used again only after
 * intervals_begin(), so the writer does not wait for readers.
 *
 * Control's thread calls all of these, at the same time as the driver and workers read. Any thread
 * calls intervals_find().
 */
#ifndef VOLLEY_SHIELD_INTERVAL_REGIONS_H
#define VOLLEY_SHIELD_INTERVAL_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/intervals.h"

struct zone;

struct intervals_region {
	uint8_t *apex; /* folded wire; NULL: this place of the table is free */
	unsigned int apex_n;
	uint32_t at, id; /* id 0: none */
	enum volley_intervals_kind kind;
	uint32_t n_leaves, n_marked;
	uint64_t n_points;  /* also set if there was no room for the region */
	uint64_t digest[2]; /* of the version that was added last */
};

struct intervals {
	struct volley_names_line *lines; /* all of the mapped volley_names */
	uint32_t first, n_lines;         /* the part of them for regions */
	uint32_t used;                   /* of these */
	uint32_t next_id;
	/* versions without room: their zones have no region, or a full one */
	uint64_t n_refused;
	/* a hash table by apex; an entry stays until intervals_fini() */
	struct intervals_region *regions;
	size_t n_regions, regions_cap; /* regions_cap: a power of two, or 0 */
};

/* A zone's region. at: the number of its head's line; id 0: there is none. */
struct volley_zone_intervals {
	uint32_t at, id;
	enum volley_intervals_kind kind;
};

/* For n_lines of `lines` from `first` on, which outlive it. n_lines 0: there are never any regions.
 * Does not write to them. */
void intervals_init(struct intervals *in, struct volley_names_line *lines, uint32_t first,
		    uint32_t n_lines);

void intervals_fini(struct intervals *in);

/*
 * Ends all regions. New ids are counted from `id` on, which is random, from 1 to 2^31 - 1. Only
 * while no regions are read: the driver's intervals_id has been 0 for a grace period, and no set
 * with a zone's region is served.
 */
void intervals_begin(struct intervals *in, uint32_t id);

/*
 * Puts all points of `zone` into its region. If `old` is the version that was added last, only the
 * points of names that differ are added. Builds a region if there is none, if the chain is of
 * another kind, or if more than one in 32 leaves are marked. Afterwards the zone may be served with
 * the values of intervals_of(). A zone has no region if its chain is not closed, or is of NSEC3
 * that xdp/nsec3.h does not hash; an earlier region is ended.
 *
 * Returns 0, or -ENOMEM or -ENOSPC: no region could be built. An earlier region of the right kind
 * stays, with all points in it; otherwise the zone has none. O(names that differ), or O(names * log
 * names).
 */
int intervals_add_zone(struct intervals *in, const struct zone *zone, const struct zone *old)
	__attribute__((warn_unused_result));

/* Ends the region of the zone. Called before a set without it is served. */
void intervals_end_zone(struct intervals *in, const uint8_t *apex, unsigned int n);

/* True if versions were refused that would have room after intervals_begin(): lines of replaced
 * regions are not used again before that. O(zones). */
bool intervals_are_worn(const struct intervals *in);

/* The region of the zone with this apex (folded wire, n octets), for zone_member.intervals. */
void intervals_of(const struct intervals *in, const uint8_t *apex, unsigned int n,
		  struct volley_zone_intervals *out);

/*
 * The point of a name (folded wire, not the root) by the chain of this zone. False: the zone has no
 * chain for which there are regions. Pure; with NSEC3 one hash.
 */
bool intervals_point(const struct zone *zone, const uint8_t *name, uint64_t *point);

/*
 * Looks for a point like the driver, in the region at line `at` with this id, among n_all_lines of
 * volley_names. 0: *start is the largest point below, or 0 if there is none. 1: uncertain, or not
 * the region with this id. Any thread; reads n_levels + 1 lines.
 */
int intervals_find(const struct volley_names_line *lines, uint32_t n_all_lines, uint32_t at,
		   uint32_t id, uint64_t point, uint64_t *start);

#endif
