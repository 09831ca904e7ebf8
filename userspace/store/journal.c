/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal's writing side. A set is stored in pieces that each fill one page of LMDB. So no run
 * of free pages is needed: a set of 100 MB fits if there are enough single free pages. */
#include "store/journal.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/siphash.h"
#include "base/wire.h"
#include "dns/name.h"

/* --- Form ------------------------------------------------------------------------------------- */

void journal_key(struct store_key *key, const uint8_t *apex, uint64_t number, uint32_t part)
{
	uint8_t tail[JOURNAL_TAIL_BYTES];

	store_save_be64(tail, number);
	wire_store_be32(tail + STORE_NUMBER_BYTES, part);
	store_key_begin(key, apex);
	store_key_add(key, tail, sizeof(tail));
}

static void serial_key(struct store_key *key, const uint8_t *apex, uint32_t serial)
{
	uint8_t tail[4];

	wire_store_be32(tail, serial);
	store_key_begin(key, apex);
	store_key_add(key, tail, sizeof(tail));
}

bool journal_is_of(const MDB_val *key, const uint8_t *apex, size_t apex_bytes, uint64_t *number,
		   uint32_t *part)
{
	const uint8_t *tail = (const uint8_t *)key->mv_data + apex_bytes;

	if (key->mv_size != apex_bytes + JOURNAL_TAIL_BYTES ||
	    memcmp(key->mv_data, apex, apex_bytes))
		return false;
	store_load_be64(tail, number);
	*part = wire_load_be32(tail + STORE_NUMBER_BYTES);
	return true;
}

static void save_head(uint8_t at[static JOURNAL_HEAD_BYTES], const struct journal_head *head)
{
	wire_store_be32(at, head->serial_from);
	wire_store_be32(at + 4, head->serial_to);
	store_save_be64(at + 8, head->before);
	store_save_be64(at + 16, head->n_bytes);
	store_save_be64(at + 24, head->sum);
}

int journal_load_head(const MDB_val *value, struct journal_head *head)
{
	const uint8_t *at = value->mv_data;

	if (value->mv_size < JOURNAL_HEAD_BYTES)
		return -EIO;
	head->serial_from = wire_load_be32(at);
	head->serial_to = wire_load_be32(at + 4);
	store_load_be64(at + 8, &head->before);
	store_load_be64(at + 16, &head->n_bytes);
	store_load_be64(at + 24, &head->sum);
	return 0;
}

uint64_t journal_sum(uint64_t number, const uint8_t *bytes, size_t n)
{
	uint8_t key[SIPHASH_KEY_BYTES] = "journal";

	store_save_be64(key + 8, number);
	return siphash24(key, bytes, n);
}

/* --- Look ------------------------------------------------------------------------------------- */

int journal_head_at(struct store *st, MDB_txn *txn, const uint8_t *apex, uint64_t number,
		    struct journal_head *head)
{
	struct store_key k;
	MDB_val key, value;
	int rc;

	journal_key(&k, apex, number, 0);
	key = store_key_val(&k);
	rc = mdb_get(txn, st->dbs[STORE_JOURNAL], &key, &value);
	return rc ? store_error(rc) : journal_load_head(&value, head);
}

int journal_last(struct store *st, MDB_txn *txn, const uint8_t *apex, uint64_t *number,
		 struct journal_head *head)
{
	struct store_key k;
	MDB_val key, value;
	MDB_cursor *cursor;
	uint32_t part;
	int rc = mdb_cursor_open(txn, st->dbs[STORE_JOURNAL], &cursor);

