/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `cache resize`: control/ctl_command.h describes a command. USER is a struct cache_jobs. */
#ifndef VOLLEY_DAEMON_COMMANDS_RESIZE_H
#define VOLLEY_DAEMON_COMMANDS_RESIZE_H

#include <jansson.h>
#include <stddef.h>

int commands_cache_resize(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap);

#endif
