/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `config show` and `config diff`: control/ctl_command.h describes a command. USER is a struct
 * zone_service. */
#ifndef VOLLEY_DAEMON_COMMANDS_CONFIG_H
#define VOLLEY_DAEMON_COMMANDS_CONFIG_H

#include <jansson.h>
#include <stddef.h>

int commands_config_show(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);
int commands_config_diff(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

#endif
