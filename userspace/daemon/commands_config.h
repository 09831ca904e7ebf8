/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `config show` and `config diff`: control/ctl_command.h describes a command. USER is a struct
 * zone_service. */
#ifndef VOLLEY_DAEMON_COMMANDS_CONFIG_H
#define VOLLEY_DAEMON_COMMANDS_CONFIG_H

#include <jansson.h>
#include <stddef.h>

struct zone_service;

int commands_config_show(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);
int commands_config_diff(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

/* The work of `config diff` for the open file FD, whose name is FROM. */
int commands_config_examine(struct zone_service *s, int fd, const char *from, json_t **result,
			    char *err, size_t err_cap);

#endif
