/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Publishing: from the entries to the set of the workers and the answers of the XDP programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/log.h"
#include "base/siphash.h"
#include "cache/generations.h"
#include "shield/name_filter.h"
#include "shield/shield.h"
#include "xfr/xfr_message.h"
#include "zone/set.h"
#include "zonemgr/entry.h"
#include "zonemgr/loader.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"

static const uint8_t digest_key[SIPHASH_KEY_BYTES] = "volley zones v1";

/* --- Digests ---------------------------------------------------------------------------------- */

/* True if the driver must not deny names of the zone: by configuration, or after a worker has found
 * a wrong answer. */
static bool is_never_denied(const struct zones_entry *entry)
{
	return entry->denials_fault || entry->config->driver_denials == CONFIG_DENIALS_OFF;
}

/* The settings that answers of the zone depend on. They include is_never_denied(), so that cached
 * denials die when it becomes true. */
static uint64_t settings_of(const struct zones *zones, const struct zones_entry *entry)
{
	return zones->env.settings_digest ^ (is_never_denied(entry) ? 1ull << 63 : 0);
}

/* The version that the next publish serves; entry->zone is that of the last one. */
static struct zone *next_zone(const struct zones_entry *entry)
{
	const struct load *fresh = entry->loading.is_due ? entry->loading.fresh : NULL;

	if (entry->is_expired && !(fresh && fresh->source == LOAD_TRANSFER))
		return NULL;
	return fresh ? fresh->zone : zones_newest(entry);
}

/* The digest of a zone's content and settings, on which its cached answers depend. They also depend
 * on which other zones there are: see withdrawal_plan_routes(). */
static void entry_digest(const struct zones *zones, const struct zones_entry *entry,
			 uint64_t digest[2])
{
	struct {
		uint8_t zone[ZONE_DIGEST_LEN];
		uint64_t settings;
	} parts = { .settings = settings_of(zones, entry) };
	const struct zone *zone = next_zone(entry);

	if (zone)
		zone_digest(zone, parts.zone);
	digest[0] = siphash24(digest_key, &parts, sizeof(parts));
	digest[1] = siphash24(parts.zone, &parts, sizeof(parts)); /* 128 bits in all */
}

/* --- Names ------------------------------------------------------------------------------------ */

/*
 * The filter that has all names of the zone when it is served, for the set. 0 for a zone whose
 * names the driver must not deny. Its names are in the filter nevertheless, because denials of a
 * zone above it must not cover them.
 */
static uint32_t names_id_of(const struct zones *zones, const struct zones_entry *entry)
{
	if (!next_zone(entry) || is_never_denied(entry) || zones_is_hidden(entry))
		return 0;
	return names_id(zones->env.names);
}

/* Adds the zone's names to the filter; only the differences if the filter has the names of the
 * version before. Of a new entry no names are known to be there, even in an adopted filter. */
static void add_names(struct names *names, const struct zones_entry *entry)
{
	const struct zone *next = next_zone(entry);
	bool is_known = entry->zone && entry->published.names_id == names_id(names);

	names_add_apex(names, entry->apex, entry->apex_len);
	if (!next && is_known)
		names_note_gone(names, zone_n_names(entry->zone));
	if (next && !(is_known && next == entry->zone))
		names_add_zone(names, next, is_known ? entry->zone : NULL);
}

/* --- The list of changed entries -------------------------------------------------------------- */

void zones_mark_changed(struct zones *zones, struct zones_entry *entry)
{
	if (entry->published.is_changed)
		return;
	entry->published.is_changed = true;
	entry->published.next_changed = zones->changed;
	zones->changed = entry;
}

static size_t forget_changed(struct zones *zones)
{
	struct zones_entry *entry = zones->changed;
	size_t n = 0;

	for (; entry; entry = entry->published.next_changed, n++)
		entry->published.is_changed = false;
	zones->changed = NULL;
	return n;
}

/* --- Publishing ------------------------------------------------------------------------------- */

/* What one publish puts in place: members[i] belongs to entries[i]. */
struct edition {
	struct zones_entry **entries;
	struct zone_member *members;
	uint64_t (*digests)[2];
	struct withdrawn *withdrawn; /* is_known: there was another version */
	struct withdrawal *withdrawal;
	size_t n;
	struct zones_entry **gone; /* of a publish of a few: they are taken out */
	size_t n_gone;
	bool is_few;
	bool has_come; /* there is a zone that was not served before */
	/* names below a cut, for which upstream has answered, may now belong to a zone of ours */
	bool moves_cuts;
	/* a zone has come (of a few: not), or gone, or has a new generation */
	bool is_new;
};

