/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands about the rules for clients (policy/): control/ctl_command.h describes a command. The
 * comment above each gives its user. Control's thread.
 */
#ifndef VOLLEY_DAEMON_COMMANDS_POLICY_H
#define VOLLEY_DAEMON_COMMANDS_POLICY_H

#include <jansson.h>
#include <stddef.h>

/* A struct block_book, NULL until it is open. */
int commands_block_add(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_block_remove(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap);
int commands_block_list(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* A struct rate_limits. */
int commands_rrl_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_rrl_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* A struct cookies. */
int commands_cookies(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_cookies_rotate(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap);

/* A const struct report_view. */
int commands_policy_list(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

#endif
