/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics of the daemon: the figures of `volleyctl status`, `stats` and `cache stats` that need
 * no walk over the cache. Every counter of the lists of xdp/abi.h, engine, resolver,
 * responder, ports and cache has a line by itself. Zones: daemon/metrics_zones.h.
 */
#ifndef VOLLEY_DAEMON_METRICS_REPORT_H
#define VOLLEY_DAEMON_METRICS_REPORT_H

#include "daemon/daemon.h"
#include "control/metrics_text.h"

/* Also before there are workers. Control's thread. */
void metrics_report(struct daemon *d, struct metrics_text *out);

#endif
