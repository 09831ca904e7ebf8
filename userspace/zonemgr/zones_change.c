/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of served zones. Each makes a version at once, and the next change builds on it. Journal
 * and publish follow for all together. The first change after a pause is flushed at once; later
 * ones wait for FLUSH_NS, so that a stream of changes needs few publishes.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "cache/dependency_filter.h"
#include "store/store.h"
#include "zonemgr/entry.h"
#include "zonemgr/signing.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"

#define FLUSH_NS        (8 * CLOCK_NS_PER_MS)
#define FLUSH_MEMBER_NS (2 * CLOCK_NS_PER_MS) /* the same for members that come or go */
#define OF_JOURNAL      "journal: "    /* the next change ends a storage_error that begins so */
#define FLUSH_AGAIN_NS  CLOCK_NS_PER_S /* after a failed publish */

#define PAUSE_TIMES 2 /* of the time that a publish of all zones has taken */

#define FILTER_WAIT_NS (2 * CLOCK_NS_PER_S)

/* --- New versions ----------------------------------------------------------------------------- */

static void flush_within(struct zones *zones, uint64_t pause_ns)
{
	uint64_t at = zones->flushed_ns + pause_ns;

	if (at < zones->flush_at_ns)
		zones->flush_at_ns = at;
}

void zones_flush_soon(struct zones *zones)
{
	flush_within(zones, FLUSH_NS);
}

void zones_flush_again(struct zones *zones)
{
	zones->is_due = true;
	flush_within(zones, FLUSH_AGAIN_NS);
}

/*
 * A flush takes time, because it waits for readers: the first time set after it counts as its end.
 */
static void note_flush_end(struct zones *zones)
{
	uint64_t took_ns = zones->now.ns - zones->flushed_ns;

	zones->flushed_ns = zones->now.ns;
	if (zones->flush_at_ns != UINT64_MAX)
		zones->flush_at_ns += took_ns;
	zones->was_flushed = false;
}

uint64_t zones_pause_end(const struct zones *zones)
{
	return zones->all_ended_ns + PAUSE_TIMES * zones->all_took_ns;
}

void zones_set_time(struct zones *zones, const struct clock_now *now)
{
	zones->now = *now;
	if (zones->was_all) {
		zones->all_took_ns = now->ns - zones->all_began_ns;
		zones->all_ended_ns = now->ns;
		zones->was_all = false;
	}
	if (zones->was_flushed)
		note_flush_end(zones);
}

const struct clock_now *zones_time(const struct zones *zones)
{
	return &zones->now;
}

uint64_t zones_flush_at(const struct zones *zones)
{
	return zones->flush_at_ns;
}

static int fail_zones_change(struct zone_error *why, int err)
{
	if (!*why->sentence)
		snprintf(why->sentence, sizeof(why->sentence), "%s", err_text(err));
	return err;
}

/* Makes a version of the newest one by `edit`. */
static int make_zones_change(struct zones_entry *entry, zones_edit_fn *edit, void *edit_user,
			     bool is_signed, struct zone **out, struct changeset *net,
			     struct zone_error *why)
{
	struct zone_edit *e;
	int err = zone_edit_begin(&e, zones_newest(entry));

	if (err)
		return err;
	err = edit(edit_user, e, why);
	if (!err && entry->signing && !is_signed)
		err = signing_edit(entry->signing, e, zones_newest(entry), entry->owner->now.wall_s,
				   why);
	if (!err)
		return zone_edit_finish(e, out, net, why);
	zone_edit_cancel(e);
	return err;
}

static void made_free(struct zones_made *made)
{
	if (!made)
		return;
	zone_unref(made->version);
	changeset_fini(&made->net);
	free(made);
}

/* True if a version that was loaded or is being signed will replace the version that a change would
 * build on. */
static bool is_about_to_change(const struct zones_entry *entry)
{
	return entry->loading.fresh || (entry->loading.load && entry->loading.load->signing);
}

