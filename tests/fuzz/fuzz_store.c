/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a list of damages to the content of a store: changed octets of a value or a key,
 * values that are cut or replaced, checksums that are made right again. LMDB's pages stay whole
 * (test_broken.c damages those). Then the content is read, written and removed, with or without an
 * error, and all data that is returned is well formed.
 */
#include <errno.h>
#include <stdlib.h>

#include "store/journal.h"
#include "tests/unit/store/storing.h"

#define VALUE_MAX 8192u
#define SETS_MAX  100u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct store *store;
static const uint8_t *const apexes[] = { (const uint8_t *)"\1a", (const uint8_t *)"\1b\1a" };

/* --- What is damaged -------------------------------------------------------------------------- */

static void clean_up(void)
{
	store_close(store);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char why[512];

	(void)argc;
	(void)argv;
	MUST(!tmpfolder_make(NULL));
	MUST(!storing_try(&store, STORE_MAX_BYTES_MIN, why));
	MUST(!mdb_env_set_flags(store->env, MDB_NOSYNC, 1));
	/* used only by descriptor and mapping, so no file is left after any end */
	storing_clear();
	MUST(!tmpfolder_remove(NULL));
	MUST(!atexit(clean_up));
	return 0;
}

/* A zone with three changes, the second of them in pieces, and one with none. */
static void fill(void)
{
	static const size_t bytes[] = { 10, 5000, 30 };
	struct store_zone zone = {
		.serial = 4,
		.file_serial = 2,
		.catalog = "\1c",
		.catalog_bytes = 3,
		.member = "\3uni",
		.member_bytes = 4,
		.group = "g",
		.group_bytes = 1,
	};
	struct store_batch *batch;
	struct changeset set;

	MUST(!store_begin(store, &batch));
	MUST(!store_put_zone(batch, apexes[0], &zone));
	MUST(!store_put(batch, apexes[0], "word", "value", 5));
	for (uint32_t i = 0; i < 3; i++) {
		storing_make(&set, apexes[0], i + 1, i + 2, bytes[i]);
		MUST(!store_append(batch, apexes[0], &set));
		changeset_fini(&set);
	}
	zone.catalog_bytes = zone.member_bytes = zone.group_bytes = 0;
	MUST(!store_put_zone(batch, apexes[1], &zone));
	MUST(!store_commit(batch));
}

static void clear(void)
{
	MDB_txn *txn;

	MUST(!mdb_txn_begin(store->env, NULL, 0, &txn));
	for (unsigned i = 0; i < STORE_N_DBS; i++)
		MUST(!mdb_drop(txn, store->dbs[i], 0));
	MUST(!mdb_txn_commit(txn));
}

/* --- Damages ---------------------------------------------------------------------------------- */

enum { OTHER_OCTET, CUT, REPLACED, OTHER_KEY, N_DAMAGES };

/* Five octets and, for REPLACED, the new value. */
struct damage {
	uint8_t db, entry, kind, octet;
	bool has_sum; /* is made right again */
	uint16_t at;
	const uint8_t *bytes;
	size_t n_bytes;
};

struct entry {
	uint8_t key[STORE_KEY_MAX], value[VALUE_MAX];
	size_t key_bytes, value_bytes;
};

static bool take(struct damage *d, const uint8_t **data, size_t *size)
{
	const uint8_t *p = *data;
	size_t n = 5;

	if (*size < n)
		return false;
	*d = (struct damage){ .db = p[0] % STORE_N_DBS,
			      .kind = p[0] / 4 % N_DAMAGES,
			      .has_sum = p[0] & 16,
			      .entry = p[1],
			      .at = wire_load_be16(p + 2),
			      .octet = p[4],
			      .bytes = p + 5 };
	if (d->kind == REPLACED) {
		d->n_bytes = d->octet < *size - 5 ? d->octet : *size - 5;
		n += d->n_bytes;
	}
	*data += n;
	*size -= n;
	return true;
}

static bool pick(struct entry *e, MDB_txn *txn, const struct damage *d)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	MDB_stat stat;
	int rc;

	MUST(!mdb_stat(txn, store->dbs[d->db], &stat));
	if (!stat.ms_entries)
		return false;
	MUST(!mdb_cursor_open(txn, store->dbs[d->db], &cursor));
	rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
	for (size_t i = d->entry % stat.ms_entries; i; i--)
		rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
	MUST(!rc && key.mv_size <= sizeof(e->key) && value.mv_size <= sizeof(e->value));
	e->key_bytes = key.mv_size;
	e->value_bytes = value.mv_size;
	memcpy(e->key, key.mv_data, key.mv_size);
	memcpy(e->value, value.mv_data, value.mv_size);
	mdb_cursor_close(cursor);
	return true;
}

static void set_sum(struct entry *e)
{
	size_t apex_bytes = e->key_bytes - JOURNAL_TAIL_BYTES;
	uint64_t number;

	if (e->key_bytes < JOURNAL_TAIL_BYTES || e->value_bytes < JOURNAL_HEAD_BYTES)
		return;
	store_load_be64(e->key + apex_bytes, &number);
	store_save_be64(e->value + 16, e->value_bytes - JOURNAL_HEAD_BYTES);
	store_save_be64(e->value + 24, journal_sum(number, e->value + JOURNAL_HEAD_BYTES,
						   e->value_bytes - JOURNAL_HEAD_BYTES));
}

