/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The use of the journal's room. A zone's journal has two parts, and only the first may be
 * forgotten:
 *
 * 	first ── changes that the file has ── file_number ── changes that it has not ── last
 * 	         for secondaries                             a restart needs them
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "store/journal.h"

#define ZONES_MAX  16u    /* that make room in one call */
#define ZONES_WALK 16384u /* that are looked at in one part of the walk: some 30 ms */

/* Of a zone's journal, in octets. */
struct parts {
	uint64_t written, unwritten;
	uint64_t file_number; /* where the second one begins */
};

static int measure_from(struct store *st, MDB_txn *txn, const uint8_t *apex, uint64_t from,
			uint64_t end, uint64_t *n_bytes)
{
	struct journal_head head;
	uint64_t number;
	int err = journal_first_from(st, txn, apex, from, &number);

	*n_bytes = 0;
	if (!err)
		err = journal_head_at(st, txn, apex, number, &head);
	if (!err)
		*n_bytes = end - head.before;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int measure_store_room(struct store *st, MDB_txn *txn, const uint8_t *apex,
			      struct parts *parts)
{
	struct store_zone zone;
	struct journal_head last;
	uint64_t number, all = 0;
	int err = journal_last(st, txn, apex, &number, &last);

	*parts = (struct parts){ 0 };
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = store_zone_in_txn(st, txn, apex, &zone, &parts->file_number);
	if (err == ERR_NOT_FOUND)
		err = 0; /* there is no file, so it has no changes */
	if (!err)
		err = measure_from(st, txn, apex, 0, last.before + last.n_bytes, &all);
	if (!err)
		err = measure_from(st, txn, apex, parts->file_number, last.before + last.n_bytes,
				   &parts->unwritten);
	parts->written = all - parts->unwritten;
	return err;
}

int store_room(struct store_batch *b, const uint8_t *apex, struct store_room *room)
{
	struct store *st = b->store;
	struct parts parts = { 0 };
	uint64_t live = 0;

	*room = (struct store_room){ 0 };
	if (!b->err)
		b->err = store_live_pages(st, b->txn, &live);
	if (!b->err)
		b->err = measure_store_room(st, b->txn, apex, &parts);
	if (b->err)
		return b->err;
	room->unwritten_bytes = parts.unwritten;
	if (live < st->max_live_pages)
		room->free_bytes = (st->max_live_pages - live) * st->page_bytes;
	return 0;
}

/* The zones whose files have most of the journal's changes, in descending order. After the last,
 * written is 0. */
struct most {
	struct {
		struct parts parts;
		uint8_t apex[DNS_NAME_MAX];
	} zones[ZONES_MAX];
};

static void note_store_room(struct most *most, const uint8_t *apex, size_t apex_bytes,
			    const struct parts *parts)
{
	unsigned at = ZONES_MAX;

	while (at && most->zones[at - 1].parts.written < parts->written)
		at--;
	if (at == ZONES_MAX)
		return;
	memmove(&most->zones[at + 1], &most->zones[at],
		(ZONES_MAX - 1 - at) * sizeof(most->zones[0]));
	most->zones[at].parts = *parts;
	memcpy(most->zones[at].apex, apex, apex_bytes);
}

/* A damaged zone makes no room, but does not prevent others from making it. */
static int look_at_store_room(struct store_batch *b, const MDB_val *key, struct most *most)
{
	struct parts parts;
	int err;

	if (name_check(key->mv_data, key->mv_size) != (int)key->mv_size)
		return 0;
	err = measure_store_room(b->store, b->txn, key->mv_data, &parts);
	if (!err)
		note_store_room(most, key->mv_data, key->mv_size, &parts);
	return err == -EIO ? 0 : err;
}

/* Where the next part of the walk begins: behind the last zone that was looked at. */
static void note_walk(struct store *st, const MDB_val *last)
{
	st->room_walk.n = last->mv_size < sizeof(st->room_walk.bytes) ? last->mv_size : 0;
	memcpy(st->room_walk.bytes, last->mv_data, st->room_walk.n);
}

/*
 * Looks at the next zones, ZONES_WALK of them, and goes on until some have changes that their files
 * have, or the walk comes to the last zone; then the next one begins with the first. So a million
 * zones do not make each call long.
 */
static int look_at_some_store_room(struct store_batch *b, MDB_cursor *cursor, struct most *most)
{
	MDB_val key = store_key_val(&b->store->room_walk), last = key, value;
	int rc, err = 0;

	rc = mdb_cursor_get(cursor, &key, &value, last.mv_size ? MDB_SET_RANGE : MDB_FIRST);
	if (!rc && last.mv_size == key.mv_size && !memcmp(key.mv_data, last.mv_data, last.mv_size))
		rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
	for (unsigned n = 1; !rc && !err; n++) {
		err = look_at_store_room(b, &key, most);
		if (n % ZONES_WALK == 0 && most->zones[0].parts.written) {
			note_walk(b->store, &key);
			return err;
		}
		rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
	}
	b->store->room_walk.n = 0;
	if (err)
		return err;
	return rc == MDB_NOTFOUND ? 0 : store_error(rc);
}

static int find_most(struct store_batch *b, struct most *most)
{
	const bool has_begun_later = b->store->room_walk.n;
	MDB_cursor *cursor;
	int err = store_error(mdb_cursor_open(b->txn, b->store->dbs[STORE_ZONES], &cursor));

	memset(most, 0, sizeof(*most));
	if (err)
		return err;
	err = look_at_some_store_room(b, cursor, most);
	/* None of the last zones had any: the first ones may. */
	if (!err && has_begun_later && !most->zones[0].parts.written)
		err = look_at_some_store_room(b, cursor, most);
	mdb_cursor_close(cursor);
	return err;
}

int store_make_room(struct store *st, uint64_t max_bytes, uint64_t *n_freed)
{
	struct store_batch *b;
	struct most most;
	int err = store_begin(st, &b);

	*n_freed = 0;
	if (err)
		return err;
	b->err = find_most(b, &most);
	for (unsigned i = 0; i < ZONES_MAX && most.zones[i].parts.written && !b->err &&
			     b->n_freed_bytes < max_bytes;
	     i++)
		b->err = journal_forget(b, most.zones[i].apex, most.zones[i].parts.file_number,
					max_bytes - b->n_freed_bytes);
	*n_freed = b->err ? 0 : b->n_freed_bytes;
	if (*n_freed || b->err)
		return store_commit(b);
	store_cancel(b);
	return 0;
}
