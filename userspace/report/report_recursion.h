/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of report/report.h about recursion. Control's thread. */
#ifndef VOLLEY_REPORT_REPORT_RECURSION_H
#define VOLLEY_REPORT_REPORT_RECURSION_H

#include <jansson.h>

#include "report/report_view.h"

/* For `status`: the way in which upstreams are asked. A new reference. */
json_t *report_recursion(const struct report_view *v);

/* For `stats`, while there are workers: adds "resolver" and "responder" to o if recursion is on. */
void report_recursion_counters(json_t *o, const struct report_view *v);

#endif
