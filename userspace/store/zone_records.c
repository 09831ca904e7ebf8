/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of zones, and small values. A zone's record in network order: version, serial,
 * file_serial, checked_wall_s, expires_wall_s, file_digest, file_number; then catalog, member and
 * group, each after an octet with its length.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/wire.h"
#include "dns/name.h"
#include "store/database.h"

#define ZONE_VERSION   1u
#define ZONE_BYTES_MAX (1 + 4 + 4 + 8 + 8 + 16 + 8 + 3 * 256)

static void put_be64(struct wire_writer *w, uint64_t v)
{
	wire_write_be32(w, (uint32_t)(v >> 32));
	wire_write_be32(w, (uint32_t)v);
}

static uint64_t get_be64(struct wire_reader *r)
{
	uint64_t high = wire_read_be32(r);

	return high << 32 | wire_read_be32(r);
}

static void put_zone_record_counted(struct wire_writer *w, const uint8_t *bytes, uint8_t n)
{
	wire_write_u8(w, n);
	wire_write_bytes(w, bytes, n);
}

static uint8_t get_counted(struct wire_reader *r, uint8_t *bytes, size_t cap)
{
	uint8_t n = wire_read_u8(r);

	if (n > cap)
		r->error = ERR_SHORT;
	else
		wire_read_bytes(r, bytes, n);
	return n;
}

static size_t encode(uint8_t out[static ZONE_BYTES_MAX], const struct store_zone *z,
		     uint64_t file_number)
{
	struct wire_writer w;

	wire_writer_init(&w, out, ZONE_BYTES_MAX);
	wire_write_u8(&w, ZONE_VERSION);
	wire_write_be32(&w, z->serial);
	wire_write_be32(&w, z->file_serial);
	put_be64(&w, z->checked_wall_s);
	put_be64(&w, z->expires_wall_s);
	wire_write_bytes(&w, z->file_digest, sizeof(z->file_digest));
	put_be64(&w, file_number);
	put_zone_record_counted(&w, z->catalog, z->catalog_bytes);
	put_zone_record_counted(&w, z->member, z->member_bytes);
	put_zone_record_counted(&w, z->group, z->group_bytes);
	return w.at;
}

/* Callers walk along these names, so both must be well formed. */
static bool is_sound(const struct store_zone *z)
{
	if (z->catalog_bytes && name_check(z->catalog, z->catalog_bytes) != z->catalog_bytes)
		return false;
	return !z->member_bytes ||
	       (z->member[0] <= DNS_LABEL_MAX && 1u + z->member[0] == z->member_bytes);
}

static int decode_zone_record(const MDB_val *value, struct store_zone *z, uint64_t *file_number)
{
	struct wire_reader r;
	uint8_t version;

	*z = (struct store_zone){ 0 };
	wire_reader_init(&r, value->mv_data, value->mv_size);
	version = wire_read_u8(&r);
	z->serial = wire_read_be32(&r);
	z->file_serial = wire_read_be32(&r);
	z->checked_wall_s = get_be64(&r);
	z->expires_wall_s = get_be64(&r);
	wire_read_bytes(&r, z->file_digest, sizeof(z->file_digest));
	*file_number = get_be64(&r);
	z->catalog_bytes = get_counted(&r, z->catalog, sizeof(z->catalog));
	z->member_bytes = get_counted(&r, z->member, sizeof(z->member));
	z->group_bytes = get_counted(&r, z->group, sizeof(z->group));
	if (version != ZONE_VERSION || r.error || wire_reader_left(&r))
		return -EIO;
	return is_sound(z) ? 0 : -EIO;
}

int store_zone_in_txn(struct store *st, MDB_txn *txn, const uint8_t *apex, struct store_zone *zone,
		      uint64_t *file_number)
{
	struct store_key k;
	MDB_val key, value;
	int rc;

	store_key_begin(&k, apex);
	key = store_key_val(&k);
	rc = mdb_get(txn, st->dbs[STORE_ZONES], &key, &value);
	return rc ? store_error(rc) : decode_zone_record(&value, zone, file_number);
}

static bool is_same_file(const struct store_zone *a, const struct store_zone *b)
{
	return a->file_serial == b->file_serial &&
	       !memcmp(a->file_digest, b->file_digest, sizeof(a->file_digest));
}

/* A record that cannot be read is replaced as if there were none. */
static int find_file_number(struct store_batch *b, const uint8_t *apex,
			    const struct store_zone *zone, uint64_t *number)
{
	struct store_zone before;
	int err = store_zone_in_txn(b->store, b->txn, apex, &before, number);

	if (!err && is_same_file(&before, zone))
		return 0;
	return store_number_after(b, apex, zone->file_serial, number);
}