static void edition_fini(struct edition *edition)
{
	free(edition->entries);
	free(edition->gone);
	free(edition->members);
	free(edition->digests);
	free(edition->withdrawn);
	withdrawal_free(edition->withdrawal);
}

/* Takes the loader's comparison, if it was made with the served version. */
static void take_changes(struct withdrawal_zone *change, struct zones_entry *entry)
{
	struct load *fresh = entry->loading.is_due ? entry->loading.fresh : NULL;

	if (!fresh || !fresh->base || fresh->base != entry->zone)
		return;
	change->is_compared = true;
	change->changes = fresh->changes;
	change->refusal = fresh->refusal;
	fresh->changes = NULL;
}

/* Another version follows. After a time without one there is nothing to tell about the change. */
static void begin_telling(struct zones_entry *entry, struct withdrawn *told)
{
	told->is_known = entry->zone;
	if (entry->zone)
		return;
	free(entry->published.withdrawn);
	entry->published.withdrawn = NULL;
}

/*
 * Chooses the generation for answers of the next version: the present one if the changed answers
 * are known. About the zones of an earlier daemon we know only that those whose answers we keep
 * were among them.
 */
static void choose_generation(struct zones *zones, struct edition *edition,
			      struct zones_entry *entry, const uint64_t digest[2],
			      struct withdrawn *told)
{
	struct withdrawal_zone change = {
		.slot = entry->published.slot,
		.old_zone = entry->zone,
		.new_zone = next_zone(entry),
		.from = { entry->published.digest[0], entry->published.digest[1] },
		.to = { digest[0], digest[1] },
		.told = told,
	};
	bool is_same = !memcmp(digest, entry->published.digest, sizeof(entry->published.digest));
	bool is_fresh = entry->loading.is_due && entry->loading.fresh, is_kept = true;
	bool is_set_anew = entry->zone && entry->published.settings != settings_of(zones, entry);
	const struct zone_set *served = zones->env.published->set;
	bool is_come;
	uint32_t gen = 0;

	if (is_fresh || !is_same)
		begin_telling(entry, told);
	if (is_set_anew)
		told->all = "the settings have changed";
	if (entry->zone && change.new_zone && !is_same && !is_set_anew) {
		take_changes(&change, entry);
		gen = withdrawal_plan(edition->withdrawal, &change);
	}
	if (gen)
		entry->published.gen = gen;
	else
		is_kept = cache_zone_prepare(zones->env.cache, entry->apex, entry->apex_len, digest,
					     &entry->published.slot, &entry->published.gen);
	zones->has_uncached |= !entry->published.slot;
	is_come = served ? !zone_set_get(served, entry->apex, entry->apex_len) :
			   zones->env.is_adopted && !is_kept;
	edition->has_come |= is_come;
	if (zones->env.published->recursion && change.new_zone && !is_same)
		edition->moves_cuts |= !gen || withdrawal_moves_cuts(edition->withdrawal);
	/* A zone that comes among others has no answers that would have to end. */
	edition->is_new |= edition->is_few ? !is_kept && !is_come : is_come || !is_kept;
}

static int edition_init(struct edition *edition, struct zones *zones, size_t cap)
{
	*edition = (struct edition){
		.entries = calloc(cap + 1, sizeof(struct zones_entry *)),
		.members = calloc(cap + 1, sizeof(*edition->members)),
		.digests = calloc(cap + 1, sizeof(*edition->digests)),
		.withdrawn = calloc(cap + 1, sizeof(*edition->withdrawn)),
		.withdrawal = withdrawal_new(zones->env.cache),
	};
	if (edition->entries && edition->members && edition->digests && edition->withdrawn &&
	    edition->withdrawal)
		return 0;
	edition_fini(edition);
	return -ENOMEM;
}

