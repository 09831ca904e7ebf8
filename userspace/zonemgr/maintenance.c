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
#include "zonemgr/zones_state.h"

#define WRITE_AFTER_NS (300 * CLOCK_NS_PER_S) /* after a change to a file of ours */
#define WRITE_SOON_NS  (10 * CLOCK_NS_PER_S)  /* the same if little room is left */
#define FILES_AT_ONCE  1024
#define KNOWN_AT_ONCE  16384       /* records that one tick stores: some 40 ms */
#define TENDED_AT_ONCE 16384       /* zones that one tick visits */
#define OVERLAY_MIN    (16u << 20) /* octets; smaller overlays stay */
#define OVERLAY_SHARE  10u /* an overlay may have 1/OVERLAY_SHARE of the memory of its image */
#define ROOM_BYTES     (2u << 20) /* changes deleted at a time: some 40 ms */
/* after there were none, because the search is a walk over all */
#define ROOM_PAUSE_NS (10 * CLOCK_NS_PER_S)

struct maintenance *maintenance_new(struct store *store, struct background *background)
{
	struct maintenance *u = calloc(1, sizeof(*u));

	if (u)
		*u = (struct maintenance){ .store = store,
					   .background = background,
					   .writings_end = &u->writings };
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

void maintenance_served(struct maintenance *u, struct zones_entry *entry, const struct load *fresh)
{
	if (!entry->zone)
		return;
	zones_tend(entry);
	if (!fresh) {
		entry->stored.known.serial = zone_serial(entry->zone);
		entry->on_disk.changed_ns = entry->on_disk.changed_ns ?
						    entry->on_disk.changed_ns :
						    zones_time(entry->owner)->ns;
		return;
	}
	maintenance_note_load(u, entry, fresh);
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

/* --- Tended zones ----------------------------------------------------------------------------- */

void zones_tend(struct zones_entry *entry)
{
	struct zones *zones = entry->owner;

	if (entry->is_tended)
		return;
	entry->is_tended = true;
	entry->next_tended = NULL;
	*zones->tended_end = entry;
	zones->tended_end = &entry->next_tended;
	zones->n_tended++;
}

static struct zones_entry *take_tended(struct zones *zones)
{
	struct zones_entry *entry = zones->tended;

	zones->tended = entry->next_tended;
	if (!zones->tended)
		zones->tended_end = &zones->tended;
	zones->n_tended--;
	entry->is_tended = false;
	return entry;
}

void zones_forget_tended(struct zones *zones, const struct zones_entry *gone)
{
	struct zones_entry **at = &zones->tended, *entry;

	if (!gone->is_tended)
		return;
	while ((entry = *at)) {
		if (entry != gone && entry->life != ZONES_GONE) {
			at = &entry->next_tended;
			continue;
		}
		*at = entry->next_tended;
		entry->is_tended = false;
		zones->n_tended--;
	}
	zones->tended_end = at;
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

int maintenance_store(struct maintenance *u)
{
	maintenance_put_known(u, SIZE_MAX);
	return u->known_code;
}

void maintenance_settle(struct maintenance *u)
{
	maintenance_put_known(u, SIZE_MAX);
	u->room_pause_ns = 0;
	keep_room(u, zones_time(u->zones)->ns);
}

/* True if there will be something to do for the zone, though no version comes. */
static bool is_restless(const struct zones_entry *entry)
{
	return entry->zone && (entry->signing || entry->on_disk.changed_ns ||
			       entry->on_disk.work != ZONES_FILE_IDLE ||
			       sentence_is_set(&entry->stored.warning) || is_overgrown(entry));
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
	if (is_restless(entry))
		zones_tend(entry);
}

/*
 * Visits the zones that have something to be done, TENDED_AT_ONCE of them in turn, and begins the
 * writes of due files, FILES_AT_ONCE at a time: so neither a million quiet zones nor thousands of
 * due files make one tick long.
 */
static void tend_zones(struct maintenance *u, uint64_t now_ns)
{
	size_t n = u->zones->n_tended, n_due = 0;
	struct zones_entry *due[FILES_AT_ONCE];

	for (size_t i = 0; i < n && i < TENDED_AT_ONCE; i++) {
		struct zones_entry *entry = take_tended(u->zones);

		if (entry->zone && u->n_writings + n_due < FILES_AT_ONCE &&
		    is_file_due(u, entry, now_ns))
			due[n_due++] = entry;
		maintain(u, entry);
	}
	maintenance_write_all(u, due, n_due);
}

void maintenance_poll(struct maintenance *u)
{
	if (!u->has_new)
		return;
	u->has_new = false;
	maintenance_put_known(u, SIZE_MAX);
}

void maintenance_tick(struct maintenance *u)
{
	uint64_t now_ns;

	if (!u->zones || !u->store)
		return;
	now_ns = zones_time(u->zones)->ns;
	maintenance_put_known(u, KNOWN_AT_ONCE);
	keep_room(u, now_ns);
	tend_zones(u, now_ns);
}
