/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `resolver lookup`, `resolver infra`: control/ctl_command.h describes a command. USER is a struct
 * cache_queries for the first one, a const struct report_view for the second one.
 */
#ifndef VOLLEY_DAEMON_COMMANDS_RESOLVER_H
#define VOLLEY_DAEMON_COMMANDS_RESOLVER_H

#include <jansson.h>
#include <stddef.h>

/* NAME [TYPE]: report_lookup(), and the answers that a background walk finds in the cache. */
int commands_resolver_lookup(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap);
/* report_upstreams_all() */
int commands_resolver_infra(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap);

#endif
