/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands that are a walk over the whole cache: cache stats, lookup and flush. The walk is a
 * chore (base/chore.h), in parts, and the reply comes when it is over; so neither control's thread nor
 * an answer waits for it. Each is the run() of a struct ctl_command; the user pointer is the struct
 * daemon.
 */
#ifndef VOLLEY_CONTROL_CACHE_ASK_H
#define VOLLEY_CONTROL_CACHE_ASK_H

#include <jansson.h>
#include <stddef.h>

/* [-n N]: report_cache(), and the census with the N zones that take most. */
int cache_ask_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* NAME [TYPE] */
int cache_ask_lookup(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* See cache_match_read(). When the reply comes, nobody gives an answer that was withdrawn. */
int cache_ask_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
