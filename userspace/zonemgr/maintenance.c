/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/maintenance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "zonemgr/maintenance_state.h"
#include "zonemgr/signing.h"

#define WRITE_AFTER_NS (300 * CLOCK_NS_PER_S) /* after a change to a file of ours */
#define WRITE_SOON_NS  (10 * CLOCK_NS_PER_S)  /* the same if little room is left */
#define FILES_AT_ONCE  1024
#define OVERLAY_MIN    (16u << 20) /* octets; smaller overlays stay */
#define OVERLAY_SHARE  10u /* an overlay may have 1/OVERLAY_SHARE of the memory of its image */
#define ROOM_BYTES     (2u << 20) /* changes deleted at a time: some 40 ms */
/* after there were none, because the search is a walk over all */
#define ROOM_PAUSE_NS (10 * CLOCK_NS_PER_S)

struct maintenance *maintenance_new(struct store *store, struct background *background)
{
	struct maintenance *u = calloc(1, sizeof(*u));

	if (u)
		*u = (struct maintenance){ .store = store, .background = background };
	return u;
}

void maintenance_free(struct maintenance *u)
{
	if (u)
		maintenance_end_waits(u, NULL, -ECANCELED);
	free(u);
}

void maintenance_set_zones(struct maintenance *u, struct zones *zones)
{
	u->zones = zones;
}

/* --- The store -------------------------------------------------------------------------------- */

void maintenance_note(struct zones_entry *entry, const char *sentence)
{
	sentence_set(&entry->stored.error, "%s", sentence);
	log_error("zone %s: %s", entry->name, sentence_text(&entry->stored.error));
}

void maintenance_note_error(struct zones_entry *entry, const char *what, int err)
{
	sentence_set(&entry->stored.error, "%s: %s", what, err_text(err));
	log_error("zone %s: %s", entry->name, sentence_text(&entry->stored.error));
}

/* A batch without anything new is cancelled, to save the wait for the disk. */
static void finish_news(struct zones_entry *entry, struct store_batch *batch, int err, bool is_news)
{
	if (!err && is_news)
		err = store_commit(batch);
	else
		store_cancel(batch);
	if (err)
		maintenance_note_error(entry, "journal", err);
}

int maintenance_measure(struct store_batch *batch, struct zones_entry *entry)
{
	struct store_room room;
	int err = store_room(batch, entry->apex, &room);

	if (!err)
		entry->stored.unwritten_bytes = room.unwritten_bytes;
	return err;
}

/* True if the zone is that of its file and journal: only stored.known has to be stored. */
static bool is_maintenance_plain(const struct load *fresh)
{
	return !fresh->gives_up_journal && !fresh->net.n_bytes && fresh->source == LOAD_FILE;
}

/* False if the store has all of it already: a start may read ten thousand unchanged files. */
static bool is_news(const struct maintenance *u, const struct zones_entry *entry,
		    const struct load *fresh, bool is_same_file)
{
	struct store_zone stored, known;

	zones_known_get(&entry->stored.known, &known);
	return store_get_zone(u->store, entry->apex, &stored) ||
	       memcmp(&stored, &known, sizeof(stored)) != 0 || !is_same_file ||
	       !is_maintenance_plain(fresh);
}

/* True if the store knows at most the zone's catalog. Such zones, perhaps ten thousand, have no
 * journal to drop, and maintenance_poll() stores all of them together. */
static bool is_new(const struct maintenance *u, const struct zones_entry *entry)
{
	static const uint8_t none[ZONE_DIGEST_LEN];
	struct store_zone stored;
	int err = store_get_zone(u->store, entry->apex, &stored);

	return err == ERR_NOT_FOUND || (!err && !stored.serial && !stored.file_serial &&
					!memcmp(stored.file_digest, none, sizeof(none)));
}

/* Puts the result of a load into the journal: the changes to it, if they are known; else the older
 * changes are dropped. */
static int put_maintenance_load(struct store_batch *batch, const struct zones_entry *entry,
				const struct load *fresh, bool is_same_file)
{
	if (fresh->gives_up_journal)
		return store_drop_zone(batch, entry->apex);
	if (fresh->net.n_bytes)
		return store_append(batch, entry->apex, &fresh->net);
	if (is_same_file || fresh->source == LOAD_TRANSFER || fresh->n_replayed ||
	    fresh->content != LOAD_NOT_SIGNED)
		return 0;
	return store_drop_zone(batch, entry->apex);
}

static int put_content(struct store_batch *batch, const struct zones_entry *entry)
{
	return store_put(batch, entry->apex, ZONES_CONTENT_WORD, entry->content_digest,
			 sizeof(entry->content_digest));
}

/*
 * The zone is signed no more: drops the journal of the signed version. The new journal begins at
 * the operator's file and leads to the served version. These changes are hidden from secondaries,
 * because a signed version had the same serial number.
 */