static int check_zones_change(const struct zones_entry *entry)
{
	if (!zones_newest(entry) || entry->is_expired || zones_is_leaving(entry))
		return ERR_NOT_FOUND;
	return is_about_to_change(entry) ? -EBUSY : 0;
}

static void append_zones_change(struct zones *zones, struct zones_made *made)
{
	*zones->made_end = made;
	zones->made_end = &made->next;
}

static int change_zones_change(struct zones *zones, struct zones_entry *entry, zones_edit_fn *edit,
			       void *edit_user, bool is_signed, zones_done_fn *done, void *user,
			       struct zone_error *why)
{
	struct zones_made *made = NULL;
	int err = check_zones_change(entry);

	*why = (struct zone_error){ 0 };
	if (!err && !(made = calloc(1, sizeof(*made))))
		err = -ENOMEM;
	if (!err)
		err = make_zones_change(entry, edit, edit_user, is_signed, &made->version,
					&made->net, why);
	if (!err && !made->net.n_bytes) {
		made_free(made);
		return 1;
	}
	if (!err)
		err = zones_note_since(entry, &made->net);
	if (err) {
		made_free(made);
		return fail_zones_change(why, err);
	}
	zone_unref(entry->edited);
	entry->edited = zone_ref(made->version);
	made->entry = entry;
	made->done = done;
	made->user = user;
	append_zones_change(zones, made);
	zones_mark_changed(zones, entry);
	zones_flush_soon(zones);
	return 0;
}

int zones_change(struct zones *zones, struct zones_entry *entry, zones_edit_fn *edit,
		 void *edit_user, zones_done_fn *done, void *user, struct zone_error *why)
{
	return change_zones_change(zones, entry, edit, edit_user, false, done, user, why);
}

int zones_renew(struct zones *zones, struct zones_entry *entry, zones_edit_fn *edit,
		void *edit_user, zones_done_fn *done, void *user, struct zone_error *why)
{
	return change_zones_change(zones, entry, edit, edit_user, true, done, user, why);
}

/* The zone's pending changes fail: they will not be served. */
static void disappoint(struct zones *zones, const struct zones_entry *entry)
{
	for (struct zones_made *made = zones->made; made; made = made->next)
		if (made->entry == entry && !made->code)
			made->code = ERR_NOT_FOUND;
}

void zones_expire(struct zones *zones, struct zones_entry *entry)
{
	entry->is_expired = true;
	disappoint(zones, entry);
	zones_mark_changed(zones, entry);
	zones_flush_soon(zones);
}

void zones_forget_made(struct zones *zones, struct zones_entry *entry)
{
	struct zones_entry **at = &zones->changed;

	disappoint(zones, entry);
	for (struct zones_made *made = zones->made; made; made = made->next)
		if (made->entry == entry)
			made->entry = NULL;
	while (*at && *at != entry)
		at = &(*at)->published.next_changed;
	if (*at)
		*at = entry->published.next_changed;
}

/* --- The journal ------------------------------------------------------------------------------ */

/*
 * Changes that a zone's file does not have must stay in the journal. So they may take at most as
 * much as is free for all: one zone alone takes half of the journal, two take a third each, and
 * some room is always left for others.
 */
static int check_share(struct store_batch *batch, struct zones_made *made)
{
	struct store_room room;
	int err = store_room(batch, made->entry->apex, &room);

	if (err)
		return err;
	made->unwritten_bytes = room.unwritten_bytes + made->net.n_bytes;
	return made->unwritten_bytes > room.free_bytes ? -ENOSPC : 0;
}

static int append_to_journal(struct store_batch *batch, struct zones_made *made)
{
	const struct zones_entry *entry = made->entry;
	struct zones_known known = entry->stored.known;
	int err = check_share(batch, made);

	known.serial = made->net.serial_to;
	if (!err)
		err = store_append(batch, entry->apex, &made->net);
	if (!err)
		err = store_limit(batch, entry->apex, entry->config->journal_bytes,
				  known.file_serial);
	return err ? err : zones_known_put(batch, entry->apex, &known);
}

