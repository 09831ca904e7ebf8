/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics of the daemon: the figures of `volleyctl status`, `stats` and `cache stats` that need
 * no walk over the cache. Each counter in the lists of xdp/abi.h, engine, resolver, responder,
 * ports and cache gets its line automatically. Zones have a
 * list of their own: metrics_zones().
 */
#ifndef VOLLEY_REPORT_METRICS_REPORT_H
#define VOLLEY_REPORT_METRICS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/metrics_text.h"
#include "report/answers.h"
#include "report/report_view.h"
#include "xdp/abi.h"
#include "zonemgr/zonemgr.h"

/* May be called before there are workers. Control's thread. */
void metrics_report(const struct report_view *v, struct metrics_text *out);

/*
 * The metrics of zones: sums over all zones, and single zones up to METRICS_ZONES_MAX. All figures
 * are in the entries, so this walks over no records and waits for no other thread.
 */

/* Zones with metrics of their own: as many as have counters of their own. */
#define METRICS_ZONES_MAX ANSWERS_ZONES_MAX

/* All zones. If they are more than METRICS_ZONES_MAX, n_first of them come first, and then others,
 * of which is_first() is false. */
struct metrics_zone_list {
	const struct zones_entry *(*at)(const void *user, size_t i); /* the i-th */
	const void *user;
	size_t n;
	const struct zones_entry *first[METRICS_ZONES_MAX];
	size_t n_first;
	bool (*is_first)(const void *first_user, const struct zones_entry *entry);
	const void *first_user;
};

/* Writes all metrics of zones at now_s, in seconds since 1970. Control's thread. */
void metrics_zones(const struct metrics_zone_list *list, uint64_t now_s, struct metrics_text *out);

/* The metrics process_*, with the names of Prometheus' client libraries. */

/*
 * Processor time, memory, file descriptors and start time of this process. A value that cannot be
 * read is left out. Control's thread.
 */
void metrics_process(struct metrics_text *out);

#endif
