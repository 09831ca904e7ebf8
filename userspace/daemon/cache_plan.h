/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans the sizes of the cache for a configuration. */
#ifndef VOLLEY_DAEMON_CACHE_PLAN_H
#define VOLLEY_DAEMON_CACHE_PLAN_H

#include <stddef.h>

#include "cache/cache.h"
#include "config/config.h"

#define CACHE_PLAN_TEXT_CAP 128

/*
 * Computes the sizes for cache.size, cache.names and cache.intervals, with a slot for each zone of
 * the configuration and for everything else that needs one. 0, or a negative code with a sentence
 * in err: -ENOMEM if cache.size is more than the host's memory; another code if it is too small,
 * and then the sentence names a size that is large enough.
 */
int cache_plan(struct cache_sizes *sizes, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