/* Writes all pending changes, or @only one, in one transaction. */
static int write_journal(struct zones *zones, const struct zones_made *only)
{
	struct store_batch *batch;
	int err = store_begin(zones->env.store, &batch);

	if (err)
		return err;
	for (struct zones_made *made = zones->made; made && !err; made = made->next)
		if (!made->is_journaled && made->entry && (!only || made == only))
			err = append_to_journal(batch, made);
	if (!err)
		return store_commit(batch);
	store_cancel(batch);
	return err;
}

/* The last version that is in the journal and not served yet, or NULL. */
static struct zone *last_journaled(const struct zones *zones, const struct zones_entry *entry)
{
	struct zone *version = NULL;

	for (const struct zones_made *made = zones->made; made; made = made->next)
		if (made->entry == entry && made->is_journaled && !made->code)
			version = made->version;
	return version && version != entry->zone ? zone_ref(version) : NULL;
}

static void note_refusal(struct zones_entry *entry, int err)
{
	char sentence[512];

	snprintf(sentence, sizeof(sentence), OF_JOURNAL "%s", err_text(err));
	if (err == -ENOSPC && entry->stored.unwritten_bytes && !zones_is_secondary(entry))
		snprintf(sentence, sizeof(sentence),
			 OF_JOURNAL "%s for more changes that the file has not: volleyctl zone "
				    "flush %s writes them to it",
			 err_text(err), entry->name);
	if (strcmp(sentence, sentence_text(&entry->stored.error)) != 0)
		log_error("zone %s: %s", entry->name, sentence);
	sentence_set(&entry->stored.error, "%s", sentence);
}

/* Frees the version at once: while it exists, an edit of the version before it has to copy the
 * zone. */
static void give_up_zones_change(struct zones_made *made, int err)
{
	made->is_journaled = true;
	made->code = err;
	zone_unref(made->version);
	made->version = NULL;
}

/*
 * The journal cannot hold a change. A change of our own fails, with all changes that build on it;
 * the next one builds on the last version in the journal. A change from a primary is served
 * nevertheless, because it can be fetched again.
 */
static void refuse_zones_change(struct zones *zones, struct zones_made *made, int err)
{
	struct zones_entry *entry = made->entry;

	note_refusal(entry, err);
	if (zones_is_secondary(entry)) {
		made->is_journaled = true;
		return;
	}
	for (struct zones_made *at = made; at; at = at->next)
		if (at->entry == entry && !at->is_journaled)
			give_up_zones_change(at, err);
	zone_unref(entry->edited);
	entry->edited = last_journaled(zones, entry);
}

static void settle_journaled(struct zones *zones, struct zones_made *made, int err)
{
	if (err) {
		refuse_zones_change(zones, made, err);
		return;
	}
	if (!strncmp(sentence_text(&made->entry->stored.error), OF_JOURNAL, sizeof(OF_JOURNAL) - 1))
		sentence_clear(&made->entry->stored.error);
	made->entry->stored.unwritten_bytes = made->unwritten_bytes;
	made->is_journaled = true;
}

/*
 * If all together have no room, each is written separately, so that none fails because of another.
 */
void zones_flush_journal(struct zones *zones)
{
	bool is_any = false, is_single;
	int err = 0;

	for (struct zones_made *made = zones->made; made; made = made->next)
		is_any |= !made->is_journaled && made->entry;
	if (!is_any)
		return;
	if (zones->env.store)
		err = write_journal(zones, NULL);
	is_single = err == -ENOSPC;
	for (struct zones_made *made = zones->made; made; made = made->next) {
		if (made->is_journaled || !made->entry)
			continue;
		if (is_single)
			err = write_journal(zones, made);
		settle_journaled(zones, made, err);
	}
}

/* --- Flush ------------------------------------------------------------------------------------ */

static void tell_zones_change(struct zones_made *made, int err)
{
	struct zones_made *next;

	for (; made; made = next) {
		next = made->next;
		made->done(made->user, made->code ? made->code : err);
		made_free(made);
	}
}

