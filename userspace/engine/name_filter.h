/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter of names that exist (xdp/names.h) as control has it: control writes it, the driver and
 * the engine read it.
 *
 *	names_begin()      a new, empty filter with a new id; or names_adopt(): that of an earlier daemon goes on
 *	names_add_apex()   each apex of a zone set      ┐
 *	names_add_zone()   each name of a zone version  ┴─► then the set or the version is served, with the filter's id
 *
 * What is added stays until the next names_begin(). So a name that leaves its zone stays known, and
 * its queries go up. A name that is served and not known would be denied by the driver: each caller
 * adds first and serves then.
 *
 * Behind the filter lie the intervals of signed zones (engine/interval_regions.h), if there are
 * lines for them; a zone's are added with its names.
 *
 * While the cache is resized there are two states, one for the programs of each cache; each change
 * is written to both.
 *
 * Control's thread calls all of these, beside the driver and workers.
 */
#ifndef VOLLEY_ENGINE_NAME_FILTER_H
#define VOLLEY_ENGINE_NAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/keeper.h"
#include "engine/interval_regions.h"
#include "xdp/abi.h"
#include "xdp/names.h"

struct zone;

#define NAMES_BYTES_MIN (64u << 10) /* a smaller filter is full at once */

struct names {
	struct volley_names_line *lines; /* volley_names, mapped */
	uint32_t n_lines;
	struct volley_names_state *states[2]; /* the second one during a resize, else NULL */
	/* names that were added and not known before, apexes and what is above them too */
	uint64_t n_added;
	uint64_t n_gone; /* names that no zone has any more, and that are known all the same */
	struct intervals intervals;
};

/* Over n_lines (at least 1) of `lines` and a state; both outlive it. Writes nothing. */
void names_init(struct names *names, struct volley_names_line *lines, uint32_t n_lines,
		struct volley_names_state *state);

/* The n_lines of `lines` behind the filter's are for intervals: none, until this is called. Before
 * names_begin(). */
void names_init_intervals(struct names *names, uint32_t n_lines);

/* Frees what intervals have allocated; the lines and the state stay as they are. */
void names_fini(struct names *names);

/* Whether state and lines are those of one filter that an earlier daemon began: then it goes on as
 * it is. Pure. */
bool names_adopt(const struct names *names);

/*
 * Begins a filter with a new id, secret keys and no names, and intervals with new ids and no zones.
 * The id is 0 first, so the driver denies nothing; `grace` waits for all programs that may still
 * read the one before; the new id comes last. 0, or what `grace` returned, or -errno of
 * getrandom(2): then the id stays 0.
 */
int names_begin(struct names *names, cache_grace_fn *grace, void *user)
	__attribute__((warn_unused_result));

/*
 * Only the intervals are begun: those of an earlier daemon end, whose filter goes on. Each zone is
 * added anew then. Returns as names_begin().
 */
int names_begin_intervals(struct names *names, cache_grace_fn *grace, void *user)
	__attribute__((warn_unused_result));

/* The driver denies nothing from now on; programs that run may still do so. */
void names_end(struct names *names);

/*
 * From now on the programs read `first`, and during a resize `second` as well (else NULL). A state
 * that was not there before gets what the others have. Before any program or writer uses it.
 */
void names_set_states(struct names *names, struct volley_names_state *first,
		      struct volley_names_state *second);

/* Of the filter; 0: there is none, and no zone's names are in it. */
static inline uint32_t names_id(const struct names *names)
{
	return names ? __atomic_load_n(&names->states[0]->id, __ATOMIC_RELAXED) : 0;
}

/*
 * Adds an apex (folded wire, n octets) of a zone, be it one that cannot be served, and all names
 * above it. When it returns the zone may be served. O(labels).
 */
void names_add_apex(struct names *names, const uint8_t *apex, unsigned int n);

/*
 * Adds each name of `zone`, empty non-terminals included, with its marks; with `old` (of the same
 * apex), which has been added before, only what differs. When it returns the zone may be served.
 * O(names), or O(names that differ) between versions of one image. Allocates for a difference;
 * without memory all names are added. Its intervals are added, too: intervals_add_zone(); where
 * they have no room intervals.n_refused grows.
 */
void names_add_zone(struct names *names, const struct zone *zone, const struct zone *old);

/* The hash of a name or of its suffix: `name` is folded wire form of n octets, the root's among
 * them. Pure, any thread. */
static inline uint64_t names_hash_of(const __u64 keys[static VOLLEY_NAME_BYTES],
				     const uint8_t *name, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += volley_names_part(keys, name[i], n - 1 - i);
	return volley_names_hash(sum);
}

enum names_verdict {
	NAMES_NONE,   /* there is no filter, or no zone's apex at or above the name */
	NAMES_MAYBE,  /* it may exist */
	NAMES_DENIED, /* it does not, nor does what is below names_walk.unknown */
	/* the same, but the wildcard below names_walk.encloser stands for it, if that is there */
	NAMES_EXPANDED,
};

/* Where a walk came to: octets into the name. */
struct names_walk {
	unsigned int apex;     /* of the zone that the name is in */
	unsigned int encloser; /* the longest suffix that the filter knows */
	unsigned int unknown;  /* unless all are known: the shortest that it does not */
	/* NAMES_MAYBE, since the walk passed a cut or a DNAME, or a wildcard's parent before
	 * others */
	bool is_stopped;
	uint64_t apex_hash;
};

/*
 * What the driver makes of a name (folded wire, n octets) that has no entry in the cache: the walk
 * of xdp/deny.h, for types of data. It does not tell whether the zone has a denial. `walk` is set
 * unless it is NAMES_NONE. Pure, any thread, O(octets).
 */
enum names_verdict names_walk(struct names_walk *walk, const struct volley_names_line *lines,
			      const struct volley_names_state *state, const uint8_t *name,
			      unsigned int n);

/* Whether the name (folded wire) with this mark may have been added; false: it has not. True where
 * there is no filter. */
bool names_may_exist(const struct names *names, const uint8_t *name, enum volley_name_mark mark);

/* So many names of a zone are not served any more: names_add_zone() notes by itself what its
 * difference has. */
void names_note_gone(struct names *names, uint64_t n);

/* Shares from 0 to 1. */
struct names_use {
	double fill; /* of the bits, those that are set */
	/* of names that were not added, those that are known all the same */
	double false_positives;
};

/* O(lines). */
void names_read_use(const struct names *names, struct names_use *out);

static inline double names_fill(const struct names *names)
{
	struct names_use use;

	names_read_use(names, &use);
	return use.fill;
}

/*
 * Whether a new filter with the n_live names that are served would spare the workers many queries:
 * a quarter of what is known has gone, or one name of a hundred is known by mistake and what has
 * gone has its part in that; or intervals_are_worn(). Pure.
 */
bool names_is_worn(const struct names *names, const struct names_use *use, uint64_t n_live);

#endif
