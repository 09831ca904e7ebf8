/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches, which are LMDB transactions; keys; LMDB's errors as ours. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "store/database.h"

#define TURN_KEY "turn"
/* If a batch forgets at least this much, its room is worth one more transaction. */
#define FREED_BYTES (256u << 10)

/* --- Keys and errors -------------------------------------------------------------------------- */

void store_key_begin(struct store_key *key, const uint8_t *apex)
{
	key->n = 0;
	store_key_add(key, apex, name_bytes(apex));
}

void store_key_add(struct store_key *key, const void *bytes, size_t n)
{
	memcpy(key->bytes + key->n, bytes, n);
	key->n += n;
}

int store_error(int rc)
{
	switch (rc) {
	case MDB_NOTFOUND:
		return ERR_NOT_FOUND;
	case MDB_MAP_FULL:
	case MDB_TXN_FULL:
		return -ENOSPC;
	case MDB_READERS_FULL:
		return -EBUSY;
	default:
		return rc > 0 ? -rc : rc ? -EIO : 0;
	}
}

/* --- Batches ---------------------------------------------------------------------------------- */

int store_begin(struct store *st, struct store_batch **out)
{
	struct store_batch *b;
	int err;

	*out = NULL;
	if (st->refusal)
		return st->refusal;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->store = st;
	err = store_error(mdb_txn_begin(st->env, NULL, 0, &b->txn));
	if (err) {
		free(b);
		return err;
	}
	b->next_number = (uint64_t)mdb_txn_id(b->txn) << 24;
	*out = b;
	return 0;
}

void store_cancel(struct store_batch *b)
{
	mdb_txn_abort(b->txn);
	free(b);
}

/* Pages that a transaction frees are not used by the next one, because the head before it must stay
 * whole. An extra transaction makes them free earlier. If it fails, nothing is lost. */
static void turn(struct store *st)
{
	MDB_val key = { sizeof(TURN_KEY) - 1, TURN_KEY }, value;
	MDB_txn *txn;
	size_t id;

	if (mdb_txn_begin(st->env, NULL, 0, &txn))
		return;
	id = mdb_txn_id(txn);
	value = (MDB_val){ sizeof(id), &id };
	if (mdb_put(txn, STORE_MAIN_DBI, &key, &value, 0))
		mdb_txn_abort(txn);
	else
		(void)mdb_txn_commit(txn);
}

int store_commit(struct store_batch *b)
{
	struct store *st = b->store;
	bool has_freed = b->n_freed_bytes >= FREED_BYTES;
	int err = b->err;

	if (err) {
		store_cancel(b);
		return err;
	}
	err = store_error(mdb_txn_commit(b->txn));
	free(b);
	if (!err && has_freed)
		turn(st);
	return err;
}

int store_delete_prefix(struct store_batch *b, enum store_db db, const struct store_key *prefix)
{
	struct store_key first = *prefix;
	MDB_val key = store_key_val(&first), value;
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(b->txn, b->store->dbs[db], &cursor);

	if (rc)
		return store_error(rc);
	rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	while (!rc && key.mv_size >= prefix->n && !memcmp(key.mv_data, prefix->bytes, prefix->n)) {
		rc = mdb_cursor_del(cursor, 0);
		if (!rc)
			rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : store_error(rc);
}