int store_put_zone(struct store_batch *b, const uint8_t *apex, const struct store_zone *zone)
{
	uint8_t bytes[ZONE_BYTES_MAX];
	uint64_t file_number;
	struct store_key k;
	MDB_val key, value;

	if (b->err)
		return b->err;
	b->err = find_file_number(b, apex, zone, &file_number);
	if (b->err)
		return b->err;
	store_key_begin(&k, apex);
	key = store_key_val(&k);
	value = (MDB_val){ encode(bytes, zone, file_number), bytes };
	b->err = store_error(mdb_put(b->txn, b->store->dbs[STORE_ZONES], &key, &value, 0));
	return b->err;
}

int store_get_zone(struct store *st, const uint8_t *apex, struct store_zone *zone)
{
	uint64_t file_number;
	MDB_txn *txn;
	int err = store_read_begin(st, &txn);

	if (err)
		return err;
	err = store_zone_in_txn(st, txn, apex, zone, &file_number);
	mdb_txn_abort(txn);
	return err;
}

static bool is_zone_record_name(const MDB_val *key)
{
	return name_check(key->mv_data, key->mv_size) == (int)key->mv_size;
}

/* One wrong bit is enough, which data_file.c does not see. The other records are still good. */
static void warn_damaged(const struct store *st, const MDB_val *key)
{
	char name[NAME_TEXT_MAX];

	if (is_zone_record_name(key) && name_to_text(name, sizeof(name), key->mv_data) >= 0)
		log_warn("%s: the record of the zone %s is damaged: it is not used until it is "
			 "written anew",
			 st->folder, name);
	else
		log_warn("%s: the name of a zone is damaged: its record is not used", st->folder);
}

/* Each catalog visits all zones: only the first visit warns. */
static int visit_all(struct store *st, MDB_cursor *cursor, store_zone_visit *visit, void *user)
{
	bool has_warned = __atomic_load_n(&st->has_warned, __ATOMIC_RELAXED);
	struct store_zone zone;
	uint64_t file_number;
	MDB_val key, value;
	int rc, err = 0;

	while (!err && !(rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
		if (is_zone_record_name(&key) && !decode_zone_record(&value, &zone, &file_number))
			err = visit(user, key.mv_data, &zone);
		else if (!has_warned)
			warn_damaged(st, &key);
	}
	if (err)
		return err;
	__atomic_store_n(&st->has_warned, true, __ATOMIC_RELAXED);
	return rc == MDB_NOTFOUND ? 0 : store_error(rc);
}

int store_each_zone(struct store *st, store_zone_visit *visit, void *user)
{
	MDB_cursor *cursor;
	MDB_txn *txn;
	int err = store_read_begin(st, &txn);

	if (err)
		return err;
	err = store_error(mdb_cursor_open(txn, st->dbs[STORE_ZONES], &cursor));
	if (!err) {
		err = visit_all(st, cursor, visit, user);
		mdb_cursor_close(cursor);
	}
	mdb_txn_abort(txn);
	return err;
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool make_value_key(struct store_key *key, const uint8_t *apex, const char *name)
{
	size_t n = strlen(name);

	if (!n || n > STORE_NAME_MAX)
		return false;
	store_key_begin(key, apex);
	store_key_add(key, name, n);
	return true;
}

int store_put(struct store_batch *b, const uint8_t *apex, const char *name, const void *bytes,
	      size_t n)
{
	MDB_dbi dbi = b->store->dbs[STORE_VALUES];
	struct store_key k;
	MDB_val key, value = { n, (void *)bytes };
	int rc;

	if (b->err)
		return b->err;
	if (n > STORE_VALUE_MAX || !make_value_key(&k, apex, name)) {
		b->err = -EINVAL;
		return b->err;
	}
	key = store_key_val(&k);
	rc = n ? mdb_put(b->txn, dbi, &key, &value, 0) : mdb_del(b->txn, dbi, &key, NULL);
	b->err = rc == MDB_NOTFOUND ? 0 : store_error(rc);
	return b->err;
}

static int copy_out(const MDB_val *value, void **bytes, size_t *n)
{
	*bytes = malloc(value->mv_size);
	if (!*bytes)
		return -ENOMEM;
	memcpy(*bytes, value->mv_data, value->mv_size);
	*n = value->mv_size;
	return 0;
}

int store_get(struct store *st, const uint8_t *apex, const char *name, void **bytes, size_t *n)
{
	struct store_key k;
	MDB_val key, value;
	MDB_txn *txn;
	int err;

	*bytes = NULL;
	*n = 0;
	if (!make_value_key(&k, apex, name))
		return -EINVAL;
	err = store_read_begin(st, &txn);
	if (err)
		return err;
	key = store_key_val(&k);
	err = store_error(mdb_get(txn, st->dbs[STORE_VALUES], &key, &value));
	if (!err)
		err = copy_out(&value, bytes, n);
	mdb_txn_abort(txn);
	return err;
}

int store_drop_zone(struct store_batch *b, const uint8_t *apex)
{
	struct store_key key;

	store_key_begin(&key, apex);
	if (!b->err)
		b->err = store_delete_prefix(b, STORE_ZONES, &key);
	if (!b->err)
		b->err = store_delete_prefix(b, STORE_VALUES, &key);
	if (!b->err)
		b->err = store_drop_journal(b, apex);
	return b->err;
}
