/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is told of zones to metrics.listen: sums of all of them, and each by itself where there are not too
 * many. All of it is in the entries: no walk over a zone's records, and no other thread is waited for.
 */
#ifndef VOLLEY_CONTROL_METRICS_ZONES_H
#define VOLLEY_CONTROL_METRICS_ZONES_H

#include <stddef.h>

#include "control/metrics_text.h"
#include "zonemgr/zones.h"

#define METRICS_ZONES_MAX 1000u /* of more zones only the sums are told */

/* All n of them, the i-th by at(), at that time, seconds since 1970. Control's thread. */
typedef const struct zones_entry *metrics_zone_at(const void *user, size_t i);
void metrics_zones(metrics_zone_at *at, const void *user, size_t n, uint64_t now_s,
		   struct metrics_text *out);

#endif
