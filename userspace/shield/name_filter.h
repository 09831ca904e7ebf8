/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter of names that exist (xdp/names.h). Control writes it; driver and engine read it.
 *
 *	names_begin()      starts a new, empty filter with a new id
 *	names_adopt()      or: the filter of an earlier daemon stays in use
 *	names_add_apex()   each apex of a zone set      ┐
 *	names_add_zone()   each name of a zone version  ┴─► then the set or the version is served
 *
 * A name that was added stays until the next names_begin(). So the filter still knows a name that
 * has left its zone, and queries for it go up. The driver would deny a name that is served but not
 * known, so each caller adds the names first and serves them then.
 *
 * The lines after those of the filter, if there are any, hold the intervals of signed zones
 * (shield/interval_regions.h). The intervals of a zone are added with its names.
 *
 * During a resize of the cache there are two states, one for the programs of each cache. Each
 * change is written to both.
 *
 * Control's thread calls these functions, unless a comment names another thread. The driver and the
 * workers read at the same time.
 */
#ifndef VOLLEY_SHIELD_NAME_FILTER_H
#define VOLLEY_SHIELD_NAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/keeper.h"
#include "shield/interval_regions.h"
#include "xdp/abi.h"
#include "xdp/names.h"

struct zone;

#define NAMES_BYTES_MIN (64u << 10) /* a smaller filter would be full at once */

struct names {
	struct volley_names_line *lines; /* volley_names, mapped */
	uint32_t n_lines;
	struct volley_names_state *states[2]; /* the second one only during a resize, else NULL */
	/* names that were added and not known before; apexes and the names above them count too */
	uint64_t n_added;
	uint64_t n_gone; /* names that are in no zone any more, but that the filter still knows */
	struct intervals intervals;
};

/* Uses n_lines (at least 1) of `lines` and a state; both must outlive it. Writes nothing. */
void names_init(struct names *names, struct volley_names_line *lines, uint32_t n_lines,
		struct volley_names_state *state);

/* The n_lines lines after those of the filter hold intervals. Without this call there are no
 * intervals. Call it before names_begin(). */
void names_init_intervals(struct names *names, uint32_t n_lines);

/* Frees the memory of the intervals. The lines and the state stay as they are. */
void names_fini(struct names *names);

/* True if an earlier daemon began this filter for these lines: it then stays in use. Pure. */
bool names_adopt(const struct names *names);

/*
 * Begins a filter with a new id, secret keys and no names, and intervals with new ids and no zones.
 * The id is set to 0 first, so the driver denies nothing. `grace` waits for all programs that may
 * still read the old filter. The new id is set last. Returns 0, the error of `grace`, or -errno of
 * getrandom(2). After an error the id stays 0.
 */
int names_begin(struct names *names, cache_grace_fn *grace, void *user)
	__attribute__((warn_unused_result));

/*
 * Begins only the intervals: those of an earlier daemon end, but its filter stays in use. The
 * caller then adds each zone again. Returns as names_begin().
 */
int names_begin_intervals(struct names *names, cache_grace_fn *grace, void *user)
	__attribute__((warn_unused_result));

/* The driver denies nothing from now on. A program that already runs may still deny. */
void names_end(struct names *names);

/*
 * From now on the programs read `first`, and during a resize `second` too (else NULL). A new state
 * gets a copy of the present one. Call this before a program or a writer uses the new state.
 */
void names_set_states(struct names *names, struct volley_names_state *first,
		      struct volley_names_state *second);

/* The id of the filter; 0: no filter has the names of any zone. */
static inline uint32_t names_id(const struct names *names)
{
	return names ? __atomic_load_n(&names->states[0]->id, __ATOMIC_RELAXED) : 0;
}

/*
 * Adds an apex (folded wire form, n octets) and all names above it, also for a zone that cannot be
 * served. The zone may be served after this call. O(labels).
 */
void names_add_apex(struct names *names, const uint8_t *apex, unsigned int n);

/*
 * Adds each name of `zone` with its marks, also empty non-terminals. With `old`, a version of the
 * same zone that was added before, it adds only the difference. The zone may be served after this
 * call. O(names), or O(names that differ) between versions of one image. A difference needs memory;
 * without memory all names are added. The zone's intervals are added too (intervals_add_zone()); if
 * they have no room, intervals.n_refused grows.
 */
void names_add_zone(struct names *names, const struct zone *zone, const struct zone *old);

/* The hash of a name or suffix: folded wire form, n octets with the root's. Pure, any thread. */
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
	NAMES_DENIED, /* it does not exist, and no name at or below names_walk.unknown does */
	/* the same, but the wildcard below names_walk.encloser, if there is one, stands for it */
	NAMES_EXPANDED,
};

/* Where a walk ended. The numbers are offsets of octets in the name. */
struct names_walk {
	unsigned int apex;     /* of the zone that has the name */
	unsigned int encloser; /* the longest suffix that the filter knows */
	unsigned int unknown;  /* the shortest suffix that the filter does not know, if any */
	/* the verdict is NAMES_MAYBE because the walk passed a cut or a DNAME, or found a known
	 * name below a wildcard's parent */
	bool is_stopped;
	uint64_t apex_hash;
};

/*
 * What the driver decides about a name (folded wire form, n octets) that has no entry in the cache:
 * the walk of xdp/deny.h for data types. It does not tell if the zone has a denial. `walk` is set
 * unless the result is NAMES_NONE. Pure, any thread, O(octets).
 */
enum names_verdict names_walk(struct names_walk *walk, const struct volley_names_line *lines,
			      const struct volley_names_state *state, const uint8_t *name,
			      unsigned int n);

/* n names of a zone are not served any more. names_add_zone() counts those that it finds itself. */
void names_note_gone(struct names *names, uint64_t n);

/* Shares from 0 to 1. */
struct names_use {
	double fill; /* of all bits: those that are set */
	/* of the names that were not added: those that the filter knows all the same */
	double false_positives;
};

/* O(lines). */
void names_read_use(const struct names *names, struct names_use *out);

/*
 * True if a new filter with the n_live names that are served would spare the workers many queries:
 * more than 1000 names and a quarter of the known ones are gone; or one name of a hundred is known
 * by mistake, and fewer than three quarters of what the filter holds is served; or
 * intervals_are_worn(). Pure.
 */
bool names_is_worn(const struct names *names, const struct names_use *use, uint64_t n_live);

#endif