static int put_unsigned(struct store_batch *batch, struct zones_entry *entry,
			const struct load *fresh)
{
	int err = store_drop_zone(batch, entry->apex);

	memset(entry->content_digest, 0, sizeof(entry->content_digest));
	if (!err)
		err = zones_known_put(batch, entry->apex, &entry->stored.known);
	if (!err && fresh->net.n_bytes)
		err = store_append(batch, entry->apex, &fresh->net);
	if (!err && fresh->net.n_bytes)
		err = store_journal_hide(batch, entry->apex, fresh->file_serial);
	return err;
}

static void note_load(struct maintenance *u, struct zones_entry *entry, const struct load *fresh)
{
	bool is_same_file = !memcmp(entry->stored.known.file_digest, fresh->file_digest,
				    sizeof(fresh->file_digest));
	bool is_unsigned = fresh->source == LOAD_UNSIGNED_FILE, has_news;
	struct store_batch *batch;
	int err;

	if (is_unsigned)
		signing_end(entry);
	entry->stored.known.serial = zone_serial(entry->zone);
	if (fresh->content != LOAD_NOT_SIGNED)
		memcpy(entry->content_digest, fresh->content_digest, sizeof(fresh->content_digest));
	if (fresh->source != LOAD_TRANSFER) {
		entry->stored.known.file_serial = fresh->file_serial;
		memcpy(entry->stored.known.file_digest, fresh->file_digest,
		       sizeof(entry->stored.known.file_digest));
		zones_know_file(entry, &fresh->file_mark);
		entry->on_disk.changed_ns = fresh->n_replayed ||
							    (is_unsigned && fresh->net.n_bytes) ?
						    zones_time(entry->owner)->ns :
						    0;
	}
	if (fresh->gives_up_journal)
		/* so that its primaries are asked at once */
		entry->stored.known.checked_wall_s = 0;
	if (!u->store)
		return;
	if (is_maintenance_plain(fresh) && is_new(u, entry)) {
		zones_store_soon(entry);
		u->has_new = true;
		return;
	}
	has_news = is_news(u, entry, fresh, is_same_file);
	if (!has_news && store_refusal(u->store))
		return;
	err = store_begin(u->store, &batch);
	if (err) {
		maintenance_note_error(entry, "journal", err);
		return;
	}
	err = is_unsigned ? put_unsigned(batch, entry, fresh) :
			    put_maintenance_load(batch, entry, fresh, is_same_file);
	if (!err && fresh->content != LOAD_NOT_SIGNED)
		err = put_content(batch, entry);
	if (!err)
		err = zones_known_put(batch, entry->apex, &entry->stored.known);
	if (!err)
		err = maintenance_measure(batch, entry);
	finish_news(entry, batch, err, has_news);
}

void maintenance_served(struct maintenance *u, struct zones_entry *entry, const struct load *fresh)
{
	if (!entry->zone)
		return;
	if (!fresh) {
		entry->stored.known.serial = zone_serial(entry->zone);
		entry->on_disk.changed_ns = entry->on_disk.changed_ns ?
						    entry->on_disk.changed_ns :
						    zones_time(entry->owner)->ns;
		return;
	}
	note_load(u, entry, fresh);
	if (u->store && fresh->source == LOAD_TRANSFER)
		maintenance_write_soon(entry);
}

void maintenance_checked(struct zones_entry *entry, uint64_t checked_wall_s,
			 uint64_t expires_wall_s)
{
	entry->stored.known.checked_wall_s = checked_wall_s;
	entry->stored.known.expires_wall_s = expires_wall_s;
	zones_store_soon(entry);
}

static int put_one(struct store_batch *batch, struct zones_entry *entry)
{
	int err = zones_known_put(batch, entry->apex, &entry->stored.known);

	if (entry->stored.state != ZONES_STORE_LIMIT_DUE)
		return err;
	if (!err)
		err = store_limit(batch, entry->apex, entry->config->journal_bytes,
				  entry->stored.known.file_serial);
	return err ? err : maintenance_measure(batch, entry);
}

/* Stores the state of zones (answers of primaries, written files) in one transaction. */
static void put_known(struct maintenance *u)
{
	struct store_batch *batch = NULL;
	int err = 0;

	for (size_t i = 0; i < zones_n(u->zones) && !err; i++) {
		struct zones_entry *entry = zones_entry_at(u->zones, i);

		if (entry->stored.state < ZONES_STORE_DUE)
			continue;
		if (!batch)
			err = store_begin(u->store, &batch);
		if (!err)
			err = put_one(batch, entry);
	}
	if (batch && err)
		store_cancel(batch);
	else if (batch)
		err = store_commit(batch);
	if (err && err != u->known_code)
		log_error("journal: the state of zones cannot be written: %s", err_text(err));
	u->known_code = err;
	for (size_t i = 0; i < zones_n(u->zones) && batch && !err; i++) {
		struct zones_entry *entry = zones_entry_at(u->zones, i);

		if (entry->stored.state >= ZONES_STORE_DUE)
			entry->stored.state = ZONES_STORE_CURRENT;
	}
}

/* --- Periodic work ---------------------------------------------------------------------------- */

