/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chained hash table. Each item has the values of its settings as octets, by which settings are
 * compared: fields_put().
 */
#include "config/zone_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "config/fields.h"
#include "config/member.h"

#define FIRST_POOL_BUCKETS 16u

struct pool_item {
	struct pool_item *next;
	struct config_zone *settings; /* a reference */
	uint64_t hash;
	size_t n_octets;
	uint8_t octets[];
};

struct zone_pool {
	struct words_level level;
	struct fields_octets octets; /* of the settings that are looked for */
	/* The last zone whose settings have no pointer but the template's name, and its settings:
	 * most zones are like the one before. NULL: none. */
	struct config_zone last;
	const struct config_zone *last_settings;
	struct pool_item **buckets;
	uint32_t n_buckets; /* a power of two */
	uint32_t n;
};

/* --- References ------------------------------------------------------------------------------- */

/* Of shared settings the count never becomes 0 before the last reference goes. */
static bool has_counted_refs(const struct config_zone *settings)
{
	return __atomic_load_n(&settings->n_refs, __ATOMIC_RELAXED) != 0;
}

const struct config_zone *config_zone_ref(const struct config_zone *settings)
{
	/* Only the count of a shared config_zone changes. */
	struct config_zone *counted = (struct config_zone *)settings;

	if (has_counted_refs(settings))
		__atomic_add_fetch(&counted->n_refs, 1, __ATOMIC_RELAXED);
	return settings;
}

void config_zone_unref(const struct config_zone *settings)
{
	struct config_zone *counted = (struct config_zone *)settings;

	if (!settings || !has_counted_refs(settings) ||
	    __atomic_sub_fetch(&counted->n_refs, 1, __ATOMIC_ACQ_REL))
		return;
	config_zones_free(counted, 1);
}

static bool is_pool_alone(const struct config_zone *settings)
{
	return __atomic_load_n(&settings->n_refs, __ATOMIC_ACQUIRE) == 1;
}

/* --- The table -------------------------------------------------------------------------------- */

struct zone_pool *zone_pool_new(void)
{
	struct zone_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	words_level_of(&pool->level, "zones");
	pool->n_buckets = FIRST_POOL_BUCKETS;
	pool->buckets = calloc(pool->n_buckets, sizeof(struct pool_item *));
	if (pool->buckets)
		return pool;
	free(pool);
	return NULL;
}

static void free_pool_item(struct zone_pool *pool, struct pool_item **at)
{
	struct pool_item *item = *at;

	*at = item->next;
	if (item->settings == pool->last_settings)
		pool->last_settings = NULL;
	config_zone_unref(item->settings);
	free(item);
	pool->n--;
}

void zone_pool_trim(struct zone_pool *pool)
{
	for (uint32_t i = 0; i < pool->n_buckets; i++) {
		struct pool_item **at = &pool->buckets[i];

		while (*at) {
			if (is_pool_alone((*at)->settings))
				free_pool_item(pool, at);
			else
				at = &(*at)->next;
		}
	}
}

void zone_pool_free(struct zone_pool *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->n_buckets; i++)
		while (pool->buckets[i])
			free_pool_item(pool, &pool->buckets[i]);
	free(pool->octets.bytes);
	free(pool->buckets);
	free(pool);
}

size_t zone_pool_n(const struct zone_pool *pool)
{
	return pool->n;
}

/* Without memory the chains become longer. */
static void grow_pool(struct zone_pool *pool)
{
	uint32_t n = 2 * pool->n_buckets;
	struct pool_item **buckets = calloc(n, sizeof(struct pool_item *)), *item;

	if (!buckets)
		return;
	for (uint32_t i = 0; i < pool->n_buckets; i++) {
		while ((item = pool->buckets[i])) {
			pool->buckets[i] = item->next;
			item->next = buckets[item->hash & (n - 1)];
			buckets[item->hash & (n - 1)] = item;
		}
	}
	free(pool->buckets);
	pool->buckets = buckets;
	pool->n_buckets = n;
}

/* --- Sharing ---------------------------------------------------------------------------------- */

/* Name and file are NULL in @zone, so that they make no difference. */
static bool put_settings(struct zone_pool *pool, struct config_zone *zone)
{
	struct fields_octets *octets = &pool->octets;

	octets->n = 0;
	octets->failed = false;
	fields_put(&pool->level, zone, octets);
	/* These two have no row of their own. */
	fields_put_text(octets, zone->template_name);
	fields_put_octets(octets, &zone->is_root_copy, sizeof(zone->is_root_copy));
	return !octets->failed;
}

