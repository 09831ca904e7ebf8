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
	struct zones_entry *entries;
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
	} parts = { .settings = zones->env.settings_digest };
	size_t i;

	if (entry->zone)
		zone_digest(entry->zone, parts.zone);
	for (i = 0; i < zones->n; i++) {
		const struct zones_entry *other = &zones->entries[i];

		if (other != entry && name_is_under(other->apex, entry->apex))
			parts.below += siphash24(key, other->apex, other->apex_len);
	}
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

/* Moves the zone of this name over from the entries before, so that it serves if its file is bad. */
static void entry_inherit(struct zones_entry *entry, struct zones_entry *before, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!before[i].zone || strcmp(before[i].name, entry->name))
			continue;
		entry->zone = before[i].zone;
		entry->state = ZONES_STALE;
		entry->load_ns = before[i].load_ns;
		entry->loaded_wall_s = before[i].loaded_wall_s;
		before[i].zone = NULL;
		return;
	}
}

static void entries_free(struct zones_entry *entries, size_t n)
{
	size_t i;

	for (i = 0; entries && i < n; i++)
		entry_fini(&entries[i]);
	free(entries);
}

/* New entries for `config`; nothing is loaded, and nothing moved. */
static int entries_new(struct zones_entry **out, const struct config *config)
{
	struct zones_entry *entries = calloc(config->n_zones + 1, sizeof(*entries));
	int err = entries ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !err && i < config->n_zones; i++)
		err = entry_init(&entries[i], &config->zones[i]);
	if (err)
		entries_free(entries, config->n_zones);
	else
		*out = entries;
	return err;
}

int zones_configure(struct zones *zones, const struct config *config)
{
	struct zones_entry *before = zones->entries, *entries;
	size_t n_before = zones->n, i;
	struct zone **old = calloc(config->n_zones + 1, sizeof(struct zone *));
	int err = old ? entries_new(&entries, config) : -ENOMEM;

	if (err) {
		free(old);
		return err;
	}
	for (i = 0; i < config->n_zones; i++) {
		entry_inherit(&entries[i], before, n_before);
		if (entry_load(&entries[i], &old[i]))
			continue; /* it says so itself */
	}
	zones->entries = entries;
	zones->n = config->n_zones;
	err = publish(zones);
	if (!err)
		err = drop_others(zones);
	for (i = 0; !err && i < config->n_zones; i++)
		zone_free(old[i]); /* after an error the old set is still read: leaked, not torn */
	if (!err)
		entries_free(before, n_before);
	free(old);
	return err;
}

static struct zones_entry *find(const struct zones *zones, const char *name)
{
	uint8_t wire[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	int len = name_from_text(wire, sizeof(wire), name, strlen(name));
	size_t i;

	if (len < 0)
		return NULL;
	name_fold(folded, wire, (size_t)len);
	for (i = 0; i < zones->n; i++)
		if (zones->entries[i].apex_len == (unsigned int)len &&
		    !memcmp(zones->entries[i].apex, folded, (size_t)len))
			return &zones->entries[i];
	return NULL;
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
	entries_free(zones->entries, zones->n);
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