static void edition_add(struct edition *edition, struct zones *zones, struct zones_entry *entry)
{
	size_t k = edition->n++;

	entry_digest(zones, entry, edition->digests[k]);
	choose_generation(zones, edition, entry, edition->digests[k], &edition->withdrawn[k]);
	edition->members[k] = (struct zone_member){ .apex = entry->apex,
						    .apex_len = entry->apex_len,
						    .zone = next_zone(entry),
						    .cache_slot = entry->published.slot,
						    .cache_gen = entry->published.gen,
						    .names_id = names_id_of(zones, entry) };
	edition->entries[k] = entry;
}

/* To be called before any of them is served. Also sets the members' regions of intervals, which may
 * have changed. */
static void edition_add_names(const struct edition *edition, const struct zones *zones)
{
	struct names *names = zones->env.names;
	struct volley_zone_intervals found;

	for (size_t i = 0; names && i < edition->n; i++) {
		struct zone_member *m = &edition->members[i];

		add_names(names, edition->entries[i]);
		if (!m->names_id)
			continue;
		intervals_of(&names->intervals, m->apex, m->apex_len, &found);
		m->intervals.at = found.at;
		m->intervals.id = found.id;
	}
}

/* The names of zones that are not served any more stay in the filter: counts them as gone. */
static void note_gone(struct names *names, struct zones_entry *entry)
{
	if (!names || zones_is_for_clients(entry) || !entry->zone ||
	    entry->published.names_id != names_id(names))
		return;
	names_note_gone(names, zone_n_names(entry->zone));
	intervals_end_zone(&names->intervals, entry->apex, entry->apex_len);
	entry->published.names_id = 0;
}

static int edition_of_all(struct edition *edition, struct zones *zones)
{
	int err = edition_init(edition, zones, zones->n);

	zones->has_uncached = false;
	edition->has_come = zones->is_half_put;
	for (size_t i = 0; i < zones->n && !err; i++) {
		struct zones_entry *entry = zones->entries[i];

		if (zones_is_for_clients(entry)) {
			edition_add(edition, zones, entry);
		} else if (!zones_is_answered(entry) || entry->published.slot) {
			edition->is_new = true;
			cache_zone_begin_change(zones->env.cache, entry->published.slot,
						entry->published.digest);
		}
	}
	return err;
}

/*
 * Begins the new generations; does nothing for those that stay. If a zone has come, no generation
 * has a digest until the answers of other zones are withdrawn. So a daemon that adopts a generation
 * may rely on that.
 */
static void commit_publish(struct zones *zones, const struct edition *edition)
{
	static const uint64_t none[2];
	size_t i;

	for (i = 0; i < edition->n; i++) {
		struct zones_entry *entry = edition->entries[i];

		cache_zone_commit(zones->env.cache, entry->published.slot, entry->published.gen,
				  edition->has_come ? none : edition->digests[i]);
		if (edition->has_come)
			cache_zone_begin_change(zones->env.cache, entry->published.slot,
						edition->digests[i]);
		memcpy(entry->published.digest, edition->digests[i],
		       sizeof(entry->published.digest));
		entry->published.settings = settings_of(zones, entry);
	}
}

static void end_change_publish(struct zones *zones, const struct edition *edition)
{
	size_t i;

	for (i = 0; edition->has_come && i < edition->n; i++)
		if (edition->entries[i]->published.slot)
			cache_zone_end_change(zones->env.cache, edition->entries[i]->published.slot,
					      edition->digests[i]);
}

/*
 * Waits until answers rendered from the old set are in the cache. The driver does not render: it is
 * waited for only if a new generation has ended answers, else by withdrawal_run(), after the
 * withdrawal.
 */
static int wait_for_renderers(const struct zones *zones, const struct edition *edition)
{
	if (edition->is_new || !zones->env.grace_userspace)
		return zones->env.grace(zones->env.grace_user);
	return zones->env.grace_userspace(NULL);
}

/* Until end_edition() the cache may have answers of other versions than the served one
 * (engine/shared_answer.h). */
static void begin_edition(const struct zones *zones)
{
	if (zones->env.published->shield)
		shield_begin_edition(zones->env.published->shield);
}

static void end_edition(const struct zones *zones)
{
	if (zones->env.published->shield)
		shield_end_edition(zones->env.published->shield);
}

/* The new set serves: withdraws old answers. Each entry still has the old version (entry->zone)
 * beside the new one. */
