/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands that are a walk over the whole cache: cache stats, lookup and flush. The walk is a
 * job (base/background.h), in parts, and the reply comes when it is over; so neither control's thread nor
 * an answer waits for it. Each is the run() of a struct ctl_command; the user pointer is the struct
 * daemon.
 */
#ifndef VOLLEY_CONTROL_CACHE_ASK_H
#define VOLLEY_CONTROL_CACHE_ASK_H

#include <jansson.h>
#include <stddef.h>

#include "control/cache_match.h"
#include "control/daemon.h"

/* [-n N]: report_cache(), and the census with the N zones that take most. */
int cache_ask_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* NAME [TYPE] */
int cache_ask_lookup(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/*
 * For a command of another file: the answers that match, a name, are added to the object o as "cache", and o is the reply. The
 * reference to o is taken. CTL_LATER, or a negative code with a sentence in err.
 */
int cache_ask_add(struct daemon *d, const struct cache_match *match, json_t *o, char *err,
		  size_t err_cap);

/* See cache_match_read(). When the reply comes, neither driver nor workers give a withdrawn answer. */
int cache_ask_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
