/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/zones.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/siphash.h"
#include "cache/zones.h"
#include "dns/name.h"

struct zones {
	struct zones_env env;
	struct zones_entry *entries; /* in the order of the configuration */
	struct zones_entry **by_apex;
	size_t n;
};

static int entry_init(struct zones_entry *entry, const struct config_zone *config)
{
	uint8_t wire[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	int len = name_from_text(wire, sizeof(wire), config->name, strlen(config->name));

	*entry = (struct zones_entry){ .state = ZONES_FAILED };
	if (len < 0)
		return len;
	entry->apex_len = (unsigned int)len;
	name_fold(folded, wire, (size_t)len);
	memcpy(entry->apex, folded, (size_t)len);
	entry->name = strdup(config->name);
	entry->file = strdup(config->file);
	return entry->name && entry->file ? 0 : -ENOMEM;
}

static void entry_fini(struct zones_entry *entry)
{
	zone_free(entry->zone);
	free(entry->name);
	free(entry->file);
	*entry = (struct zones_entry){ .state = ZONES_FAILED };
}

/* --- By name ------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct zones_entry *const *x = a, *const *y = b;

	if ((*x)->apex_len != (*y)->apex_len)
		return (*x)->apex_len < (*y)->apex_len ? -1 : 1;
	return memcmp((*x)->apex, (*y)->apex, (*x)->apex_len);
}

/* The entry of this apex, in folded wire form, or NULL. */
static struct zones_entry *search(const struct zones *zones, const uint8_t *apex, unsigned int len)
{
	struct zones_entry wanted = { .apex_len = len }, *key = &wanted, **at;

	memcpy(wanted.apex, apex, len);
	at = zones->n ? bsearch(&key, zones->by_apex, zones->n, sizeof(struct zones_entry *),
				compare) :
			NULL;
	return at ? *at : NULL;
}

/* Tells every zone above this one, up to the root. Sums, since their order is of no meaning. */
static void tell_above(const struct zones *zones, const struct zones_entry *entry)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "volley zones v1";
	uint64_t hash = siphash24(key, entry->apex, entry->apex_len);
	struct zones_entry *above;
	unsigned int at = 0;

	while (entry->apex[at]) {
		at += 1u + entry->apex[at];
		above = search(zones, entry->apex + at, entry->apex_len - at);
		if (above)
			above->below += hash;
	}
}

/* --- Loading ------------------------------------------------------------------------------------- */

static void note_error(struct zones_entry *entry, int code, const struct zone_error *err)
{
	if (err->line)
		snprintf(entry->error, sizeof(entry->error), "%s:%u: %s", err->file, err->line,
			 err->sentence);
	else
		snprintf(entry->error, sizeof(entry->error), "%s: %s", entry->file,
			 *err->sentence ? err->sentence : err_text(code));
	if (entry->zone)
		entry->state = ZONES_STALE;
	log_error("zone %s: %s%s", entry->name, entry->error,
		  entry->zone ? "; the earlier version keeps serving" : "");
}

/* Reads the file. On success the entry has the new zone and *old the one before. */
static int entry_load(struct zones_entry *entry, struct zone **old)
{
	uint64_t start_ns = clock_ns();
	struct zone_error err;
	struct zone *zone;
	int code = zone_load_file(&zone, entry->name, entry->file, &err);

	*old = NULL;
	if (code) {
		note_error(entry, code, &err);
		return code;
	}
	*old = entry->zone;
	entry->zone = zone;
	entry->state = ZONES_SERVING;
	entry->load_ns = clock_ns() - start_ns;
	entry->loaded_wall_s = clock_wall_s();
	entry->error[0] = 0;
	snprintf(entry->warning, sizeof(entry->warning), "%s", err.warning);
	if (err.n_warnings)
		log_warn("zone %s: %s", entry->name, err.warning);
	log_info("zone %s: serial %u, %zu records", entry->name, zone_serial(zone),
		 zone_n_records(zone));
	return 0;
}

/* --- Publishing ---------------------------------------------------------------------------------- */

/*
 * What a zone's cached answers depend on: its content, the settings, and which zones below it are
 * served by themselves.
 */
static void entry_digest(const struct zones *zones, const struct zones_entry *entry,
			 uint64_t digest[2])
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "volley zones v1";
	struct {
		uint8_t zone[ZONE_DIGEST_LEN];
		uint64_t settings;
		uint64_t below;
	} parts = { .settings = zones->env.settings_digest, .below = entry->below };

	if (entry->zone)
		zone_digest(entry->zone, parts.zone);
	digest[0] = siphash24(key, &parts, sizeof(parts));
	digest[1] = siphash24(parts.zone, &parts, sizeof(parts)); /* 128 bits in all */
}

/* Swaps the set in, then makes the generations good that it carries. */
static int publish(struct zones *zones)
{
	struct zone_member *members = calloc(zones->n + 1, sizeof(*members));
	uint64_t(*digests)[2] = calloc(zones->n + 1, sizeof(*digests));
	struct zone_set *set = NULL, *old;
	int err = members && digests ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !err && i < zones->n; i++) {
		struct zones_entry *entry = &zones->entries[i];

		entry_digest(zones, entry, digests[i]);
		cache_zone_prepare(zones->env.cache, entry->apex, entry->apex_len, digests[i],
				   &entry->cache_slot, &entry->cache_gen);
		members[i] = (struct zone_member){ entry->apex, entry->apex_len, entry->zone,
						   entry->cache_slot, entry->cache_gen };
	}
	if (!err)
		err = zone_set_new(&set, members, zones->n);
	if (!err) {
		old = rcu_xchg_pointer(&zones->env.published->set, set);
		for (i = 0; i < zones->n; i++)
			cache_zone_commit(zones->env.cache, zones->entries[i].cache_slot,
					  zones->entries[i].cache_gen, digests[i]);
		err = zones->env.grace(zones->env.grace_user);
		if (!err)
			zone_set_free(old); /* else somebody may still read it */
	}
	free(members);
	free(digests);
	return err;
}

