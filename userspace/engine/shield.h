/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The check of the driver's denials by the workers' answers.
 *
 *	driver hands up one of VOLLEY_CHECK_EVERY queries that it could deny ─┐
 *	any other query without an entry in the cache ────────────────────────┴─► worker renders the answer from the zone
 *	     the name exists, and the filter says that it does not ─► shield_check() counts it and notes zone and name
 *	     control, once a second: shield_take() ─► logged; the driver denies nothing of that zone from now on
 *
 * A filter that lacks a name that is served is a fault of ours, or of the memory. The driver then says NXDOMAIN for a
 * name that exists, and no worker sees these queries; so a few that it could deny are answered by workers.
 */
#ifndef VOLLEY_ENGINE_SHIELD_H
#define VOLLEY_ENGINE_SHIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/query.h"
#include "xdp/abi.h"
#include "zone/set.h"

#define SHIELD_PLACES 16u /* zones that can wait for control; a zone always takes the same place */

/* A name that the driver would deny, though it exists. */
struct shield_found {
	uint8_t name[DNS_NAME_MAX]; /* folded wire */
	uint8_t bytes;
	uint8_t apex; /* where the apex of the zone by which it would be denied begins in it */
};

struct shield_place {
	uint32_t state; /* free, being written, or written */
	struct shield_found found;
};

struct shield {
	const struct volley_names_line *lines; /* volley_names; they outlive the engines */
	uint32_t n_lines;                      /* the filter's, and those of intervals */
	struct shield_place places[SHIELD_PLACES];
};

/* Over the lines of a filter, and of intervals behind it. Before there are engines. */
void shield_init(struct shield *shield, const struct volley_names_line *lines, uint32_t n_lines);

/*
 * For a query whose name exists, or a wildcard stands for it (is_expanded), by an answer that was rendered from `set`: true if the driver
 * would say otherwise, by a zone of the set whose names are all in the filter. That is noted for control, or lost if another one
 * waits in its place. Caller's QSBR read section, in which the set was read; no lock, no allocation.
 */
bool shield_check(struct shield *shield, const struct volley_names_state *names,
		  const struct zone_set *set, const struct query *q, bool is_expanded);

/* Takes what was noted; false: nothing is left. One thread at a time. */
bool shield_take(struct shield *shield, struct shield_found *out);

#endif