static struct pool_item *find_settings(const struct zone_pool *pool, uint64_t hash)
{
	struct pool_item *item = pool->buckets[hash & (pool->n_buckets - 1)];

	while (item && (item->hash != hash || item->n_octets != pool->octets.n ||
			memcmp(item->octets, pool->octets.bytes, pool->octets.n) != 0))
		item = item->next;
	return item;
}

/* Makes an item of the octets in the pool, without settings. */
static struct pool_item *new_settings(struct zone_pool *pool, uint64_t hash)
{
	struct pool_item *item = malloc(sizeof(*item) + pool->octets.n);
	struct config_zone *settings = item ? calloc(1, sizeof(*settings)) : NULL;

	if (!settings) {
		free(item);
		return NULL;
	}
	settings->n_refs = 1;
	*item = (struct pool_item){ .settings = settings,
				    .hash = hash,
				    .n_octets = pool->octets.n };
	memcpy(item->octets, pool->octets.bytes, pool->octets.n);
	if (pool->n >= pool->n_buckets)
		grow_pool(pool);
	item->next = pool->buckets[hash & (pool->n_buckets - 1)];
	pool->buckets[hash & (pool->n_buckets - 1)] = item;
	pool->n++;
	return item;
}

/* Settings equal to those of @zone, which has no name and no file. */
static const struct config_zone *share_settings(struct zone_pool *pool, struct config_zone *zone)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "volley settings";
	struct pool_item *item;
	uint64_t hash;

	if (!put_settings(pool, zone))
		return NULL;
	hash = siphash24(key, pool->octets.bytes, pool->octets.n);
	item = find_settings(pool, hash);
	if (item) {
		config_zone_fini(zone);
		return config_zone_ref(item->settings);
	}
	item = new_settings(pool, hash);
	if (!item)
		return NULL;
	*item->settings = *zone;
	item->settings->n_refs = 2; /* the pool's and the caller's */
	*zone = (struct config_zone){ 0 };
	return item->settings;
}

/* True if no field but the template's name points to anything. */
static bool is_flat(const struct zone_pool *pool, struct config_zone *zone)
{
	for (unsigned int i = 0; i < pool->level.n; i++) {
		const struct words_key *key = pool->level.children[i].key;

		if (key->field == WORDS_NO_FIELD || key->field == WORDS_FIELD_NUMBER)
			continue;
		if (key->field == WORDS_FIELD_RULES ?
			    ((struct config_rules *)fields_at(key, zone))->rules != NULL :
			    *(void **)fields_at(key, zone) != NULL)
			return false;
	}
	return true;
}

static bool is_as_last(const struct zone_pool *pool, const struct config_zone *zone)
{
	const struct config_zone *last = &pool->last;
	struct config_zone copy;

	if (!pool->last_settings || !zone->template_name != !last->template_name)
		return false;
	memcpy(&copy, zone, sizeof(copy)); /* with its padding */
	copy.template_name = last->template_name;
	return !memcmp(&copy, last, sizeof(copy)) &&
	       (!zone->template_name || !strcmp(zone->template_name, last->template_name));
}

static const struct config_zone *share_or_repeat(struct zone_pool *pool, struct config_zone *zone)
{
	const struct config_zone *settings;
	struct config_zone before;
	bool is_possible;

	if (is_as_last(pool, zone)) {
		free(zone->template_name);
		*zone = (struct config_zone){ 0 };
		return config_zone_ref(pool->last_settings);
	}
	is_possible = is_flat(pool, zone);
	memcpy(&before, zone, sizeof(before));
	settings = share_settings(pool, zone);
	if (settings && is_possible) {
		memcpy(&pool->last, &before, sizeof(before));
		pool->last.template_name = settings->template_name;
		pool->last_settings = settings;
	}
	return settings;
}

const struct config_zone *zone_pool_share(struct zone_pool *pool, struct config_zone *zone)
{
	char *name = zone->name, *file = zone->file;
	const struct config_zone *settings;

	zone->name = zone->file = NULL;
	settings = share_or_repeat(pool, zone);
	zone->name = name;
	zone->file = file;
	return settings;
}
