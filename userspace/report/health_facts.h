/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's side of volleyctl health: collects the facts for report/health.h.
 *
 * {healthy, reasons:[sentence...], warnings:[sentence...], drained, state,
 * services:["ADDRESS@PORT"...]}
 *
 * Control's thread.
 */
#ifndef VOLLEY_REPORT_HEALTH_FACTS_H
#define VOLLEY_REPORT_HEALTH_FACTS_H

#include <jansson.h>

#include "report/report_view.h"

/* The run() of the command `health`: the user is a const struct report_view. */
int health_facts_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* Once a second, while there are workers: looks at each worker. */
void health_facts_tick(struct health_watch *watch, const struct workers *workers,
		       const struct zones *zones, bool is_ready);

/* True if `health` without options would find no reason. */
bool health_facts_is_well(const struct report_view *v);

#endif
