/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State that maintenance.c (the store, periodic work) and maintenance_files.c (zone files) share.
 */
#ifndef VOLLEY_ZONEMGR_MAINTENANCE_STATE_H
#define VOLLEY_ZONEMGR_MAINTENANCE_STATE_H

#include "base/background.h"
#include "store/store.h"
#include "zonemgr/zonemgr.h"

struct writing;
struct awaiting;
struct news;

struct maintenance {
	struct store *store;
	struct background *background;
	struct zones *zones;
	/* the writes that run, in the order in which they began */
	struct writing *writings, **writings_end;
	size_t n_writings;           /* their number */
	struct awaiting *awaiting;   /* calls that wait for writes */
	struct news *news;           /* results of loads that the store has not heard of */
	struct store_batch *leaving; /* removes zones that go together; NULL: no zone has gone */
	int leaving_code;            /* its first error */
	uint64_t free_bytes;         /* room in the journal for changes */
	uint64_t room_pause_ns;      /* no old changes are deleted before this time */
	int known_code;              /* the last write of stored.known: its first error */
	bool has_new;                /* the store has to be told about new zones */
	bool is_tight;               /* little room is left, and no more changes can be deleted */
};

/* Sets the zone's storage_error to the sentence, or to "WHAT: the error", and logs it. */
void maintenance_note(struct zones_entry *entry, const char *sentence);
void maintenance_note_error(struct zones_entry *entry, const char *what, int err);
/* A load is served: notes its result in the entry, and for the store. */
void maintenance_note_load(struct maintenance *u, struct zones_entry *entry,
			   const struct load *fresh);
/* Stores the records of the zones that are due, the first @most of them, in one transaction. */
void maintenance_put_known(struct maintenance *u, size_t most);
/* Sets entry->stored.unwritten_bytes to the value after the batch. */
int maintenance_measure(struct store_batch *batch, struct zones_entry *entry)
	__attribute__((warn_unused_result));

/* Stores what is known of the zones now, instead of at the next tick, and makes room in the
 * journal: files do not need the changes that they have got. Waits for the disk once. */
void maintenance_settle(struct maintenance *u);

/* Ends the waits for the file of this zone, which has gone. NULL: of all zones. */
void maintenance_end_waits(struct maintenance *u, const struct zones_entry *entry, int code);

/*
 * Writes the files of these zones: as maintenance_write(), but an error becomes the storage_error.
 */
void maintenance_write_all(struct maintenance *u, struct zones_entry *const *entries, size_t n);

/* The file is written at the next tick, or after the write that runs. */
static inline void maintenance_write_soon(struct zones_entry *entry)
{
	entry->on_disk.work = zones_is_file_written(entry) ? ZONES_FILE_WRITING_AND_DUE :
							     ZONES_FILE_DUE;
	zones_tend(entry);
}

/* The file still lacks changes: it is written later. Not while it is being written. */
static inline void maintenance_write_later(struct zones_entry *entry)
{
	entry->on_disk.work = ZONES_FILE_IDLE;
	entry->on_disk.changed_ns = zones_time(entry->owner)->ns;
	zones_tend(entry);
}

/* True if volleyd itself writes the zonefile; false: it is the operator's. */
static inline bool maintenance_is_ours(const struct zones_entry *entry)
{
	return zones_is_secondary(entry) || entry->signing ||
	       entry->config->catalog == CONFIG_CATALOG_PRODUCE;
}

#endif
