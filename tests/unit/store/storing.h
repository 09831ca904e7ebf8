/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: a folder for a store, and change sets whose content tells their numbers. */
#ifndef VOLLEY_TESTS_STORING_H
#define VOLLEY_TESTS_STORING_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "store/journal.h"
#include "store/store.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"

#define STORING_SOA_BYTES 22u /* two root names, five numbers */

/* In tmpfolder. */
static inline void storing_path(char path[256], const char *name)
{
	snprintf(path, 256, "%s/store/%s", tmpfolder, name);
}

static inline void storing_clear(void)
{
	char path[256];

	storing_path(path, "data.mdb");
	unlink(path);
	storing_path(path, "lock.mdb");
	unlink(path);
	storing_path(path, "");
	rmdir(path);
}

static inline int storing_try(struct store **store, uint64_t max_bytes, char why[512])
{
	char path[256];
	int err;

	snprintf(path, sizeof(path), "%s/store", tmpfolder);
	err = store_open(store, path, max_bytes, why, 512);
	MUST(!err == !!*store && !*why == (!err && !store_refusal(*store)));
	return err;
}

static inline struct store *storing_open(uint64_t max_bytes)
{
	struct store *store;
	char why[512];

	if (storing_try(&store, max_bytes, why))
		fail_msg("%s", why);
	return store;
}

/* A folded wire name. Its buffer is used again by the eighth call after this one. */
static inline const uint8_t *storing_name(const char *text)
{
	static __thread uint8_t names[8][DNS_NAME_MAX];
	static __thread unsigned turn;
	uint8_t *name = names[turn++ % 8];

	MUST(name_from_text(name, DNS_NAME_MAX, text, strlen(text)) > 0);
	return name;
}

static inline void storing_put_soa(struct changeset *set, const uint8_t *apex, uint32_t serial,
				   uint8_t op)
{
	uint8_t rdata[STORING_SOA_BYTES] = { 0 };
	struct changeset_record r = {
		.owner = apex,
		.rdata = rdata,
		.ttl = 300,
		.type = DNS_TYPE_SOA,
		.rdata_bytes = sizeof(rdata),
		.op = op,
	};

	wire_store_be32(rdata + 2, serial);
	MUST(!changeset_put(set, &r));
}

/* Adds @n_bytes of text, computed from both numbers, in records of at most 1000 octets. */
static inline void storing_make(struct changeset *set, const uint8_t *apex, uint32_t from,
				uint32_t to, size_t n_bytes)
{
	uint8_t text[1000];
	struct changeset_record r = {
		.owner = apex,
		.rdata = text,
		.type = DNS_TYPE_TXT,
		.op = CHANGESET_ADD,
	};

	changeset_init(set);
	storing_put_soa(set, apex, from, CHANGESET_REMOVE);
	storing_put_soa(set, apex, to, CHANGESET_ADD);
	for (size_t at = 0; at < n_bytes; at += r.rdata_bytes) {
		size_t n = n_bytes - at < sizeof(text) ? n_bytes - at : sizeof(text);

		for (size_t i = 0; i < n; i++)
			text[i] = (uint8_t)((at + i) * 31 + from * 7 + to);
		r.rdata_bytes = (uint16_t)n;
		MUST(!changeset_put(set, &r));
	}
}

static inline bool storing_same(const struct changeset *a, const struct changeset *b)
{
	return a->serial_from == b->serial_from && a->serial_to == b->serial_to &&
	       a->n_removed == b->n_removed && a->n_added == b->n_added &&
	       a->n_bytes == b->n_bytes && !memcmp(a->bytes, b->bytes, a->n_bytes);
}

/* True if the next set of the chain has these numbers and this size. */
static inline bool storing_next_is(struct store_chain *chain, const uint8_t *apex, uint32_t from,
				   uint32_t to, size_t n_bytes)
{
	struct changeset got, want;
	bool is_same;

	storing_make(&want, apex, from, to, n_bytes);
	is_same = store_chain_next(chain, &got) == 1 && storing_same(&got, &want);
	changeset_fini(&got);
	changeset_fini(&want);
	return is_same;
}

static inline bool storing_at_end(struct store_chain *chain)
{
	struct changeset set;

	return store_chain_next(chain, &set) == 0;
}

/*
 * The serial number at which the zone's journal begins. 0; ERR_NOT_FOUND: it has no changes; or
 * another error of journal_first_from().
 */
static inline int storing_begin(struct store *store, const uint8_t *apex, uint32_t *serial)
{
	struct journal_head head = { 0 };
	uint64_t number;
	MDB_txn *txn;
	int err;

	if (mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn))
		return -EIO;
	err = journal_first_from(store, txn, apex, 0, &number);
	if (!err)
		err = journal_head_at(store, txn, apex, number, &head);
	mdb_txn_abort(txn);
	*serial = head.serial_from;
	return err;
}

/* store_chain_open() of the whole journal of a zone. */
static inline int storing_open_all(struct store *store, const uint8_t *apex,
				   struct store_chain **out)
{
	uint32_t serial;
	int err = storing_begin(store, apex, &serial);

	return err ? err : store_chain_open(store, apex, serial, out);
}

static inline int storing_append(struct store_batch *batch, const uint8_t *apex, uint32_t from,
				 uint32_t to, size_t n_bytes)
{
	struct changeset set;
	int err;

	storing_make(&set, apex, from, to, n_bytes);
	err = store_append(batch, apex, &set);
	changeset_fini(&set);
	return err;
}

/* In a batch of its own. */
static inline int storing_append_one(struct store *store, const uint8_t *apex, uint32_t from,
				     uint32_t to, size_t n_bytes)
{
	struct store_batch *batch;
	int err = store_begin(store, &batch);

	if (err)
		return err;
	err = storing_append(batch, apex, from, to, n_bytes);
	return store_commit(batch) ?: err;
}

/* The last record of the zone's journal is too short. */
static inline void storing_damage(struct store *store, const uint8_t *apex)
{
	MDB_val key, value = { 1, (char[]){ 0 } };
	struct store_batch *batch;
	struct store_key k;

	journal_key(&k, apex, UINT32_MAX, 0);
	key = store_key_val(&k);
	MUST(!store_begin(store, &batch));
	MUST(!mdb_put(batch->txn, store->dbs[STORE_JOURNAL], &key, &value, 0));
	MUST(!store_commit(batch));
}

#endif
