/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics of zones: sums over all zones, and single zones up to METRICS_ZONES_MAX. All figures
 * are in the entries, so this walks over no records and waits for no other thread.
 */
#ifndef VOLLEY_REPORT_METRICS_ZONES_H
#define VOLLEY_REPORT_METRICS_ZONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/metrics_text.h"
#include "xdp/abi.h"
#include "zonemgr/zonemgr.h"

/* Zones with metrics of their own: as many as have counters of their own. */
#define METRICS_ZONES_MAX (VOLLEY_COUNT_ZONES - VOLLEY_COUNT_FIRST_ZONE)

/* All zones. If they are more than METRICS_ZONES_MAX, is_first() chooses those that come first. */
struct metrics_zone_list {
	const struct zones_entry *(*at)(const void *user, size_t i); /* the i-th */
	const void *user;
	size_t n;
	/* True for a zone that comes before the others; the same for each call. NULL: no order. */
	bool (*is_first)(const void *first_user, const struct zones_entry *entry);
	const void *first_user;
};

/* Writes all metrics of zones at now_s, in seconds since 1970. Control's thread. */
void metrics_zones(const struct metrics_zone_list *list, uint64_t now_s, struct metrics_text *out);

#endif
