/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a daemon must know of its zones after a restart, in one LMDB environment: the journal of
 * change sets, and a record of each zone. The zones themselves are in their files.
 *
 *      file, serial 7  +  journal 7 ─► 8 ─► 9 ─► 10  =  what was served
 *
 * A batch is one transaction. After a crash it is there as a whole or not at all; when
 * store_commit() returns, it is durable. A zone's journal is one chain: each change begins with the
 * serial number at which the last one ended, else the old chain is dropped. Serial numbers may come
 * again; then the later change is meant, except in store_replay_open().
 *
 * Threads: any may read, STORE_READERS_MAX at a time, and a reader may move between threads. Only
 * one thread at a time has a batch, and only one batch; it ends the batch itself. Others wait in
 * store_begin(). Apexes are folded wire names.
 */
#ifndef VOLLEY_STORE_STORE_H
#define VOLLEY_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/changeset.h"
#include "zone/zone.h"

struct store;
struct store_batch;

#define STORE_READERS_MAX   1024
#define STORE_MAX_BYTES_MIN (1u << 20)
#define STORE_NAME_MAX      64         /* of store_put() */
#define STORE_VALUE_MAX     (1u << 20) /* octets */

/*
 * Opens or makes the environment in @folder; makes the folder with mode 0700. It takes at most
 * @max_bytes of disk (at least STORE_MAX_BYTES_MIN), but a file that is larger already stays so. 0;
 * -EROFS, -EACCES, -ENOSPC ...; ERR_RUNNING if a process, also this one, has it open; ERR_STORE if
 * it has another version of the format or is damaged. @err gets a message.
 *
 * If it is there but cannot be written to, it is opened for reading: 0 with a message in @err, and
 * each store_begin() returns store_refusal().
 */
int store_open(struct store **out, const char *folder, uint64_t max_bytes, char *err,
	       size_t err_cap) __attribute__((warn_unused_result));

/* 0 if store_open() would find @folder or could make it; else a code of store_open() with its
 * message in @err. Makes, opens and locks nothing. Any thread. */
int store_check(const char *folder, char *err, size_t err_cap) __attribute__((warn_unused_result));
void store_close(struct store *store); /* NULL is allowed; no batch, no reader */
/* Why nothing can be written: -EROFS, -EACCES ...; 0: it can. Stays while the store is open. */
int store_refusal(const struct store *store);
/* The folder as it was given to store_open(). Lives as long as the store. */
const char *store_folder(const struct store *store);

/* Of max_bytes: what is in use, and what changes may use. Some is kept for forgetting and for other
 * records. */
struct store_usage {
	uint64_t n_bytes, changes_max_bytes, max_bytes;
};

int store_usage(struct store *store, struct store_usage *usage) __attribute__((warn_unused_result));

/* For a zone's changes: the room of those that its file does not have, and the room that is left
 * for changes of all zones. */
struct store_room {
	uint64_t unwritten_bytes, free_bytes;
};

/*
 * Makes room in a transaction of its own. Forgets the oldest changes that the file has, first of
 * the zone with most of them, then of some others, until *@n_freed is @max_bytes or a little more.
 * *@n_freed 0: no zone has any. Looks at all zones if they are few, else at the next 16,384 that
 * follow those of the call before. Errors as of a batch.
 */
int store_make_room(struct store *store, uint64_t max_bytes, uint64_t *n_freed)
	__attribute__((warn_unused_result));

/* What is known of a zone beside its content. Its stored form has a version of its own. */
struct store_zone {
	uint32_t serial;      /* of the content that was served last */
	uint32_t file_serial; /* of the file, where the journal begins */
	/* when a primary last had nothing newer, or gave the zone; 0: never */
	uint64_t checked_wall_s;
	uint64_t expires_wall_s; /* when the zone expires; 0: never */
	uint8_t file_digest[16]; /* of the file's content (zone_digest) */
	/* the catalog that it is a member of, folded wire; [0] with n 0: none */
	uint8_t catalog[255];
	uint8_t catalog_bytes;
	uint8_t member_bytes;
	uint8_t member[64]; /* its unique label there */
	uint8_t group_bytes;
	/* Without a catalog: a command has added the zone (zonemgr/added.h). An earlier release
	 * keeps these octets and does not serve the zone. */
	uint8_t group[255];
};

/*
 * Errors of all calls that fill a batch: -ENOSPC (the disk, or max_bytes), -EROFS, -ENOMEM, -EIO,
 * ERR_RDATA for a set without its two SOA records. After an error the batch can only be ended;
 * store_commit() returns it, too. Freed room can be used by later batches, except pages that chains
 * opened before still read.
 */
int store_begin(struct store *store, struct store_batch **out) __attribute__((warn_unused_result));
int store_append(struct store_batch *batch, const uint8_t *apex, const struct changeset *set)
	__attribute__((warn_unused_result));
