/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a running resolver can report to people: the servers that it asks, their state, and the
 * questions that failed.
 *
 *	resolver threads ─┬─► failure_table.h: whole failures        ┐
 *	                  ├─► targets.h: whole counters              ├─► these functions ─► control
 *	                  └─► forward_board.h: whole values          ┘
 *
 * No thread of the resolver waits, takes a lock or is woken for a report: its threads write and
 * these functions read, all by atomics. Two values of one row may be some microseconds apart.
 *
 * Each resolver thread measures its upstreams by itself, so the forwarder has a row for each thread
 * and upstream. libunbound's public interface does not give what it knows of servers (round trips,
 * timeouts, lame servers). For libunbound there are counts of our own, summed over threads.
 *
 * The process writes, so nothing is believed: each value is copied, and texts and names are
 * checked. While no process runs, there are no rows.
 *
 * Any thread, while the querier is not freed.
 */
#ifndef VOLLEY_QUERIER_INSPECT_H
#define VOLLEY_QUERIER_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "querier/querier.h"
#include "resolver/failure_table.h"
#include "resolver/forward_board.h"
#include "resolver/targets.h"

/* One row of the forwarder, or of the relay that carries libunbound's queries over TLS. */
struct inspect_upstream {
	struct sockaddr_storage address;
	char name[UPSTREAM_NAME_CAP]; /* in its certificate; "": without TLS */
	struct forward_ways ways;
	struct forward_seen seen;
};

/* Upstream i of a thread; false: there is none, or libunbound asks it without the relay. */
bool inspect_upstream(struct querier *q, unsigned int thread, unsigned int i,
		      struct inspect_upstream *out);

/* One row of libunbound. zone lives as long as the querier. */
struct inspect_target {
	const uint8_t *
		/* folded, of a stub or forward zone; NULL: all other names */
		zone;
	struct target_counters counters;
};

/* The number of rows; 0 if the forwarder asks. */
size_t inspect_n_targets(const struct querier *q);
/* Row i < inspect_n_targets(); false: another row has the same zone and its counts. */
bool inspect_target(struct querier *q, size_t i, struct inspect_target *out);
/* The row of a folded name; 0 if the forwarder asks. */
size_t inspect_target_of(const struct querier *q, const uint8_t *folded, uint16_t qtype);

/* Copies the known failures of a folded name (NULL: of all names) from all threads, at most cap, in
 * no order. Returns how many. */
size_t inspect_failures(struct querier *q, const uint8_t *folded, struct failure *out, size_t cap);

#endif
