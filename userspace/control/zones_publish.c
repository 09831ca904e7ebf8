/* SPDX-License-Identifier: GPL-2.0-only */
/* From what the entries say to what the workers and the XDP programs answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/log.h"
#include "base/siphash.h"
#include "cache/zones.h"
#include "control/zones_internal.h"
#include "zone/set.h"

static const uint8_t digest_key[SIPHASH_KEY_BYTES] = "volley zones v1";

/* --- What answers depend on ---------------------------------------------------------------------- */

/* The zone that the next publish serves; entry->zone is the one of the last. */
static struct zone *next_zone(const struct zones_entry *entry)
{
	return entry->is_due && entry->fresh ? entry->fresh->zone : entry->zone;
}

/*
 * What a zone's cached answers depend on: its content and the settings. Which other zones there are
 * is seen to when that changes, see withdrawal_plan_routes().
 */
static void entry_digest(const struct zones *zones, const struct zones_entry *entry,
			 uint64_t digest[2])
{
	struct {
		uint8_t zone[ZONE_DIGEST_LEN];
		uint64_t settings;
	} parts = { .settings = zones->env.settings_digest };
	const struct zone *zone = next_zone(entry);

	if (zone)
		zone_digest(zone, parts.zone);
	digest[0] = siphash24(digest_key, &parts, sizeof(parts));
	digest[1] = siphash24(parts.zone, &parts, sizeof(parts)); /* 128 bits in all */
}

/* --- Publishing ---------------------------------------------------------------------------------- */

/* What one publish puts in place: members[i] is entries[i]'s. */
struct edition {
	struct zones_entry **entries;
	struct zone_member *members;
	uint64_t (*digests)[2];
	struct withdrawal *withdrawal;
	size_t n;
	bool has_come; /* a zone that was not there before */
};

static void edition_fini(struct edition *edition)
{
	free(edition->entries);
	free(edition->members);
	free(edition->digests);
	withdrawal_free(edition->withdrawal);
}

/* What the loader found out by comparing, if that was with the zone that is served. */
static void take_changes(struct withdrawal_zone *change, struct zones_entry *entry)
{
	struct load *fresh = entry->is_due ? entry->fresh : NULL;

	if (!fresh || !fresh->base || fresh->base != entry->zone)
		return;
	change->is_compared = true;
	change->changes = fresh->changes;
	change->refusal = fresh->refusal;
	fresh->changes = NULL;
	fresh->base = NULL;
}

/*
 * The generation for answers of the next zone: the present one where what changed can be told. Of the
 * zones that an earlier daemon had we know only this: those whose answers we keep were among them.
 */
static void choose_generation(struct zones *zones, struct edition *edition,
			      struct zones_entry *entry, const uint64_t digest[2])
{
	struct withdrawal_zone change = {
		.slot = entry->cache_slot,
		.old_zone = entry->zone,
		.new_zone = next_zone(entry),
		.from = { entry->digest[0], entry->digest[1] },
		.to = { digest[0], digest[1] },
		.told = &entry->withdrawn,
	};
	bool is_same = !memcmp(digest, entry->digest, sizeof(entry->digest));
	bool is_fresh = entry->is_due && entry->fresh, is_kept = true;
	const struct zone_set *served = zones->env.published->set;
	uint32_t gen = 0;

	if (is_fresh || !is_same)
		entry->withdrawn = (struct withdrawn){ .is_known = entry->zone };
	if (entry->zone && entry->settings != zones->env.settings_digest)
		entry->withdrawn.all = "the settings have changed";
	if (entry->zone && !is_same && entry->settings == zones->env.settings_digest) {
		take_changes(&change, entry);
		gen = withdrawal_plan(edition->withdrawal, &change);
	}
	if (gen)
		entry->cache_gen = gen;
	else
		is_kept = cache_zone_prepare(zones->env.cache, entry->apex, entry->apex_len, digest,
					     &entry->cache_slot, &entry->cache_gen);
	if (served)
		edition->has_come |= !zone_set_get(served, entry->apex, entry->apex_len);
	else
		edition->has_come |= zones->env.is_adopted && !is_kept;
}

static int edition_init(struct edition *edition, struct zones *zones)
{
	size_t i;

	*edition = (struct edition){
		.entries = calloc(zones->n + 1, sizeof(struct zones_entry *)),
		.members = calloc(zones->n + 1, sizeof(*edition->members)),
		.digests = calloc(zones->n + 1, sizeof(*edition->digests)),
		.withdrawal = withdrawal_new(zones->env.cache),
	};
	if (!edition->entries || !edition->members || !edition->digests || !edition->withdrawal) {
		edition_fini(edition);
		return -ENOMEM;
	}
	for (i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];
		size_t k = edition->n;

		if (!entry->in_set) {
			cache_zone_begin_change(zones->env.cache, entry->cache_slot, entry->digest);
			continue;
		}
		entry_digest(zones, entry, edition->digests[k]);
		choose_generation(zones, edition, entry, edition->digests[k]);
		edition->members[k] = (struct zone_member){ entry->apex, entry->apex_len,
							    next_zone(entry), entry->cache_slot,
							    entry->cache_gen };
		edition->entries[k] = entry;
		edition->n++;
	}
	return 0;
}