static int withdraw_publish(struct zones *zones, const struct edition *edition)
{
	int err;

	commit_publish(zones, edition);
	err = wait_for_renderers(zones, edition);
	if (err) {
		withdrawal_give_up(edition->withdrawal);
		return err;
	}
	err = withdrawal_run(edition->withdrawal, zones->env.grace, zones->env.grace_user);
	if (err)
		return err;
	end_change_publish(zones, edition);
	end_edition(zones);
	return 0;
}

/* Keeps the report of a change until the next one. Without memory there is none. */
static void note_withdrawn(struct zones_entry *entry, const struct withdrawn *w)
{
	struct withdrawn *kept = entry->published.withdrawn;

	if (!w->is_known)
		return;
	if (!kept)
		kept = entry->published.withdrawn = malloc(sizeof(*kept));
	if (kept)
		*kept = *w;
}

static void log_withdrawn(const struct zones_entry *entry)
{
	const struct withdrawn *w = entry->published.withdrawn;

	if (!w)
		return;
	if (w->all)
		log_info("zone %s: all cached answers withdrawn: %s", entry->name, w->all);
	else
		log_info("zone %s: %llu names changed, %llu cached answers withdrawn", entry->name,
			 (unsigned long long)w->n_names, (unsigned long long)w->n_answers);
}

/* Notes and logs the load of the new version, which is entry->zone. */
static void settle_fresh(struct zones_entry *entry, const struct load *fresh)
{
	entry->load_ns = fresh->took_ns;
	entry->loaded_wall_s = fresh->ended_wall_s;
	log_info("zone %s: serial %u, %zu records", entry->name, zone_serial(entry->zone),
		 zone_n_records(entry->zone));
	log_withdrawn(entry);
}

enum zones_state zones_next_state(const struct zones_entry *entry)
{
	if (zones_newest(entry))
		return sentence_is_set(&entry->error) ? ZONES_STALE : ZONES_SERVING;
	if (entry->is_expired)
		return ZONES_EXPIRED;
	return zones_is_secondary(entry) && !sentence_is_set(&entry->error) ? ZONES_AWAITED :
									      ZONES_FAILED;
}

/* A change by UPDATE or by a command may have a newer serial than the file that was behind. */
static void forget_behind(struct zones_entry *entry)
{
	if (!entry->behind_serial || !entry->zone ||
	    !xfr_serial_newer(zone_serial(entry->zone), entry->behind_serial))
		return;
	entry->behind_serial = 0;
	sentence_clear(&entry->warning);
}

/* The next version becomes entry->zone. @is_old_free: no reader has the old one. */
static void settle_publish(struct zones *zones, struct zones_entry *entry, bool is_old_free)
{
	struct load *fresh = entry->loading.is_due ? entry->loading.fresh : NULL;
	struct zone *old = entry->zone;

	entry->zone = next_zone(entry);
	entry->published.names_id =
		entry->zone && !zones_is_hidden(entry) ? names_id(zones->env.names) : 0;
	entry->loading.fresh = fresh ? NULL : entry->loading.fresh;
	if (fresh && entry->zone) {
		fresh->zone = NULL;
		entry->is_expired = false;
		settle_fresh(entry, fresh);
	}
	if (entry->edited != entry->zone)
		zone_unref(entry->edited);
	entry->edited = NULL;
	entry->loading.is_due = false;
	entry->state = zones_next_state(entry);
	forget_behind(entry);
	if (entry->zone != old && zones->env.served)
		zones->env.served(zones->env.user, entry, fresh);
	if (!is_old_free || entry->zone == old)
		old = NULL; /* a reader may still have it */
	if (fresh) {
		fresh->old = old;
		loader_discard(zones->env.loader, fresh);
	} else {
		zone_unref(old);
	}
}

static void settle_publish_together(const struct zones *zones)
{
	if (zones->env.served_together)
		zones->env.served_together(zones->env.user);
}

static void settle_edition(struct zones *zones, const struct edition *edition, bool is_old_free)
{
	for (size_t i = 0; i < edition->n; i++) {
		note_withdrawn(edition->entries[i], &edition->withdrawn[i]);
		settle_publish(zones, edition->entries[i], is_old_free);
	}
	settle_publish_together(zones);
}

/* --- For the resolver ------------------------------------------------------------------------- */

