/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `cookies`, `cookies rotate`: control/ctl_command.h describes a command. USER is a struct cookies. */
#ifndef VOLLEY_DAEMON_COMMANDS_COOKIES_H
#define VOLLEY_DAEMON_COMMANDS_COOKIES_H

#include <jansson.h>
#include <stddef.h>

int commands_cookies(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_cookies_rotate(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap);

#endif
