/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a daemon has to know of its zones after a restart, in one LMDB environment: the journal of
 * change sets, and a few words about each zone. Zones themselves are in their files.
 *
 *      file, serial 7  +  journal 7 ─► 8 ─► 9 ─► 10  =  what was served
 *
 * A batch is one transaction: what it holds is there as a whole after a crash or not at all, and
 * durable when store_commit() returns. A zone's journal is one chain: what is appended begins with
 * the serial number that the last one ended with, else the chain before is dropped. Serial numbers
 * may come again; then the later change is meant, but by store_replay_open().
 *
 * Threads: any may read, STORE_READERS_MAX at a time, and a reader may go from one thread to
 * another. One thread at a time has a batch, one batch (others wait in store_begin()), and ends it
 * itself. Apexes are folded wire names.
 */
#ifndef VOLLEY_STORE_STORE_H
#define VOLLEY_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/changeset.h"

struct store;
struct store_batch;

#define STORE_READERS_MAX   1024
#define STORE_MAX_BYTES_MIN (1u << 20)
#define STORE_NAME_MAX      64         /* of store_put() */
#define STORE_VALUE_MAX     (1u << 20) /* octets */

/*
 * Opens or makes the environment in @folder, which is made with mode 0700 if it is not there. It
 * never takes more than @max_bytes of disk (at least STORE_MAX_BYTES_MIN), but a file that is
 * larger already stays so. 0; -EROFS, -EACCES, -ENOSPC ...; ERR_RUNNING if another process, or this
 * one, has it; ERR_STORE for another version of the format or a damaged one. A sentence goes to
 * @err.
 *
 * One that is there and cannot be written to is opened to be read: 0 with a sentence in @err, and
 * each store_begin() gives store_refusal().
 */
int store_open(struct store **out, const char *folder, uint64_t max_bytes, char *err,
	       size_t err_cap) __attribute__((warn_unused_result));

/*
 * Whether store_open() would find @folder, or could make it; nothing is made, opened or locked. 0,
 * or a code of store_open() with its sentence in @err. Any thread.
 */
int store_check(const char *folder, char *err, size_t err_cap) __attribute__((warn_unused_result));
void store_close(struct store *store); /* NULL is allowed; no batch, no reader */
/* Why nothing can be written, -EROFS, -EACCES ..., as long as the store is open; 0: it can. */
int store_refusal(const struct store *store);
/* As it was opened. Lives as long as the store. */
const char *store_folder(const struct store *store);

/* Of max_bytes: what is in use, and what changes may use; some is kept for forgetting and for the
 * rest. */
struct store_usage {
	uint64_t n_bytes, changes_max_bytes, max_bytes;
};

int store_usage(struct store *store, struct store_usage *usage) __attribute__((warn_unused_result));

/* For the changes of a zone: what those take that its file has not, and what is left for those of
 * all zones. */
struct store_room {
	uint64_t unwritten_bytes, free_bytes;
};

/*
 * Makes room for changes, in a transaction of its own: of the zone with most of those that its file
 * has, too, the oldest go, then those of some others, until *@n_freed is @max_bytes or a little
 * more. 0: no zone has any. O(zones and what is freed). Errors as of a batch.
 */
int store_make_room(struct store *store, uint64_t max_bytes, uint64_t *n_freed)
	__attribute__((warn_unused_result));

/* What is known of a zone beside its content. Stored in a form with a version of its own. */
struct store_zone {
	uint32_t serial;      /* of the content that was served last */
	uint32_t file_serial; /* of the file, where the journal begins */
	/* a primary was last found to have nothing newer, or gave it; 0: never */
	uint64_t checked_wall_s;
	uint64_t expires_wall_s; /* then the zone expires; 0: never */
	uint8_t file_digest[16]; /* of the file's content (zone_digest) */
	/* the catalog that it is a member of, folded wire; [0] with n 0: none */
	uint8_t catalog[255];
	uint8_t catalog_bytes;
	uint8_t member_bytes;
	uint8_t member[64]; /* its unique label there */
	uint8_t group_bytes;
	uint8_t group[255];
};

/*
 * Errors of all that fill a batch: -ENOSPC (the disk, or max_bytes), -EROFS, -ENOMEM, -EIO,
 * ERR_RDATA for a set without its two SOA. After one the batch can only be ended; store_commit()
 * gives it, too. Room that was made is there for the batches after that one, but for what chains
 * still hold that were opened before.
 */