/* Makes the set of the root copy; NULL if there is none. There is at most one hidden zone. */
static int hidden_set(struct zone_set **out, const struct zones *zones)
{
	*out = NULL;
	for (size_t i = 0; i < zones->n; i++) {
		const struct zones_entry *entry = zones->entries[i];
		struct zone_member member = { .apex = entry->apex, .apex_len = entry->apex_len };

		member.zone = zones_is_answered(entry) && zones_is_hidden(entry) ?
				      next_zone(entry) :
				      NULL;
		if (member.zone)
			return zone_set_new(out, &member, 1);
	}
	return 0;
}

static struct zone_set *exchange_hidden(const struct zones *zones, struct zone_set *set)
{
	struct engine_data *data = zones->env.published->root_copy;

	return data ? rcu_xchg_pointer(&data->set, set) : set;
}

/* Answers to clients from before the zone was hidden have ended with its slot. */
static void settle_hidden(struct zones *zones, bool is_old_free)
{
	for (size_t i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		if (!zones_is_answered(entry) || !zones_is_hidden(entry))
			continue;
		settle_publish(zones, entry, is_old_free);
		entry->published.slot = entry->published.gen = 0;
		memset(entry->published.digest, 0, sizeof(entry->published.digest));
	}
}

/* --- All of them ------------------------------------------------------------------------------ */

int zones_publish(struct zones *zones)
{
	struct zone_set *set = NULL, *old, *hidden = NULL;
	struct edition edition;
	int err;

	zones->all_began_ns = zones->now.ns;
	zones->was_all = true;
	err = edition_of_all(&edition, zones);
	if (err)
		return err;
	edition_add_names(&edition, zones);
	err = zone_set_new(&set, edition.members, edition.n);
	if (!err)
		err = hidden_set(&hidden, zones);
	if (!err && (edition.has_come || edition.moves_cuts))
		err = withdrawal_plan_routes(edition.withdrawal, set);
	if (err) {
		withdrawal_cancel(edition.withdrawal);
		zone_set_free(set);
		zone_set_free(hidden);
	} else {
		for (size_t i = 0; i < zones->n; i++)
			note_gone(zones->env.names, zones->entries[i]);
		begin_edition(zones);
		old = rcu_xchg_pointer(&zones->env.published->set, set);
		hidden = exchange_hidden(zones, hidden);
		zones->is_half_put = false;
		err = withdraw_publish(zones, &edition);
		if (!err) { /* after an error readers may still have them */
			zone_set_free(old);
			zone_set_free(hidden);
		}
		settle_edition(zones, &edition, !err);
		settle_hidden(zones, !err);
		settle_publish_together(zones);
		(void)forget_changed(zones);
		zones_made_served(zones);
	}
	edition_fini(&edition);
	return err;
}

/* --- A few of them ---------------------------------------------------------------------------- */

/* Members that were loaded are answered for from now on. */
static void enter_loaded(struct zones *zones)
{
	for (struct zones_entry *e = zones->changed; e; e = e->published.next_changed)
		if (e->is_member && e->life == ZONES_COMING && !zones_is_loading(e))
			zones_enter(zones, e);
}

/* Another filter of names has begun: it gets the names of all zones together. */
static bool has_other_filter(const struct zones *zones, const struct zones_entry *entry)
{
	const struct zone_member *served =
		zone_set_get(zones->env.published->set, entry->apex, entry->apex_len);

	return served && served->names_id && names_id_of(zones, entry) &&
	       served->names_id != names_id_of(zones, entry);
}

/* False: all have to be published. */
static bool may_publish_few(const struct zones *zones)
{
	if (!zones->env.published->set || zones->is_half_put)
		return false;
	for (const struct zones_entry *e = zones->changed; e; e = e->published.next_changed)
		if (zones_is_hidden(e) || has_other_filter(zones, e))
			return false;
	return true;
}

/* A member that is still being loaded is put into the list again at the end of its load. */
static int edition_of_few(struct edition *edition, struct zones *zones, struct zones_entry *entry,
			  size_t n)
{
	int err = edition_init(edition, zones, n);

	edition->is_few = true;
	edition->gone = err ? NULL : calloc(n, sizeof(struct zones_entry *));
	if (!err && !edition->gone) {
		edition_fini(edition);
		err = -ENOMEM;
	}
	for (; entry && !err; entry = entry->published.next_changed) {
		if (zones_is_answered(entry))
			edition_add(edition, zones, entry);
		else if (entry->life == ZONES_GONE)
			edition->gone[edition->n_gone++] = entry;
	}
	edition->is_new |= !err && edition->n_gone;
	return err;
}

