/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `cache dump` and `cache load`: control/ctl_command.h describes a command. USER is a struct cache_jobs. */
#ifndef VOLLEY_DAEMON_COMMANDS_SNAPSHOT_H
#define VOLLEY_DAEMON_COMMANDS_SNAPSHOT_H

#include <jansson.h>
#include <stddef.h>

int commands_cache_dump(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_cache_load(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
