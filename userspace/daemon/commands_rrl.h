/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `rrl status` and `rrl top`: control/ctl_command.h describes a command. USER is a struct rate_limits. */
#ifndef VOLLEY_DAEMON_COMMANDS_RRL_H
#define VOLLEY_DAEMON_COMMANDS_RRL_H

#include <jansson.h>
#include <stddef.h>

int commands_rrl_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_rrl_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