/* As it will be after the batch. */
int store_room(struct store_batch *batch, const uint8_t *apex, struct store_room *room)
	__attribute__((warn_unused_result));
/* Forgets the zone's oldest changes until at most @max_bytes are left, but none after @serial. */
int store_limit(struct store_batch *batch, const uint8_t *apex, uint64_t max_bytes, uint32_t serial)
	__attribute__((warn_unused_result));
/* Hides this serial number until another change begins with it: no chain is found by it, because a
 * secondary that has it may have another content. store_replay_open() still has the change. */
int store_journal_hide(struct store_batch *batch, const uint8_t *apex, uint32_t serial)
	__attribute__((warn_unused_result));
/* If file_serial or file_digest differs from the last record, the file is taken to have all changes
 * up to file_serial; if no change begins with that, all present changes. */
int store_put_zone(struct store_batch *batch, const uint8_t *apex, const struct store_zone *zone)
	__attribute__((warn_unused_result));
/*
 * Any other small value under a name, for example "sign/keys"; n 0 removes it. -EINVAL: too long.
 */
int store_put(struct store_batch *batch, const uint8_t *apex, const char *name, const void *bytes,
	      size_t n) __attribute__((warn_unused_result));
/* Removes all that is known of a zone. */
int store_drop_zone(struct store_batch *batch, const uint8_t *apex)
	__attribute__((warn_unused_result));
/* Both end the batch. If commit fails, nothing of the batch is there. */
int store_commit(struct store_batch *batch) __attribute__((warn_unused_result));
void store_cancel(struct store_batch *batch);

/* 0, ERR_NOT_FOUND, -EIO, -ENOMEM, or -EBUSY (too many readers), as the functions below. */
int store_get_zone(struct store *store, const uint8_t *apex, struct store_zone *zone)
	__attribute__((warn_unused_result));
/* Allocates *@bytes. ERR_NOT_FOUND. */
int store_get(struct store *store, const uint8_t *apex, const char *name, void **bytes, size_t *n)
	__attribute__((warn_unused_result));
/* Visits each known zone. Leaves out damaged ones, and the first call warns of them. If @visit
 * returns other than 0, that ends it and is returned. */
typedef int store_zone_visit(void *user, const uint8_t *apex, const struct store_zone *zone);
int store_each_zone(struct store *store, store_zone_visit *visit, void *user)
	__attribute__((warn_unused_result));

/*
 * A chain of changes from @serial on, as it is at this moment; later appends and trims do not
 * change it. 0; ERR_NOT_FOUND: no change begins with this number; -ENOMEM, -EIO, -EBUSY. Close it
 * soon: freed pages cannot be used again while it is open.
 */
struct store_chain;
int store_chain_open(struct store *store, const uint8_t *apex, uint32_t serial,
		     struct store_chain **out) __attribute__((warn_unused_result));
/* The same for a start: the changes that the zone's file does not have, as of store_put_zone(). No
 * changes are 0, too. ERR_NOT_FOUND: an unknown zone, or the journal does not continue the file. */
int store_replay_open(struct store *store, const uint8_t *apex, struct store_chain **out)
	__attribute__((warn_unused_result));
/* The next set to *@set, which the caller frees. 1; 0 at the end; -EIO (damaged), -ENOMEM. */
int store_chain_next(struct store_chain *chain, struct changeset *set)
	__attribute__((warn_unused_result));
/* Octets of all sets of the chain; the serial number at its end. */
uint64_t store_chain_bytes(const struct store_chain *chain);
uint32_t store_chain_end(const struct store_chain *chain);
void store_chain_close(struct store_chain *chain); /* NULL is allowed */

/* Writes a zone's file while the daemon runs: under its name there is always the whole old file or
 * the whole new one, also after a crash. */

#define STORE_FILE_TMP ".volley-tmp" /* after the name, while it is written */

/*
 * Writes @z as a master file (zone/rdprint.h) beside @path, syncs it, and renames it to @path.
 * Keeps the mode of the old file and, if allowed, its owner; a new file gets 0644. If @path is a
 * link, the file that it leads to is replaced (base/files.h). Overwrites the remains of a killed
 * process. Only reads @z. Any thread, one for a path; a second thread or process gets -EBUSY. Ends
 * early with -ECANCELED if @cancel, unless NULL, becomes true.
 *
 * 0, or -ENOSPC, -EROFS, -EACCES, -ENOMEM ... with a message in @why: then the old file is in
 * place, and nothing is left beside it.
 */
int store_write_zone_file(const struct zone *z, const char *path, const bool *cancel, char *why,
			  size_t why_cap) __attribute__((warn_unused_result));

#endif
