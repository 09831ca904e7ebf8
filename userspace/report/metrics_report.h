/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics of the daemon: the figures of `volleyctl status`, `stats` and `cache stats` that need
 * no walk over the cache. Each counter in the lists of xdp/abi.h, engine, resolver, responder,
 * ports and cache gets its line automatically. Zones: report/metrics_zones.h.
 */
#ifndef VOLLEY_REPORT_METRICS_REPORT_H
#define VOLLEY_REPORT_METRICS_REPORT_H

#include "report/report_view.h"
#include "control/metrics_text.h"

/* May be called before there are workers. Control's thread. */
void metrics_report(const struct report_view *v, struct metrics_text *out);

#endif