/*
 * Begins the new generations; where the present one goes on, this does nothing. Where a zone has
 * come none stands for any content until others' answers are withdrawn: who adopts one later may
 * take it that this has been done.
 */
static void commit(struct zones *zones, const struct edition *edition)
{
	static const uint64_t none[2];
	size_t i;

	for (i = 0; i < edition->n; i++) {
		struct zones_entry *entry = edition->entries[i];

		cache_zone_commit(zones->env.cache, entry->cache_slot, entry->cache_gen,
				  edition->has_come ? none : edition->digests[i]);
		if (edition->has_come)
			cache_zone_begin_change(zones->env.cache, entry->cache_slot,
						edition->digests[i]);
		memcpy(entry->digest, edition->digests[i], sizeof(entry->digest));
		entry->settings = zones->env.settings_digest;
	}
}

static void end_change(struct zones *zones, const struct edition *edition)
{
	size_t i;

	for (i = 0; edition->has_come && i < edition->n; i++)
		if (edition->entries[i]->cache_slot)
			cache_zone_end_change(zones->env.cache, edition->entries[i]->cache_slot,
					      edition->digests[i]);
}

/* The new set serves. Each entry still has the zone before (entry->zone) beside the new one. */
static int withdraw(struct zones *zones, const struct edition *edition)
{
	int err;

	commit(zones, edition);
	err = zones->env.grace(zones->env.grace_user);
	if (err) {
		withdrawal_give_up(edition->withdrawal);
		return err;
	}
	err = withdrawal_run(edition->withdrawal, zones->env.grace, zones->env.grace_user);
	if (!err)
		end_change(zones, edition);
	return err;
}

static void log_withdrawn(const struct zones_entry *entry)
{
	const struct withdrawn *w = &entry->withdrawn;

	if (!w->is_known)
		return;
	if (w->all)
		log_info("zone %s: all cached answers withdrawn: %s", entry->name, w->all);
	else
		log_info("zone %s: %llu names changed, %llu cached answers withdrawn", entry->name,
			 (unsigned long long)w->n_names, (unsigned long long)w->n_answers);
}

/* The entry's new zone is the one that is served; nobody has the old one. */
static void settle(struct zones *zones, struct zones_entry *entry, bool is_old_free)
{
	struct load *fresh = entry->is_due ? entry->fresh : NULL;

	entry->is_due = false;
	if (fresh) {
		if (is_old_free)
			fresh->old = entry->zone;
		entry->zone = fresh->zone;
		entry->load_ns = fresh->took_ns;
		entry->loaded_wall_s = fresh->ended_wall_s;
		fresh->zone = NULL;
		loader_discard(zones->env.loader, fresh);
		entry->fresh = NULL;
		log_info("zone %s: serial %u, %zu records", entry->name, zone_serial(entry->zone),
			 zone_n_records(entry->zone));
		log_withdrawn(entry);
	}
	if (!entry->zone)
		entry->state = ZONES_FAILED;
	else
		entry->state = *entry->error ? ZONES_STALE : ZONES_SERVING;
}

int zones_publish(struct zones *zones)
{
	struct zone_set *set = NULL, *old;
	struct edition edition;
	int err = edition_init(&edition, zones);
	size_t i;

	if (err)
		return err;
	err = zone_set_new(&set, edition.members, edition.n);
	if (!err && edition.has_come)
		err = withdrawal_plan_routes(edition.withdrawal, set);
	if (err) {
		withdrawal_cancel(edition.withdrawal);
		zone_set_free(set);
	} else {
		old = rcu_xchg_pointer(&zones->env.published->set, set);
		err = withdraw(zones, &edition);
		if (!err)
			zone_set_free(old); /* else somebody may still read it */
		for (i = 0; i < edition.n; i++)
			settle(zones, edition.entries[i], !err);
	}
	edition_fini(&edition);
	return err;
}

int zones_drop_others(struct zones *zones)
{
	uint32_t *keep = calloc(zones->n + zones->env.n_others + 1, sizeof(*keep));
	uint32_t n = 0;
	size_t i;
	int err;

	if (!keep)
		return -ENOMEM;
	for (i = 0; i < zones->n; i++)
		if (zones->entries[i]->in_set)
			keep[n++] = zones->entries[i]->cache_slot;
	for (i = 0; i < zones->env.n_others; i++)
		keep[n++] = zones->env.others[i];
	err = cache_zone_drop_others(zones->env.cache, keep, n);
	free(keep);
	return err;
}