int store_begin(struct store *store, struct store_batch **out) __attribute__((warn_unused_result));
int store_append(struct store_batch *batch, const uint8_t *apex, const struct changeset *set)
	__attribute__((warn_unused_result));
/* As the batch would leave it. */
int store_room(struct store_batch *batch, const uint8_t *apex, struct store_room *room)
	__attribute__((warn_unused_result));
/* Forgets changes that lead to @serial and before it, for the zone's file has them. */
int store_trim(struct store_batch *batch, const uint8_t *apex, uint32_t serial)
	__attribute__((warn_unused_result));
/* Forgets the oldest changes until at most @max_bytes of the zone's are left, but none after
 * @serial. */
int store_limit(struct store_batch *batch, const uint8_t *apex, uint64_t max_bytes, uint32_t serial)
	__attribute__((warn_unused_result));
/*
 * From now on no chain is found by this serial number until another change begins with it: who has
 * it may have another zone. store_replay_open() has the change all the same.
 */
int store_journal_hide(struct store_batch *batch, const uint8_t *apex, uint32_t serial)
	__attribute__((warn_unused_result));
/*
 * Where file_serial or file_digest is another one than before, the file is taken to have all
 * changes of the journal up to file_serial; without such a change, all that are there now.
 */
int store_put_zone(struct store_batch *batch, const uint8_t *apex, const struct store_zone *zone)
	__attribute__((warn_unused_result));
/* Any other small value under a name, "sign/keys" say; n 0 removes it. -EINVAL: too long. */
int store_put(struct store_batch *batch, const uint8_t *apex, const char *name, const void *bytes,
	      size_t n) __attribute__((warn_unused_result));
/* All that is known of a zone goes. */
int store_drop_zone(struct store_batch *batch, const uint8_t *apex)
	__attribute__((warn_unused_result));
/* Both end the batch. An error of commit: nothing of it is there. */
int store_commit(struct store_batch *batch) __attribute__((warn_unused_result));
void store_cancel(struct store_batch *batch);

/* 0 or ERR_NOT_FOUND, -EIO, -ENOMEM, -EBUSY (too many readers), as those below. */
int store_get_zone(struct store *store, const uint8_t *apex, struct store_zone *zone)
	__attribute__((warn_unused_result));
/* Allocates *@bytes. ERR_NOT_FOUND. */
int store_get(struct store *store, const uint8_t *apex, const char *name, void **bytes, size_t *n)
	__attribute__((warn_unused_result));
/*
 * Each zone that is known. One that is damaged is left out, with a warning by the first call: what
 * is known of the others does not go with it. Not 0 from @visit ends it and is returned.
 */
typedef int store_zone_visit(void *user, const uint8_t *apex, const struct store_zone *zone);
int store_each_zone(struct store *store, store_zone_visit *visit, void *user)
	__attribute__((warn_unused_result));

/*
 * A chain of changes from @serial on, as one moment had it, whatever is appended or trimmed
 * meanwhile. 0; ERR_NOT_FOUND where no change begins with that number; -ENOMEM, -EIO, -EBUSY. To be
 * closed soon: it keeps pages that were freed from being used again.
 */
struct store_chain;
int store_chain_open(struct store *store, const uint8_t *apex, uint32_t serial,
		     struct store_chain **out) __attribute__((warn_unused_result));
/*
 * The same for a start: the changes that the file of the zone has not, as of store_put_zone(). None
 * at all is 0, too. ERR_NOT_FOUND: the zone is unknown, or the journal does not go on from the
 * file.
 */
int store_replay_open(struct store *store, const uint8_t *apex, struct store_chain **out)
	__attribute__((warn_unused_result));
/* The next one to *@set, which the caller frees. 1, 0 at the end, or -EIO (damaged), -ENOMEM. */
int store_chain_next(struct store_chain *chain, struct changeset *set)
	__attribute__((warn_unused_result));
/* Octets of all the sets of the chain, the serial numbers at its begin and at its end. */
uint64_t store_chain_bytes(const struct store_chain *chain);
uint32_t store_chain_begin(const struct store_chain *chain);
uint32_t store_chain_end(const struct store_chain *chain);
void store_chain_close(struct store_chain *chain); /* NULL is allowed */

/* The whole chain of a zone, as store_chain_open() from its first change. */
int store_chain_open_all(struct store *store, const uint8_t *apex, struct store_chain **out)
	__attribute__((warn_unused_result));

#endif