static int plan_routes_of_few(const struct zones *zones, struct edition *edition)
{
	const struct zone_set *set = zones->env.published->set;
	int err = 0;

	if (edition->moves_cuts || (edition->has_come && zones->env.published->recursion))
		return withdrawal_plan_routes(edition->withdrawal, set);
	for (size_t i = 0; i < edition->n && !err; i++) {
		const struct zone_member *m = &edition->members[i];

		if (!zone_set_get(set, m->apex, m->apex_len))
			err = withdrawal_plan_come(edition->withdrawal, set, m->apex);
	}
	return err;
}

/* True if only the version changes: the other members of the set's row stay. */
static bool is_swap(const struct zone_member *served, const struct zone_member *m)
{
	return served && served->zone && m->zone && served->cache_slot == m->cache_slot &&
	       served->cache_gen == m->cache_gen && served->names_id == m->names_id &&
	       served->intervals.id == m->intervals.id && served->intervals.at == m->intervals.at;
}

/* Readers may use the first n versions although nothing waits for them: they are never freed. */
static void keep_put_zones(const struct edition *edition, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (edition->members[i].zone)
			(void)zone_ref(edition->members[i].zone);
}

static int put_few(struct zone_set *set, const struct edition *edition)
{
	size_t i;
	int err = 0;

	for (i = 0; i < edition->n && !err; i++) {
		const struct zone_member *m = &edition->members[i];

		if (is_swap(zone_set_get(set, m->apex, m->apex_len), m))
			zone_set_swap(set, m->apex, m->apex_len, m->zone);
		else
			err = zone_set_put(set, m);
		withdrawal_note_gen(edition->withdrawal, m->cache_slot, m->cache_gen);
	}
	if (err)
		keep_put_zones(edition, i - 1);
	return err;
}

/* Their cached answers are dead, and their slots in the cache are free. */
static void take_gone_out(const struct zones *zones, const struct edition *edition)
{
	for (size_t i = 0; i < edition->n_gone; i++) {
		struct zones_entry *entry = edition->gone[i];

		zone_set_remove(zones->env.published->set, entry->apex, entry->apex_len);
		note_gone(zones->env.names, entry);
		cache_zone_drop(zones->env.cache, entry->published.slot);
		entry->published.slot = 0;
	}
}

/* After an error that is no error of the grace period, a publish of all puts things in order. */
static int publish_few(struct zones *zones, struct edition *edition)
{
	struct zone_set *set = zones->env.published->set;
	int err = plan_routes_of_few(zones, edition);

	begin_edition(zones);
	if (!err) {
		err = put_few(set, edition);
		zones->is_half_put = err;
	}
	if (err) {
		withdrawal_cancel(edition->withdrawal);
		zones->is_due = true;
		return err;
	}
	take_gone_out(zones, edition);
	err = withdraw_publish(zones, edition);
	settle_edition(zones, edition, !err);
	zones_made_served(zones);
	if (err) {
		zones->is_due |= edition->n_gone;
		return err;
	}
	zone_set_reclaim(set);
	zones_remove_gone(zones, edition->gone, edition->n_gone);
	return 0;
}

int zones_publish_changed(struct zones *zones)
{
	struct zones_entry *first;
	struct edition edition;
	bool is_few;
	size_t n;
	int err;

	enter_loaded(zones);
	is_few = may_publish_few(zones);
	first = zones->changed;
	n = forget_changed(zones);
	if (!n)
		return 0;
	if (!is_few)
		return zones_publish_all(zones);
	err = edition_of_few(&edition, zones, first, n);
	if (err) {
		zones->is_due = true;
		return err;
	}
	edition_add_names(&edition, zones);
	err = publish_few(zones, &edition);
	edition_fini(&edition);
	return err;
}

bool zones_has_uncached(const struct zones *zones)
{
	return zones->has_uncached;
}

bool zones_is_in_place(const struct zones_entry *entry)
{
	return zones_is_answered(entry) && !entry->published.is_changed && !entry->owner->is_due;
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
		if (zones_is_for_clients(zones->entries[i]))
			keep[n++] = zones->entries[i]->published.slot;
	for (i = 0; i < zones->env.n_others; i++)
		keep[n++] = zones->env.others[i];
	err = cache_zone_drop_others(zones->env.cache, keep, n);
	free(keep);
	return err;
}