static void change(struct entry *e, const struct damage *d)
{
	if (d->kind == OTHER_OCTET && e->value_bytes)
		e->value[d->at % e->value_bytes] = d->octet;
	if (d->kind == CUT)
		e->value_bytes = d->at % (e->value_bytes + 1);
	if (d->kind == REPLACED) {
		memcpy(e->value, d->bytes, d->n_bytes);
		e->value_bytes = d->n_bytes;
	}
	if (d->kind == OTHER_KEY)
		e->key[d->at % e->key_bytes] = d->octet;
	if (d->has_sum && d->db == STORE_JOURNAL)
		set_sum(e);
}

static void damage(const uint8_t *data, size_t size)
{
	static struct entry e;
	struct damage d;
	MDB_txn *txn;

	MUST(!mdb_txn_begin(store->env, NULL, 0, &txn));
	while (take(&d, &data, &size)) {
		MDB_val key, value;

		if (!pick(&e, txn, &d))
			continue;
		change(&e, &d);
		key = (MDB_val){ e.key_bytes, e.key };
		value = (MDB_val){ e.value_bytes, e.value };
		MUST(!mdb_put(txn, store->dbs[d.db], &key, &value, 0));
	}
	MUST(!mdb_txn_commit(txn));
}

/* --- What is made of it ----------------------------------------------------------------------- */

static void must_be_known(int err)
{
	MUST(!err || err == ERR_NOT_FOUND || err == -EIO || err == -ENOSPC);
}

static int check_zone(void *user, const uint8_t *apex, const struct store_zone *zone)
{
	(void)user;
	MUST(name_check(apex, DNS_NAME_MAX) > 0);
	if (zone->catalog_bytes)
		MUST(name_check(zone->catalog, zone->catalog_bytes) == zone->catalog_bytes);
	if (zone->member_bytes)
		MUST(zone->member[0] == zone->member_bytes - 1 && zone->member[0] < 64);
	return 0;
}

static void read_chain(int err, struct store_chain *chain)
{
	struct changeset set, again;
	unsigned n = 0;
	int rc;

	must_be_known(err);
	if (err)
		return;
	(void)store_chain_bytes(chain);
	while ((rc = store_chain_next(chain, &set)) == 1) {
		MUST(++n < SETS_MAX && !changeset_load(&again, set.bytes, set.n_bytes));
		changeset_fini(&again);
		changeset_fini(&set);
	}
	must_be_known(rc);
	store_chain_close(chain);
}

static void read_all(const uint8_t *apex)
{
	struct store_chain *chain = NULL;
	struct store_zone zone;
	void *bytes;
	size_t n;
	int err = store_get_zone(store, apex, &zone);

	must_be_known(err);
	if (!err)
		(void)check_zone(NULL, apex, &zone);
	err = store_get(store, apex, "word", &bytes, &n);
	must_be_known(err);
	if (!err)
		free(bytes);
	for (uint32_t serial = 1; serial < 5; serial++) {
		err = store_chain_open(store, apex, serial, &chain);
		read_chain(err, chain);
	}
	err = storing_open_all(store, apex, &chain);
	read_chain(err, chain);
	err = store_replay_open(store, apex, &chain);
	read_chain(err, chain);
	must_be_known(store_each_zone(store, check_zone, NULL));
}

/* Each in its own batch, which an error ends. */
static int write_one(struct store_batch *batch, const uint8_t *apex, unsigned what)
{
	struct store_zone zone = { .serial = 5, .file_serial = 3 };
	struct store_room room;
	struct changeset set;
	int err;

	switch (what) {
	case 0:
		storing_make(&set, apex, 4, 5, 100);
		err = store_append(batch, apex, &set);
		changeset_fini(&set);
		return err;
	case 1:
		return store_room(batch, apex, &room);
	case 2:
		return store_journal_hide(batch, apex, 3);
	case 3:
		return store_put_zone(batch, apex, &zone);
	case 4:
		return store_limit(batch, apex, 3000, 4);
	case 5:
		return store_limit(batch, apex, 0, 3);
	default:
		return store_drop_zone(batch, apex);
	}
}

static void write_all(const uint8_t *apex)
{
	struct store_batch *batch;
	struct store_zone zone;
	uint64_t n_freed;
	int err = 0;

	for (unsigned what = 0; what < 7; what++) {
		MUST(!store_begin(store, &batch));
		err = write_one(batch, apex, what);
		must_be_known(err);
		err = store_commit(batch);
		must_be_known(err);
		if (what == 3)
			read_all(apex);
	}
	must_be_known(store_make_room(store, 1000, &n_freed));
	if (!err)
		MUST(store_get_zone(store, apex, &zone) == ERR_NOT_FOUND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fill();
	damage(data, size);
	for (unsigned i = 0; i < 2; i++)
		read_all(apexes[i]);
	for (unsigned i = 0; i < 2; i++)
		write_all(apexes[i]);
	clear();
	return 0;
}
