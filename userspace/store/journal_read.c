/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal's reading side: a read transaction and a cursor that goes from set to set. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "store/journal.h"

struct store_chain {
	struct store *store;
	MDB_txn *txn;
	MDB_cursor *cursor;
	uint64_t first; /* number; where the cursor begins */
	uint64_t n_bytes;
	uint32_t serial_from, serial_to;
	uint32_t next_serial; /* of the next set */
	bool has_begun, is_empty;
	size_t apex_bytes;
	uint8_t apex[DNS_NAME_MAX];
};

static int chain_new(struct store *st, const uint8_t *apex, struct store_chain **out)
{
	struct store_chain *c = calloc(1, sizeof(*c));
	int err;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->store = st;
	c->apex_bytes = name_bytes(apex);
	memcpy(c->apex, apex, c->apex_bytes);
	err = store_read_begin(st, &c->txn);
	if (!err)
		err = store_error(mdb_cursor_open(c->txn, st->dbs[STORE_JOURNAL], &c->cursor));
	if (err)
		store_chain_close(c);
	else
		*out = c;
	return err;
}

void store_chain_close(struct store_chain *c)
{
	if (!c)
		return;
	if (c->cursor)
		mdb_cursor_close(c->cursor);
	if (c->txn)
		mdb_txn_abort(c->txn);
	free(c);
}

/* Sets the chain to all sets from this number on. */
static int set_bounds(struct store_chain *c, uint64_t number)
{
	struct journal_head first, last;
	uint64_t last_number;
	int err = journal_head_at(c->store, c->txn, c->apex, number, &first);

	if (!err)
		err = journal_last(c->store, c->txn, c->apex, &last_number, &last);
	if (err)
		return err;
	c->first = number;
	c->n_bytes = last.before + last.n_bytes - first.before;
	c->serial_from = c->next_serial = first.serial_from;
	c->serial_to = last.serial_to;
	return 0;
}

static int give_journal_read(struct store_chain *c, int err, struct store_chain **out)
{
	if (err)
		store_chain_close(c);
	*out = err ? NULL : c;
	return err;
}

int store_chain_open(struct store *st, const uint8_t *apex, uint32_t serial,
		     struct store_chain **out)
{
	struct store_chain *c;
	uint64_t number;
	int err = chain_new(st, apex, &c);

	if (err)
		return err;
	err = journal_number_of(st, c->txn, apex, serial, &number);
	if (!err)
		err = set_bounds(c, number);
	return give_journal_read(c, err, out);
}

static int find_replay(struct store_chain *c)
{
	struct store_zone zone;
	uint64_t file_number, number;
	int err = store_zone_in_txn(c->store, c->txn, c->apex, &zone, &file_number);

	if (err)
		return err;
	err = journal_first_from(c->store, c->txn, c->apex, file_number, &number);
	if (err == ERR_NOT_FOUND) {
		c->is_empty = true;
		c->serial_from = c->serial_to = zone.file_serial;
		return 0;
	}
	if (!err)
		err = set_bounds(c, number);
	return err ? err : c->serial_from == zone.file_serial ? 0 : ERR_NOT_FOUND;
}

int store_replay_open(struct store *st, const uint8_t *apex, struct store_chain **out)
{
	struct store_chain *c;
	int err = chain_new(st, apex, &c);

	return err ? err : give_journal_read(c, find_replay(c), out);
}

uint64_t store_chain_bytes(const struct store_chain *c)
{
	return c->n_bytes;
}

uint32_t store_chain_end(const struct store_chain *c)
{
	return c->serial_to;
}

/* --- Sets ------------------------------------------------------------------------------------- */

/* Reads the next piece. 1; 0 after the zone's last piece; or an error. */
static int step_journal_read(struct store_chain *c, uint64_t *number, uint32_t *part,
			     MDB_val *value)
{
	struct store_key k;
	MDB_val key;
	int rc;

	journal_key(&k, c->apex, c->first, 0);
	key = store_key_val(&k);
	rc = mdb_cursor_get(c->cursor, &key, value, c->has_begun ? MDB_NEXT : MDB_SET_RANGE);
	c->has_begun = true;
	if (rc == MDB_NOTFOUND)
		return 0;
	if (rc)
		return store_error(rc);
	return journal_is_of(&key, c->apex, c->apex_bytes, number, part);
}

/* Joins all pieces of a set. The caller frees *@bytes. */
static int gather_journal_read(struct store_chain *c, uint64_t number,
			       const struct journal_head *head, const uint8_t *first,
			       size_t n_first, uint8_t **bytes)
{
	size_t at = n_first;
	int rc = 1;

	*bytes = malloc(head->n_bytes);
	if (!*bytes)
		return -ENOMEM;
	memcpy(*bytes, first, n_first);
	for (uint32_t next = 1; rc == 1 && at < head->n_bytes; next++) {
		uint64_t its_number = 0;
		uint32_t part = 0;
		MDB_val value = { 0 };

		rc = step_journal_read(c, &its_number, &part, &value);
		if (rc != 1)
			break;
		if (its_number != number || part != next || value.mv_size > head->n_bytes - at)
			return -EIO;
		memcpy(*bytes + at, value.mv_data, value.mv_size);
		at += value.mv_size;
	}
	return rc < 0 ? rc : at == head->n_bytes ? 0 : -EIO;
}

static int take_journal_read(struct store_chain *c, const struct journal_head *head,
			     uint64_t number, const uint8_t *bytes, struct changeset *set)
{
	int err;

	if (journal_sum(number, bytes, head->n_bytes) != head->sum)
		return -EIO;
	err = changeset_load(set, bytes, head->n_bytes);
	if (err)
		return err == -ENOMEM ? err : -EIO;
	c->next_serial = head->serial_to;
	return 1;
}

/* Checks that the set is next in the chain, and that its length is possible, before malloc(). */
static int load_head(const struct store_chain *c, const MDB_val *value, struct journal_head *head)
{
	int err = journal_load_head(value, head);

	if (!err && (head->n_bytes > c->store->max_map_bytes ||
		     value->mv_size - JOURNAL_HEAD_BYTES > head->n_bytes ||
		     head->serial_from != c->next_serial))
		err = -EIO;
	return err;
}

int store_chain_next(struct store_chain *c, struct changeset *set)
{
	struct journal_head head;
	uint8_t *bytes = NULL;
	const uint8_t *first;
	uint64_t number = 0;
	uint32_t part = 0;
	MDB_val value = { 0 };
	size_t n_first;
	int rc;

	changeset_init(set);
	rc = c->is_empty ? 0 : step_journal_read(c, &number, &part, &value);
	if (rc != 1)
		return rc;
	rc = part ? -EIO : load_head(c, &value, &head);
	if (rc)
		return rc;
	first = (const uint8_t *)value.mv_data + JOURNAL_HEAD_BYTES;
	n_first = value.mv_size - JOURNAL_HEAD_BYTES;
	if (n_first < head.n_bytes) {
		rc = gather_journal_read(c, number, &head, first, n_first, &bytes);
		first = bytes;
	}
	if (!rc)
		rc = take_journal_read(c, &head, number, first, set);
	free(bytes);
	return rc;
}
