/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `volleyctl names`: the filter of names that exist. */
#ifndef VOLLEY_DAEMON_COMMANDS_NAMES_H
#define VOLLEY_DAEMON_COMMANDS_NAMES_H

#include <jansson.h>
#include <stddef.h>

/* The run() of struct ctl_commands; the user is the daemon. Control's thread. */
int commands_names(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_names_rebuild(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap);

#endif
