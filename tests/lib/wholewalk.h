/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A walk over all entries of a cache in one part, for a test without other threads. */
#ifndef VOLLEY_TESTS_LIB_WHOLEWALK_H
#define VOLLEY_TESTS_LIB_WHOLEWALK_H

#include "cache/entry_walk.h"

static inline uint64_t whole_walk(struct cache *cache, walk_visit *visit, void *user)
{
	size_t at = 0;

	return cache_walk_part(cache, &at, cache_walk_end(cache), visit, user);
}

#endif