	if (rc)
		return store_error(rc);
	journal_key(&k, apex, UINT64_MAX, UINT32_MAX);
	key = store_key_val(&k);
	rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	rc = mdb_cursor_get(cursor, &key, &value, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
	if (!rc && !journal_is_of(&key, apex, name_bytes(apex), number, &part))
		rc = MDB_NOTFOUND;
	mdb_cursor_close(cursor);
	return rc ? store_error(rc) : journal_head_at(st, txn, apex, *number, head);
}

int journal_first_from(struct store *st, MDB_txn *txn, const uint8_t *apex, uint64_t from,
		       uint64_t *number)
{
	struct store_key k;
	MDB_val key, value;
	MDB_cursor *cursor;
	uint32_t part;
	int rc = mdb_cursor_open(txn, st->dbs[STORE_JOURNAL], &cursor);

	if (rc)
		return store_error(rc);
	journal_key(&k, apex, from, 0);
	key = store_key_val(&k);
	rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	if (!rc && !journal_is_of(&key, apex, name_bytes(apex), number, &part))
		rc = MDB_NOTFOUND;
	mdb_cursor_close(cursor);
	return store_error(rc);
}

int journal_number_of(struct store *st, MDB_txn *txn, const uint8_t *apex, uint32_t serial,
		      uint64_t *number)
{
	struct store_key k;
	MDB_val key, value;
	int rc;

	serial_key(&k, apex, serial);
	key = store_key_val(&k);
	rc = mdb_get(txn, st->dbs[STORE_SERIALS], &key, &value);
	if (rc)
		return store_error(rc);
	if (value.mv_size != STORE_NUMBER_BYTES)
		return -EIO;
	store_load_be64(value.mv_data, number);
	return 0;
}

int store_number_after(struct store_batch *b, const uint8_t *apex, uint32_t serial,
		       uint64_t *number)
{
	struct journal_head last;
	uint64_t at;
	int err = journal_last(b->store, b->txn, apex, &at, &last);

	*number = b->next_number;
	if (err || last.serial_to == serial)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = journal_number_of(b->store, b->txn, apex, serial, &at);
	if (!err)
		*number = at;
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* --- Forget ----------------------------------------------------------------------------------- */

/* The index may already name a later change that begins with the same serial number. A damaged
 * entry names none, and goes. */
static int forget_serial(struct store_batch *b, const uint8_t *apex, uint32_t serial,
			 uint64_t number)
{
	uint64_t indexed;
	struct store_key k;
	MDB_val key;
	int err = journal_number_of(b->store, b->txn, apex, serial, &indexed);

	if (err == ERR_NOT_FOUND || (!err && indexed != number))
		return 0;
	if (err && err != -EIO)
		return err;
	serial_key(&k, apex, serial);
	key = store_key_val(&k);
	return store_error(mdb_del(b->txn, b->store->dbs[STORE_SERIALS], &key, NULL));
}

static int forget_one(struct store_batch *b, MDB_cursor *cursor, const uint8_t *apex,
		      uint64_t number, uint32_t part, const MDB_val *value)
{
	struct journal_head head;
	int err = 0;

	if (!part && !journal_load_head(value, &head)) {
		b->n_freed_bytes += head.n_bytes;
		err = forget_serial(b, apex, head.serial_from, number);
	}
	return err ? err : store_error(mdb_cursor_del(cursor, 0));
}

int journal_forget(struct store_batch *b, const uint8_t *apex, uint64_t end, uint64_t max_bytes)
{
	size_t apex_bytes = name_bytes(apex);
	uint64_t n_before = b->n_freed_bytes;
	struct store_key k;
	MDB_val key, value;
	MDB_cursor *cursor;
	uint64_t number;
	uint32_t part;
	int err = store_error(mdb_cursor_open(b->txn, b->store->dbs[STORE_JOURNAL], &cursor));

	if (err)
		return err;
	journal_key(&k, apex, 0, 0);
	key = store_key_val(&k);
	err = store_error(mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE));
	while (!err && journal_is_of(&key, apex, apex_bytes, &number, &part) && number < end) {
		if (!part && b->n_freed_bytes - n_before >= max_bytes)
			break;
		err = forget_one(b, cursor, apex, number, part, &value);
		if (!err)
			err = store_error(mdb_cursor_get(cursor, &key, &value, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int forget_until(struct store_batch *b, const uint8_t *apex, uint64_t end)
{
	return journal_forget(b, apex, end, UINT64_MAX);
}

int store_drop_journal(struct store_batch *b, const uint8_t *apex)
{
	return forget_until(b, apex, UINT64_MAX);
}

/* *@end: all changes with a lower number lead to @serial or before it. 0 if none does. */
static int end_of(struct store_batch *b, const uint8_t *apex, uint32_t serial, uint64_t *end)
{
	struct journal_head last;
	uint64_t number;
	int err = journal_last(b->store, b->txn, apex, &number, &last);

	*end = 0;
	if (!err && last.serial_to == serial)
		*end = UINT64_MAX;
	else if (!err)
		err = journal_number_of(b->store, b->txn, apex, serial, end);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* Lowers *@end to the first change that may stay under the limit. */
static int limit_end(struct store_batch *b, const uint8_t *apex, uint64_t max_bytes, uint64_t *end)
{
	uint64_t number, at = 0, bytes_end;
	struct journal_head head = { 0 };
	int err = journal_last(b->store, b->txn, apex, &number, &head);

	bytes_end = head.before + head.n_bytes;
	while (!err) {
		err = journal_first_from(b->store, b->txn, apex, at, &number);
		if (err || number >= *end)
			break;
		err = journal_head_at(b->store, b->txn, apex, number, &head);
		if (!err && bytes_end - head.before <= max_bytes) {
			*end = number;
			break;
		}
		at = number + 1;
	}
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* Serial numbers can repeat, so the number tells which changes the zone's file does not have. */
static int keep_what_the_file_needs(struct store_batch *b, const uint8_t *apex, uint32_t serial,
				    uint64_t *end)
{
	struct store_zone zone;
	uint64_t file_number;
	int err = store_zone_in_txn(b->store, b->txn, apex, &zone, &file_number);

	if (!err && zone.file_serial == serial && file_number < *end)
		*end = file_number;
	return err == ERR_NOT_FOUND ? 0 : err;
}

int store_limit(struct store_batch *b, const uint8_t *apex, uint64_t max_bytes, uint32_t serial)
{
	uint64_t end = 0;

	if (!b->err)
		b->err = end_of(b, apex, serial, &end);
	if (!b->err)
		b->err = keep_what_the_file_needs(b, apex, serial, &end);
	if (!b->err && end)
		b->err = limit_end(b, apex, max_bytes, &end);
	if (!b->err)
		b->err = forget_until(b, apex, end);
	return b->err;
}

/* --- Append ----------------------------------------------------------------------------------- */

/* Checks before anything is written, so that a set that is too large costs nothing. The limit is
 * below LMDB's, so that there is always room to forget. */
static int check_room(struct store_batch *b, uint64_t n_bytes)
{
	uint64_t n_pages = n_bytes / (b->store->page_bytes - STORE_PAGE_HEAD) + 1, live;
	int err = store_live_pages(b->store, b->txn, &live);

	if (err)
		return err;
	n_pages += n_pages / 32 + 8; /* the branch pages above them */
	return live + n_pages > b->store->max_live_pages ? -ENOSPC : 0;
}

static int put_serial(struct store_batch *b, const uint8_t *apex, uint32_t serial, uint64_t number)
{
	uint8_t bytes[STORE_NUMBER_BYTES];
	struct store_key k;
	MDB_val key, value = { sizeof(bytes), bytes };

	store_save_be64(bytes, number);
	serial_key(&k, apex, serial);
	key = store_key_val(&k);
	return store_error(mdb_put(b->txn, b->store->dbs[STORE_SERIALS], &key, &value, 0));
}

/* Writes a piece; the first one follows the head. */
static int put_piece(struct store_batch *b, struct store_key *k, const struct journal_head *head,
		     const uint8_t *bytes, size_t n)
{
	size_t head_bytes = head ? JOURNAL_HEAD_BYTES : 0;
	MDB_val key = store_key_val(k), value = { head_bytes + n, NULL };
	int rc = mdb_put(b->txn, b->store->dbs[STORE_JOURNAL], &key, &value, MDB_RESERVE);

	if (rc)
		return store_error(rc);
	if (head)
		save_head(value.mv_data, head);
	memcpy((uint8_t *)value.mv_data + head_bytes, bytes, n);
	return 0;
}

static int put_set(struct store_batch *b, const uint8_t *apex, const struct journal_head *head,
		   uint64_t number, const uint8_t *bytes)
{
	size_t page = b->store->page_bytes - STORE_PAGE_HEAD, cap = page - JOURNAL_HEAD_BYTES;
	size_t at = 0, n;
	uint32_t part = 0;
	struct store_key k;
	int err;

	do {
		n = head->n_bytes - at < cap ? head->n_bytes - at : cap;
		journal_key(&k, apex, number, part);
		err = put_piece(b, &k, part ? NULL : head, bytes + at, n);
		at += n;
		cap = page;
		part++;
	} while (!err && at < head->n_bytes);
	return err;
}

/* *@before: the set follows the last one of the chain. If it does not, the old chain is dropped. */
static int find_journal_place(struct store_batch *b, const uint8_t *apex,
			      const struct changeset *set, uint64_t *before)
{
	struct journal_head last;
	uint64_t number;
	int err = journal_last(b->store, b->txn, apex, &number, &last);

	*before = 0;
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	if (last.serial_to != set->serial_from)
		return store_drop_journal(b, apex);
	*before = last.before + last.n_bytes;
	return 0;
}

static int append_journal(struct store_batch *b, const uint8_t *apex, const struct changeset *set)
{
	struct journal_head head = {
		.serial_from = set->serial_from,
		.serial_to = set->serial_to,
		.n_bytes = set->n_bytes,
	};
	uint64_t number = b->next_number++;
	int err;

	if (!set->n_removed || !set->n_added)
		return ERR_RDATA;
	head.sum = journal_sum(number, set->bytes, set->n_bytes);
	err = check_room(b, set->n_bytes);
	if (!err)
		err = find_journal_place(b, apex, set, &head.before);
	if (!err)
		err = put_set(b, apex, &head, number, set->bytes);
	return err ? err : put_serial(b, apex, set->serial_from, number);
}

int store_append(struct store_batch *b, const uint8_t *apex, const struct changeset *set)
{
	if (!b->err)
		b->err = append_journal(b, apex, set);
	return b->err;
}

int store_journal_hide(struct store_batch *b, const uint8_t *apex, uint32_t serial)
{
	uint8_t tail[4];
	struct store_key k;
	MDB_val key;
	int rc;

	if (b->err)
		return b->err;
	wire_store_be32(tail, serial);
	store_key_begin(&k, apex);
	store_key_add(&k, tail, sizeof(tail));
	key = store_key_val(&k);
	rc = mdb_del(b->txn, b->store->dbs[STORE_SERIALS], &key, NULL);
	b->err = rc == MDB_NOTFOUND ? 0 : store_error(rc);
	return b->err;
}