/* How long after a change the file is written; 0: only by command. */
static uint64_t write_after_ns(const struct zones_entry *entry)
{
	if (entry->config->zonefile_sync_s)
		return entry->config->zonefile_sync_s * CLOCK_NS_PER_S;
	return maintenance_is_ours(entry) ? WRITE_AFTER_NS : 0;
}

/* True if its changes take half of the free room, which shrinks with every change. */
static bool is_crowded(const struct maintenance *u, const struct zones_entry *entry)
{
	return entry->stored.unwritten_bytes && entry->stored.unwritten_bytes >= u->free_bytes / 2;
}

static bool is_file_due(const struct maintenance *u, const struct zones_entry *entry,
			uint64_t now_ns)
{
	uint64_t after_ns = write_after_ns(entry);

	if (zones_is_file_written(entry))
		return false;
	if (after_ns > WRITE_SOON_NS && is_crowded(u, entry))
		after_ns = WRITE_SOON_NS;
	return entry->on_disk.work == ZONES_FILE_DUE ||
	       (entry->on_disk.changed_ns && after_ns &&
		now_ns - entry->on_disk.changed_ns >= after_ns);
}

static bool is_overgrown(const struct zones_entry *entry)
{
	size_t overlay = zone_overlay_bytes(entry->zone);

	return overlay > OVERLAY_MIN && overlay > zone_memory_bytes(entry->zone) / OVERLAY_SHARE;
}

/* Warns the operator before changes are refused. Files that are written automatically need no
 * warning. */
static void warn(const struct maintenance *u, struct zones_entry *entry)
{
	bool was_warned = sentence_is_set(&entry->stored.warning);

	sentence_clear(&entry->stored.warning);
	if (write_after_ns(entry) || !entry->stored.unwritten_bytes ||
	    (!u->is_tight && entry->stored.unwritten_bytes < u->free_bytes / (was_warned ? 3 : 2)))
		return;
	sentence_set(
		&entry->stored.warning,
		"journal: %llu KiB of changes are not in the file, and room for %llu KiB is left: "
		"volleyctl zone flush %s writes them to it, and zonefile-sync does so from "
		"time to time; server.storage-size is the room for all zones",
		(unsigned long long)(entry->stored.unwritten_bytes >> 10),
		(unsigned long long)(u->free_bytes >> 10), entry->name);
	if (!was_warned)
		log_warn("zone %s: %s", entry->name, sentence_text(&entry->stored.warning));
}

/* Keeps a quarter of the journal free for new changes. Changes that files have, too, stay for
 * secondaries as long as there is room. */
static void keep_room(struct maintenance *u, uint64_t now_ns)
{
	struct store_usage usage;
	uint64_t n_freed = 0;
	int err = store_usage(u->store, &usage);

	if (err)
		return;
	u->free_bytes = usage.changes_max_bytes - usage.n_bytes;
	if (usage.n_bytes > usage.changes_max_bytes)
		u->free_bytes = 0;
	if (u->free_bytes >= usage.changes_max_bytes / 4) {
		u->is_tight = false;
		return;
	}
	if (now_ns < u->room_pause_ns)
		return;
	err = store_make_room(u->store, ROOM_BYTES, &n_freed);
	if (err)
		log_error("journal: old changes cannot be deleted: %s", err_text(err));
	u->is_tight = !n_freed;
	if (u->is_tight)
		u->room_pause_ns = now_ns + ROOM_PAUSE_NS;
}

void maintenance_settle(struct maintenance *u)
{
	put_known(u);
	u->room_pause_ns = 0;
	keep_room(u, zones_time(u->zones)->ns);
}

static void maintain(struct maintenance *u, struct zones_entry *entry)
{
	if (!entry->zone)
		return;
	warn(u, entry);
	if (entry->signing)
		signing_tick(u->zones, entry);
	if (is_overgrown(entry))
		zones_compact(u->zones, entry);
}

/* Writes due files, FILES_AT_ONCE at a time, so that thousands do not take longer in one tick. */
static void write_files(struct maintenance *u, uint64_t now_ns)
{
	struct zones_entry *due[FILES_AT_ONCE];
	size_t n = 0;

	for (size_t i = 0; i < zones_n(u->zones) && u->n_writings + n < FILES_AT_ONCE; i++) {
		struct zones_entry *entry = zones_entry_at(u->zones, i);

		if (entry->zone && is_file_due(u, entry, now_ns))
			due[n++] = entry;
	}
	maintenance_write_all(u, due, n);
}

void maintenance_poll(struct maintenance *u)
{
	if (!u->has_new)
		return;
	u->has_new = false;
	put_known(u);
}

void maintenance_tick(struct maintenance *u)
{
	uint64_t now_ns;

	if (!u->zones || !u->store)
		return;
	now_ns = zones_time(u->zones)->ns;
	put_known(u);
	keep_room(u, now_ns);
	write_files(u, now_ns);
	for (size_t i = 0; i < zones_n(u->zones); i++)
		maintain(u, zones_entry_at(u->zones, i));
}
