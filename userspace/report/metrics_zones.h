/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics of zones: sums of all of them, and each by itself, up to
 * METRICS_ZONES_MAX. All of it is in the entries: no walk over a zone's records, and no other
 * thread is waited for.
 */
#ifndef VOLLEY_REPORT_METRICS_ZONES_H
#define VOLLEY_REPORT_METRICS_ZONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/metrics_text.h"
#include "xdp/abi.h"
#include "zonemgr/zonemgr.h"

/* That are told by themselves: as many as have counters of their own. */
#define METRICS_ZONES_MAX (VOLLEY_COUNT_ZONES - VOLLEY_COUNT_FIRST_ZONE)

/* Zones, and which of them are told by themselves where there are more than METRICS_ZONES_MAX. */
struct metrics_zone_list {
	const struct zones_entry *(*at)(const void *user, size_t i); /* the i-th */
	const void *user;
	size_t n;
	/* Whether it comes before the others; NULL: none does. The answer for a zone stays the
	 * same. */
	bool (*is_first)(const void *first_user, const struct zones_entry *entry);
	const void *first_user;
};

/* All of them, at that time, seconds since 1970. Control's thread. */
void metrics_zones(const struct metrics_zone_list *list, uint64_t now_s, struct metrics_text *out);

#endif
