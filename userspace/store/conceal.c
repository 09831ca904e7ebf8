/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/wire.h"
#include "store/internal.h"

int store_conceal(struct store_batch *b, const uint8_t *apex, uint32_t serial)
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
