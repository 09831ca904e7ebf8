/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions of intervals (xdp/intervals.h) as control has them: control writes them, the driver and
 * workers read them.
 *
 *	intervals_begin()      no regions, all lines free, new ids
 *	intervals_add_zone()   the points of a zone's version; then it is served, with what intervals_of() says
 *
 *      lines    | filter of names | head, inner lines, leaves | head, leaf | ...      free │
 *                                 first                                            used    first + n_lines
 *
 * A region is built with 5 points in each leaf of 8, takes points until too many leaves are marked,
 * and is then built anew at another place. Lines are not used a second time until
 * intervals_begin(), so readers are not waited for.
 *
 * Control's thread calls all of these, but for intervals_find(), beside the driver and workers.
 */
#ifndef VOLLEY_ENGINE_INTERVAL_REGIONS_H
#define VOLLEY_ENGINE_INTERVAL_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/intervals.h"

struct zone;
struct intervals_region;

struct intervals {
	struct volley_names_line *lines; /* volley_names, mapped: all of it */
	uint32_t first, n_lines;         /* the part of it that is for regions */
	uint32_t used;                   /* of these */
	uint32_t next_id;
	/* versions for which there was no room: their zones have none, or one that is full */
	uint64_t n_refused;
	struct intervals_region
		*regions; /* a hash table by apex; an entry stays until intervals_fini() */
	size_t n_regions, regions_cap; /* a power of two, or 0 */
};

/* A zone's region. at: the number of its head's line; id 0: there is none. */
struct volley_zone_intervals {
	uint32_t at, id;
	enum volley_intervals_kind kind;
};

/* Over n_lines (0: there are never any regions) of `lines` from `first` on, which outlive it.
 * Writes nothing to them. */
void intervals_init(struct intervals *in, struct volley_names_line *lines, uint32_t first,
		    uint32_t n_lines);

void intervals_fini(struct intervals *in);

/*
 * Ends all regions; ids go on behind `id`, random, from 1 to 2^31 - 1. Only while nobody reads
 * regions: the driver's intervals_id has been 0 for a grace period, and no set with a zone's region
 * is served.
 */
void intervals_begin(struct intervals *in, uint32_t id);

/*
 * Sees to it that all points of `zone` are in its region; with `old`, if that is the version that
 * was added last, only those of names that differ are added. Builds a region where there is none,
 * the chain is of another kind, or more than one in 32 leaves are marked. When it returns the zone
 * may be served, with what intervals_of() says then. A zone whose chain is not closed, or of NSEC3
 * that xdp/nsec3.h does not hash, has none: what it had is ended.
 *
 * Returns 0, or -ENOMEM or -ENOSPC: no region could be built. A zone that had one of the right kind
 * has it still, and all points are in it; another has none. O(names that differ), or O(names * log
 * names).
 */
int intervals_add_zone(struct intervals *in, const struct zone *zone, const struct zone *old)
	__attribute__((warn_unused_result));

/* The zone has none any more. Before a set without it is served. */
void intervals_end_zone(struct intervals *in, const uint8_t *apex, unsigned int n);

/* Some were refused, and would have room if all began anew: what was replaced is not used again
 * until then. O(zones). */
bool intervals_are_worn(const struct intervals *in);

/* The region of the zone with this apex (folded wire, n octets), for zone_member.intervals. */
void intervals_of(const struct intervals *in, const uint8_t *apex, unsigned int n,
		  struct volley_zone_intervals *out);

/*
 * The point of a name (folded wire, not the root) by the chain of this zone, whose region is asked
 * for it. False: the zone has no chain that regions are made of. Pure; with NSEC3 one hash.
 */
bool intervals_point(const struct zone *zone, const uint8_t *name, uint64_t *point);

/*
 * As the driver looks for a point in the region at line `at` with this id, among n_all_lines of
 * volley_names. 0: *start is the largest point below, or 0 where there is none. 1: uncertain, or
 * that is not the region of this id. Any thread; reads n_levels + 1 lines.
 */
int intervals_find(const struct volley_names_line *lines, uint32_t n_all_lines, uint32_t at,
		   uint32_t id, uint64_t point, uint64_t *start);

/* Octets of lines that a region of so many points takes when it is built. Pure. */
uint64_t intervals_region_bytes(uint64_t n_points);

#endif
