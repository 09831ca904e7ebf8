/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sizes of a cache that suits a configuration. */
#ifndef VOLLEY_CONTROL_CACHE_PLAN_H
#define VOLLEY_CONTROL_CACHE_PLAN_H

#include <stddef.h>

#include "cache/cache.h"
#include "config/config.h"

#define CACHE_PLAN_TEXT_CAP 128

/*
 * For cache.size, cache.names and cache.intervals, the zones of the configuration, and what else has a slot. 0; or, with a
 * sentence, -ENOMEM where cache.size is more than the host's memory, else a negative code where it is too small: then the sentence
 * has a size that would do.
 */
int cache_plan(struct cache_sizes *sizes, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
