/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of daemon/report.h about recursion. Control's thread. */
#ifndef VOLLEY_DAEMON_REPORT_RECURSION_H
#define VOLLEY_DAEMON_REPORT_RECURSION_H

#include <jansson.h>

#include "daemon/daemon.h"

/* For `status`: how upstreams are asked. A new reference. */
json_t *report_recursion(const struct daemon *d);

/* For `stats`, into o: "resolver" and "responder", where there is a resolver. While there are workers. */
void report_recursion_counters(json_t *o, const struct daemon *d);

#endif
