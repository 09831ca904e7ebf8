/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands about recursion.rpz and recursion.local-data. control/ctl_command.h describes a
 * command. USER is a const struct report_view.
 */
#ifndef VOLLEY_DAEMON_COMMANDS_POLICY_H
#define VOLLEY_DAEMON_COMMANDS_POLICY_H

#include <jansson.h>
#include <stddef.h>

int commands_policy_list(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

#endif
