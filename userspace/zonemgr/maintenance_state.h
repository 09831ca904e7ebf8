/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What maintenance.c (what the store knows, what is done now and then) and maintenance_files.c
 * share.
 */
#ifndef VOLLEY_ZONEMGR_MAINTENANCE_STATE_H
#define VOLLEY_ZONEMGR_MAINTENANCE_STATE_H

#include "base/background.h"
#include "store/store.h"
#include "zonemgr/zonemgr.h"

struct writing;
struct awaiting;

struct maintenance {
	struct store *store;
	struct background *background;
	struct zones *zones;
	struct writing *writings;    /* that are on their way, */
	size_t n_writings;           /* so many */
	struct awaiting *awaiting;   /* calls that wait for them */
	struct store_batch *leaving; /* of zones that go together; NULL: none has gone */
	int leaving_code;            /* what went wrong with it */
	uint64_t free_bytes;         /* of the journal, for changes */
	uint64_t room_pause_ns;      /* until then nothing is forgotten */
	int known_code;              /* what the last of them ended with */
	bool has_new;                /* zones that the store is to be told of */
	bool is_tight;               /* little is left, and no file has any of the changes */
};

/* Notes, and logs, a sentence as the zone's storage_error; or "WHAT: the error". */
void maintenance_note(struct zones_entry *entry, const char *sentence);
void maintenance_note_error(struct zones_entry *entry, const char *what, int err);
/* entry->stored.unwritten_bytes, as the batch leaves it. */
int maintenance_measure(struct store_batch *batch, struct zones_entry *entry)
	__attribute__((warn_unused_result));

/* Ends the waits for the file of this zone (NULL: of any): the zone has gone. */
void maintenance_end_waits(struct maintenance *u, const struct zones_entry *entry, int code);

/* Writes the files of these: as maintenance_write(), but what goes wrong is noted. */
void maintenance_write_all(struct maintenance *u, struct zones_entry *const *entries, size_t n);

/* Its file is written at the next tick, or behind the writing that is on its way. */
static inline void maintenance_write_soon(struct zones_entry *entry)
{
	entry->on_disk.work = zones_is_file_written(entry) ? ZONES_FILE_WRITING_AND_DUE :
							     ZONES_FILE_DUE;
}

/* Its file still has not what was changed. Not while it is being written. */
static inline void maintenance_write_later(struct zones_entry *entry)
{
	entry->on_disk.work = ZONES_FILE_IDLE;
	entry->on_disk.changed_ns = zones_time(entry->owner)->ns;
}

/* The file, not the operator's. */
static inline bool maintenance_is_ours(const struct zones_entry *entry)
{
	return zones_is_secondary(entry) || entry->signing ||
	       entry->config->catalog == CONFIG_CATALOG_PRODUCE;
}

#endif