/* Withdraws what the cache holds of zones that are not served (any more). */
static int drop_others(struct zones *zones)
{
	uint32_t *keep = calloc(zones->n + 1, sizeof(*keep));
	size_t i;
	int err;

	if (!keep)
		return -ENOMEM;
	for (i = 0; i < zones->n; i++)
		keep[i] = zones->entries[i].cache_slot;
	err = cache_zone_drop_others(zones->env.cache, keep, (uint32_t)zones->n);
	free(keep);
	return err;
}

/* --- Configuration ------------------------------------------------------------------------------- */

/* Moves the zone of this name over from before, so that it serves if its file is bad. */
static void entry_inherit(struct zones_entry *entry, const struct zones *before)
{
	struct zones_entry *old = search(before, entry->apex, entry->apex_len);

	if (!old || !old->zone)
		return;
	entry->zone = old->zone;
	entry->state = ZONES_STALE;
	entry->load_ns = old->load_ns;
	entry->loaded_wall_s = old->loaded_wall_s;
	old->zone = NULL;
}

static void entries_free(struct zones *zones)
{
	size_t i;

	for (i = 0; zones->entries && i < zones->n; i++)
		entry_fini(&zones->entries[i]);
	free(zones->entries);
	free(zones->by_apex);
}

/* Makes entries for `config`; nothing is loaded, and nothing moved. */
static int entries_new(struct zones *zones, const struct config *config)
{
	int err = 0;
	size_t i;

	zones->n = config->n_zones;
	zones->entries = calloc(zones->n + 1, sizeof(*zones->entries));
	zones->by_apex = calloc(zones->n + 1, sizeof(struct zones_entry *));
	if (!zones->entries || !zones->by_apex)
		err = -ENOMEM;
	for (i = 0; !err && i < zones->n; i++) {
		err = entry_init(&zones->entries[i], &config->zones[i]);
		zones->by_apex[i] = &zones->entries[i];
	}
	if (err) {
		entries_free(zones);
		return err;
	}
	qsort(zones->by_apex, zones->n, sizeof(struct zones_entry *), compare);
	for (i = 0; i < zones->n; i++)
		tell_above(zones, &zones->entries[i]);
	return 0;
}

int zones_configure(struct zones *zones, const struct config *config)
{
	struct zone **old = calloc(config->n_zones + 1, sizeof(struct zone *));
	struct zones before = *zones, now = *zones;
	int err = old ? entries_new(&now, config) : -ENOMEM;
	size_t i;

	if (err) {
		free(old);
		return err;
	}
	for (i = 0; i < now.n; i++) {
		entry_inherit(&now.entries[i], &before);
		if (entry_load(&now.entries[i], &old[i]))
			continue; /* it says so itself */
	}
	*zones = now;
	err = publish(zones);
	if (!err)
		err = drop_others(zones);
	for (i = 0; !err && i < now.n; i++)
		zone_free(old[i]); /* after an error the old set is still read: leaked, not torn */
	if (!err)
		entries_free(&before);
	free(old);
	return err;
}

static struct zones_entry *find(const struct zones *zones, const char *name)
{
	uint8_t wire[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	int len = name_from_text(wire, sizeof(wire), name, strlen(name));

	if (len < 0)
		return NULL;
	name_fold(folded, wire, (size_t)len);
	return search(zones, folded, (unsigned int)len);
}

int zones_reload(struct zones *zones, const char *name)
{
	struct zones_entry *only = name ? find(zones, name) : NULL;
	struct zone **old = calloc(zones->n + 1, sizeof(struct zone *));
	int first = 0, err;
	size_t i;

	if (!old)
		return -ENOMEM;
	if (name && !only) {
		free(old);
		return ERR_NOT_FOUND;
	}
	for (i = 0; i < zones->n; i++) {
		if (only && only != &zones->entries[i])
			continue;
		err = entry_load(&zones->entries[i], &old[i]);
		if (!first)
			first = err;
	}
	err = publish(zones);
	for (i = 0; !err && i < zones->n; i++)
		zone_free(old[i]); /* after an error the old set is still read: leaked, not torn */
	free(old);
	return err ? err : first;
}

int zones_flush(struct zones *zones, const char *name)
{
	struct zones_entry *only = name ? find(zones, name) : NULL;
	size_t i;

	if (name && !only)
		return ERR_NOT_FOUND;
	for (i = 0; i < zones->n; i++)
		if (!only || only == &zones->entries[i])
			cache_zone_flush(zones->env.cache, zones->entries[i].cache_slot);
	return publish(zones);
}

int zones_new(struct zones **out, const struct zones_env *env)
{
	struct zones *zones = calloc(1, sizeof(*zones));

	if (!zones)
		return -ENOMEM;
	zones->env = *env;
	*out = zones;
	return 0;
}

void zones_free(struct zones *zones)
{
	if (!zones)
		return;
	zone_set_free(rcu_xchg_pointer(&zones->env.published->set, NULL));
	entries_free(zones);
	free(zones);
}

size_t zones_n(const struct zones *zones)
{
	return zones->n;
}

const struct zones_entry *zones_at(const struct zones *zones, size_t i)
{
	return &zones->entries[i];
}

const struct zones_entry *zones_find(const struct zones *zones, const char *name)
{
	return find(zones, name);
}
