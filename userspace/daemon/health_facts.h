/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's side of volleyctl health and drain: the facts for daemon/health.h.
 *
 * {healthy, reasons:[sentence...], warnings:[sentence...], drained, state, services:["ADDRESS@PORT"...]}
 *
 * Control's thread.
 */
#ifndef VOLLEY_DAEMON_HEALTH_FACTS_H
#define VOLLEY_DAEMON_HEALTH_FACTS_H

#include <jansson.h>

#include "daemon/daemon.h"

/* Commands: the user is the daemon. */
int health_ask(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int health_ask_drain(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* Once a second, while there are workers. */
void health_ask_tick(struct daemon *d);

/* Whether `health` without options would find no reason. */
bool health_ask_is_well(const struct daemon *d);

#endif
