/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/zone_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/zone_pool.h"
#include "dns/name.h"

#define FIRST_BUCKETS 64

/* FNV-1a: the operator chooses the names, so no attacker can make them collide. */
static uint32_t hash_of_zone_table(const uint8_t *apex, size_t n)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ apex[i]) * 16777619u;
	return hash;
}

struct transfer_zone *transfer_zones_find(const struct transfer_zones *zones, const uint8_t *apex)
{
	size_t n = name_bytes(apex);
	uint32_t hash = hash_of_zone_table(apex, n);

	if (!zones->buckets)
		return NULL;
	for (struct transfer_zone *z = zones->buckets[hash & zones->mask]; z; z = z->next) {
		if (z->hash == hash && z->apex_len == n && !memcmp(z->apex, apex, n))
			return z;
	}
	return NULL;
}

static void grow_zone_table(struct transfer_zones *zones)
{
	uint32_t n = zones->buckets ? 2 * (zones->mask + 1) : FIRST_BUCKETS;
	struct transfer_zone **buckets = calloc(n, sizeof(struct transfer_zone *));
	struct transfer_zone *next;

	if (!buckets)
		return;
	for (uint32_t i = 0; zones->buckets && i <= zones->mask; i++) {
		for (struct transfer_zone *z = zones->buckets[i]; z; z = next) {
			next = z->next;
			z->next = buckets[z->hash & (n - 1)];
			buckets[z->hash & (n - 1)] = z;
		}
	}
	free(zones->buckets);
	zones->buckets = buckets;
	zones->mask = n - 1;
}

int transfer_zones_insert(struct transfer_zones *zones, struct transfer_zone *zone)
{
	struct transfer_zone **bucket;

	if (!zones->buckets || zones->n > zones->mask)
		grow_zone_table(zones);
	if (!zones->buckets)
		return -ENOMEM;
	bucket = &zones->buckets[zone->hash & zones->mask];
	zone->next = *bucket;
	*bucket = zone;
	zones->n++;
	return 0;
}

void transfer_zones_remove(struct transfer_zones *zones, struct transfer_zone *zone)
{
	struct transfer_zone **at = &zones->buckets[zone->hash & zones->mask];

	while (*at != zone)
		at = &(*at)->next;
	*at = zone->next;
	zones->n--;
}

struct transfer_zone *transfer_zones_next(const struct transfer_zones *zones,
					  const struct transfer_zone *zone)
{
	uint32_t i = zone ? (zone->hash & zones->mask) + 1 : 0;

	if (zone && zone->next)
		return zone->next;
	for (; zones->buckets && i <= zones->mask; i++) {
		if (zones->buckets[i])
			return zones->buckets[i];
	}
	return NULL;
}

struct transfer_zone *transfer_zone_new(const uint8_t *apex, const struct config_zone *config)
{
	unsigned int n = (unsigned int)name_bytes(apex);
	struct transfer_zone *zone = calloc(1, sizeof(*zone) + n);

	if (!zone)
		return NULL;
	zone->apex_len = n;
	memcpy(zone->apex, apex, zone->apex_len);
	zone->hash = hash_of_zone_table(apex, zone->apex_len);
	zone->config = config_zone_ref(config);
	return zone;
}

void transfer_zone_free(struct transfer_zone *zone)
{
	if (zone)
		config_zone_unref(zone->config);
	free(zone);
}

void transfer_zone_adopt(struct transfer_zone *zone, struct transfer_zone *from)
{
	const struct config_zone *old = zone->config;

	zone->config = from->config;
	from->config = old;
	transfer_zone_free(from);
}