static struct zones_made *take_made(struct zones *zones)
{
	struct zones_made *made = zones->made;

	zones->made = NULL;
	zones->made_end = &zones->made;
	return made;
}

void zones_made_served(struct zones *zones)
{
	for (struct zones_made *made = zones->made; made; made = made->next) {
		if (!made->is_journaled)
			continue;
		zone_unref(made->version);
		made->version = NULL;
	}
}

void zones_cancel_made(struct zones *zones)
{
	tell_zones_change(take_made(zones), -ECANCELED);
}

void zones_enter_members(struct zones *zones)
{
	for (size_t i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		if (entry->is_member && entry->life == ZONES_COMING && !zones_is_loading(entry))
			zones_enter(zones, entry);
	}
}

static int publish_all(struct zones *zones)
{
	zones->is_due = false;
	zones_enter_members(zones);
	return zones_publish_all(zones);
}

/*
 * After many answers were adopted, a withdrawal first needs their dependencies: a second for 4
 * million answers. The keeper collects them quickly, and changes wait for it while control goes on.
 * A publish of all visits all answers anyway, so it does not wait.
 */
static bool must_wait(struct zones *zones)
{
	uint64_t now = zones->now.ns;

	if (zones->is_due || cache_filter_is_ready(zones->env.cache)) {
		zones->wait_until_ns = 0;
		return false;
	}
	if (!zones->wait_until_ns)
		zones->wait_until_ns = now + FILTER_WAIT_NS;
	return now < zones->wait_until_ns;
}

void zones_flush(struct zones *zones)
{
	bool is_all = zones->is_due;
	struct zones_made *made;
	int err;

	if (zones->is_poll_due)
		zones_poll(zones);
	zones_flush_journal(zones);
	if (zones_is_starting(zones)) { /* the publish at its end is one of all */
		zones->flush_at_ns = UINT64_MAX;
		return;
	}
	if (must_wait(zones)) {
		zones->flush_at_ns = zones->now.ns + FLUSH_NS;
		return;
	}
	made = take_made(zones);
	zones->flush_at_ns = UINT64_MAX;
	err = is_all ? publish_all(zones) : zones_publish_changed(zones);
	if (err)
		log_error("zones: %s", err_text(err));
	zones->flushed_ns = zones->now.ns;
	zones->was_flushed = true;
	/* Nothing was published, or zones that have gone are still there. */
	if (err == -ENOMEM || (err && (is_all || zones->is_due)))
		zones_flush_again(zones);
	/* After a failure the next try comes first. */
	if (zones->is_poll_due && (!err || zones->flush_at_ns == UINT64_MAX) &&
	    zones_pause_end(zones) < zones->flush_at_ns)
		zones->flush_at_ns = zones_pause_end(zones);
	tell_zones_change(made, err);
}

/* --- Members ---------------------------------------------------------------------------------- */

int zones_add_member(struct zones *zones, struct config_zone *config)
{
	const struct config_zone *settings;
	struct zones_entry *entry;
	int err = -ENOMEM;

	if (zones_get(zones, config->name))
		return -EEXIST;
	withdrawal_expect(zones->env.cache);
	settings = zone_pool_share(zones->pool, config);
	entry = settings ? zones_entry_new(zones, config->name) : NULL;
	if (entry)
		err = zones_table_add(zones, entry);
	if (err) {
		config_zone_unref(settings);
		if (entry)
			zones_entry_free(entry);
		return err;
	}
	zones_set_config(entry, config, settings);
	entry->is_member = true;
	(void)zones_ask(entry);
	return 0;
}

void zones_member_loaded(struct zones_entry *entry)
{
	zones_mark_changed(entry->owner, entry);
	flush_within(entry->owner, FLUSH_MEMBER_NS);
}

void zones_remove_member(struct zones *zones, struct zones_entry *entry)
{
	assert(entry->is_member); /* those of the configuration come first: zones.n_listed */
	entry->life = ZONES_GONE;
	disappoint(zones, entry);
	zones_member_loaded(entry);
}
