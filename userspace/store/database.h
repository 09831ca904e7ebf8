/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store's four LMDB databases. Keys begin with the apex. A wire name marks its own end, so keys
 * of two zones never mix.
 *
 * 	zones    apex                        the zone's record (zone_records.c)
 * 	values   apex, name                  any other value
 * 	journal  apex, number, part          a change set in pieces of a page; first a head
 * 	serials  apex, serial                the number of the latest change that begins with serial
 *
 * Numbers rise with time and are never used again: the transaction's number, then one within it.
 */
#ifndef VOLLEY_STORE_DATABASE_H
#define VOLLEY_STORE_DATABASE_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"
#include "store/store.h"

#define STORE_FORMAT    1u  /* the version of this format */
#define STORE_MAIN_DBI  1u  /* LMDB's number of the database without a name */
#define STORE_PAGE_HEAD 16u /* octets of an LMDB page before a value that has pages of its own */

/* name, in X(NAME, "name in the file") */
#define STORE_DBS(X)                \
	X(STORE_ZONES, "zones")     \
	X(STORE_VALUES, "values")   \
	X(STORE_JOURNAL, "journal") \
	X(STORE_SERIALS, "serials")

enum store_db {
#define STORE_DB(name, text) name,
	STORE_DBS(STORE_DB)
#undef STORE_DB
		STORE_N_DBS,
};

#define STORE_NUMBER_BYTES 8u
#define STORE_KEY_MAX      (DNS_NAME_MAX + STORE_NAME_MAX)

struct store_key {
	uint8_t bytes[STORE_KEY_MAX];
	size_t n;
};

struct store {
	MDB_env *env;
	MDB_dbi dbs[STORE_N_DBS];
	char *folder;
	int lock_fd;                /* of the folder */
	uint64_t max_bytes;         /* of the map; whole pages of this host */
	unsigned page_bytes;        /* of the file, by the host that made it: 32 KiB at most */
	uint64_t max_pages;         /* of the file, in the map */
	uint64_t max_live_pages;    /* with more, changes are refused */
	uint64_t max_map_bytes;     /* LMDB's: more than max_pages if the file was larger */
	bool has_warned;            /* of all damaged zones; atomic */
	struct store_key room_walk; /* the zone that store_make_room() has looked at last, or none */
	int refusal; /* the error of each batch, if the store is open for reading only; 0: none */
};

struct store_batch {
	struct store *store;
	MDB_txn *txn;
	uint64_t next_number;
	uint64_t n_freed_bytes; /* of change sets */
	int err;                /* the first error stays */
};

static inline MDB_val store_key_val(struct store_key *key)
{
	return (MDB_val){ .mv_size = key->n, .mv_data = key->bytes };
}

static inline void store_load_be64(const uint8_t *p, uint64_t *v)
{
	*v = 0;
	for (unsigned i = 0; i < 8; i++)
		*v = *v << 8 | p[i];
}

static inline void store_save_be64(uint8_t *p, uint64_t v)
{
	for (unsigned i = 8; i-- > 0; v >>= 8)
		p[i] = (uint8_t)v;
}

/* Sets the key to the apex; store_key_add() appends to it. */
void store_key_begin(struct store_key *key, const uint8_t *apex);
void store_key_add(struct store_key *key, const void *bytes, size_t n);

/* LMDB's code as one of ours. */
int store_error(int rc);

/* Begins a read transaction; end it by mdb_txn_abort(). 0, -EBUSY, -EIO, -ENOMEM. */
int store_read_begin(struct store *store, MDB_txn **txn);

/* The pages in use, as the transaction sees them. 0 or -EIO. */
int store_live_pages(struct store *store, MDB_txn *txn, uint64_t *n_pages);

/* Deletes all keys of a database that begin with @prefix. */
int store_delete_prefix(struct store_batch *batch, enum store_db db,
			const struct store_key *prefix);

/* The number of the first change that a file with the content of @serial needs. If no change begins
 * with @serial, that of the next change to be appended. */
int store_number_after(struct store_batch *batch, const uint8_t *apex, uint32_t serial,
		       uint64_t *number);

/*
 * Reads the zone's record. The file has all changes before *@file_number. 0, ERR_NOT_FOUND, -EIO.
 */
int store_zone_in_txn(struct store *store, MDB_txn *txn, const uint8_t *apex,
		      struct store_zone *zone, uint64_t *file_number);

int store_drop_journal(struct store_batch *batch, const uint8_t *apex);

/*
 * Checks an LMDB data file before LMDB maps it. LMDB trusts the file: a page that the disk has
 * damaged, or a file that was cut, would end the daemon by a signal.
 *
 * This knows the format of LMDB 0.9, data version 1, on 64-bit machines; see "struct MDB_page" and
 * "struct MDB_meta" in mdb.c of that version. LMDB itself refuses other versions.
 */

enum data_file_state {
	DATA_FILE_WHOLE,
	DATA_FILE_NONE, /* there is no file */
	DATA_FILE_DAMAGED,
};

/*
 * Checks each page that can be reached: it is used once, is of the right kind, lies in the file and
 * holds its entries; free pages are not in use. Contents have sums of their own (journal_sum).
 * Reads the file once, with a bit for each page in memory. Returns an enum data_file_state, with
 * the damage in @why, or -errno.
 */
int data_file_check(int folder_fd, const char *name, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

#endif
