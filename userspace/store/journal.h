/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The format of a change set in the journal, for journal.c, which writes, and journal_read.c. */
#ifndef VOLLEY_STORE_JOURNAL_H
#define VOLLEY_STORE_JOURNAL_H

#include "store/database.h"

#define JOURNAL_TAIL_BYTES (STORE_NUMBER_BYTES + 4u) /* of a key: number, part */
#define JOURNAL_HEAD_BYTES 32u

/* In network order before the first piece of a set. */
struct journal_head {
	uint32_t serial_from, serial_to;
	uint64_t before;  /* octets of all earlier sets of this chain, also forgotten ones */
	uint64_t n_bytes; /* of this set */
	uint64_t sum;     /* journal_sum() of it */
};

/* A sum that shows if the octets were damaged on the disk, or belong to another set. */
uint64_t journal_sum(uint64_t number, const uint8_t *bytes, size_t n);

void journal_key(struct store_key *key, const uint8_t *apex, uint64_t number, uint32_t part);
bool journal_is_of(const MDB_val *key, const uint8_t *apex, size_t apex_bytes, uint64_t *number,
		   uint32_t *part);
/* -EIO if the value is too short for a head. */
int journal_load_head(const MDB_val *value, struct journal_head *head);

/* Forgets a zone's changes with numbers below @end, the oldest first, until @max_bytes are freed.
 * Counts the freed octets in the batch. */
int journal_forget(struct store_batch *batch, const uint8_t *apex, uint64_t end,
		   uint64_t max_bytes);

/* All four: 0, ERR_NOT_FOUND, -EIO, -ENOMEM. */
int journal_head_at(struct store *store, MDB_txn *txn, const uint8_t *apex, uint64_t number,
		    struct journal_head *head);
int journal_last(struct store *store, MDB_txn *txn, const uint8_t *apex, uint64_t *number,
		 struct journal_head *head);
/* The number of the first set whose number is at least @from. */
int journal_first_from(struct store *store, MDB_txn *txn, const uint8_t *apex, uint64_t from,
		       uint64_t *number);
/* The latest set that begins with @serial. */
int journal_number_of(struct store *store, MDB_txn *txn, const uint8_t *apex, uint32_t serial,
		      uint64_t *number);

#endif
