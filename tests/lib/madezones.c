/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/madezones.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/must.h"
#include "zonemgr/zones_state.h"

void madezones_set(struct zones *zones, struct zones_entry *const *entries, size_t n)
{
	free(zones->entries);
	free(zones->by_apex);
	zones->n = zones->cap = n;
	zones->entries = calloc(n, sizeof(struct zones_entry *));
	zones->by_apex = calloc(n, sizeof(struct zones_entry *));
	MUST(zones->entries && zones->by_apex);
	for (size_t i = 0; i < n; i++) {
		entries[i]->owner = zones;
		entries[i]->at = (uint32_t)i;
		zones->entries[i] = zones->by_apex[i] = entries[i];
	}
	qsort(zones->by_apex, n, sizeof(struct zones_entry *), zones_compare);
}

struct zones *madezones_new(const struct zones_env *env, struct zones_entry *const *entries,
			    size_t n)
{
	struct zones *zones;

	MUST(!zones_new(&zones, env));
	madezones_set(zones, entries, n);
	return zones;
}

void madezones_free(struct zones *zones)
{
	free(zones->entries);
	free(zones->by_apex);
	free(zones->queue.entries);
	zone_pool_free(zones->pool);
	free(zones);
}

struct zones_env *madezones_env(struct zones *zones)
{
	return &zones->env;
}

bool madezones_has_made(const struct zones *zones)
{
	return zones->made;
}

bool madezones_is_journaled(const struct zones *zones)
{
	return zones->made && zones->made->is_journaled;
}

bool madezones_has_changed(const struct zones *zones)
{
	return zones->changed;
}
