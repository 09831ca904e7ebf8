/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of the control socket: their table, and the functions of those that are only there.
 * Each function is the run() of a row; the comment above it gives its user. */
#ifndef VOLLEY_DAEMON_COMMANDS_H
#define VOLLEY_DAEMON_COMMANDS_H

#include <jansson.h>
#include <stddef.h>

#include "control/ctl_command.h"

/* The user of each row is the daemon. */
extern const struct ctl_command commands[];

/* `config show` and `config diff`: control/ctl_command.h describes a command. USER is a struct
 * zone_service. */

struct zone_service;

int commands_config_show(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);
int commands_config_diff(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

/* The work of `config diff` for the open file FD, whose name is FROM. */
int commands_config_examine(struct zone_service *s, int fd, const char *from, json_t **result,
			    char *err, size_t err_cap);

/*
 * Commands about the rules for clients (abuse/): control/ctl_command.h describes a command. The
 * comment above each gives its user. Control's thread.
 */

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

/*
 * `resolver lookup`, `resolver infra`: control/ctl_command.h describes a command. USER is a struct
 * cache_queries for the first one, a const struct report_view for the second one.
 */

/* NAME [TYPE]: report_lookup(), and the answers that a background walk finds in the cache. */
int commands_resolver_lookup(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap);
/* report_upstreams_all() */
int commands_resolver_infra(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap);

/* Commands about zones that change: ctl_command.run, the user is a struct zone_service. */

int commands_zone_edit(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_add(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_remove(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);
int commands_zone_refresh(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap);
int commands_zone_retransfer(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap);
int commands_zone_notify(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);
int commands_zone_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_ds(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_keys(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_rollover(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap);
int commands_zone_ds_seen(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap);

#endif
