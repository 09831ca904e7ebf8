/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones one after the other: in the order of their names, or of the configuration. */
#include "dns/name.h"
#include "zonemgr/zones_state.h"
#include "zonemgr/zonemgr.h"

/*
 * Zones lie all over memory, and a walk over a million would mostly wait for it. So the lines of an
 * entry are fetched before they are looked at: for a list those of its state and its name, for a
 * report also those of its faults, and then the head of the zone to which it points.
 */
#define FETCH_ENTRY 16u
#define FETCH_ZONE  6u

static void fetch_for_report(struct zones_entry *const *entries, size_t n, size_t i)
{
	const struct zones_entry *entry;

	if (i + FETCH_ENTRY >= n)
		return;
	entry = entries[i + FETCH_ENTRY];
	__builtin_prefetch(&entry->state);
	__builtin_prefetch(&entry->zone);
	__builtin_prefetch(&entry->config);
	__builtin_prefetch(&entry->stored.error);
	zone_fetch(entries[i + FETCH_ZONE]->zone);
}

static void fetch_for_list(struct zones_entry *const *entries, size_t n, size_t i)
{
	const struct zones_entry *entry;

	if (i + FETCH_ENTRY >= n)
		return;
	entry = entries[i + FETCH_ENTRY];
	__builtin_prefetch(&entry->state);
	__builtin_prefetch(&entry->loading.is_queued);
	__builtin_prefetch(entry + 1); /* its names */
}

const struct zones_entry *zones_at(const struct zones *zones, size_t i)
{
	fetch_for_report(zones->entries, zones->n, i);
	return zones->entries[i];
}

/* The place of the first zone that comes after the name or, with is_with, not before it. */
static size_t find_walk_start(const struct zones *zones, const uint8_t *from, bool is_with)
{
	size_t lo = 0, hi = zones->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = name_canonical_cmp(zones->by_apex[mid]->apex, from);

		if (order < 0 || (!order && !is_with))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void zones_walk(const struct zones *zones, const uint8_t *from, bool is_with, zones_walk_fn *each,
		void *user)
{
	for (size_t i = from ? find_walk_start(zones, from, is_with) : 0; i < zones->n; i++) {
		fetch_for_list(zones->by_apex, zones->n, i);
		if (!each(user, zones->by_apex[i]))
			return;
	}
}
