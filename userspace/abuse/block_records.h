/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of commands, found by key and in the order of expiry. Control's thread. */
#ifndef VOLLEY_ABUSE_BLOCK_RECORDS_H
#define VOLLEY_ABUSE_BLOCK_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "limits/block_table.h"

struct block_record {
	struct volley_block_key key;
	uint32_t expires_s; /* coarse monotonic second; VOLLEY_NEVER */
	uint32_t action;
	uint64_t wall_expires_s; /* 0: never */
	uint64_t hidden;         /* the list's rule that it hides; 0: none */
	uint64_t met_before;     /* packets counted in earlier tables */
	char *why;               /* "": none; after `what`, in the same memory */
	char what[];
};

struct block_expiry {
	uint32_t expires_s;
	struct volley_block_key key;
};

struct block_records {
	void *tree; /* tsearch(3) */
	size_t n;
	/* the earliest first; items of removed or changed records stay until they are due */
	struct block_expiry *heap;
	size_t n_heap, heap_cap;
};

/* Frees all records; *r is empty then. */
void block_records_fini(struct block_records *r);

struct block_record *block_records_find(const struct block_records *r,
					const struct volley_block_key *key);
/* Adds a record. NULL: no memory. The key must have no record yet. */
struct block_record *block_records_add(struct block_records *r, const struct volley_block_key *key,
				       const char *what, const char *why);
void block_records_remove(struct block_records *r, struct block_record *record);

/* Sets the record's expiry. 0 or -ENOMEM. */
int block_records_expire(struct block_records *r, struct block_record *record, uint32_t expires_s)
	__attribute__((warn_unused_result));
/* A record that has expired, or NULL. The caller removes it. */
struct block_record *block_records_expired(struct block_records *r, uint32_t now_s);

/* Calls fn for each record, in the order of the keys. fn must not remove records. */
typedef void block_record_fn(void *user, struct block_record *record);
void block_records_each(const struct block_records *r, block_record_fn *fn, void *user);

/*
 * A block as people write it: PREFIX, NAME or TYPE.
 *
 *      192.0.2.0/24  2001:db8::/32  192.0.2.7      a prefix of clients, or a client
 *      example.com   example.                      a name and all below it
 *      ANY  TXT  TYPE65280                         a type: without a dot ("mx." is a name)
 *
 * Pure; any thread.
 */

#define BLOCK_WORDS_CAP 1024 /* more than a name whose octets are all escaped */

/*
 * Reads `what`; writes its canonical form to `text` (BLOCK_WORDS_CAP octets), unless that is NULL.
 * 0, or -EINVAL: it is none of the three.
 */
int block_words_read(const char *what, const struct volley_block_head *secrets,
		     struct volley_block_key *key, char *text) __attribute__((warn_unused_result));

/* The word of an action, and the action of a word (-EINVAL: unknown). */
const char *block_words_action(enum volley_block_action action);
int block_words_read_action(const char *word) __attribute__((warn_unused_result));

#endif
