/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the records of a catalog. Consumers ignore the TTLs (RFC 9432 section 4.1: 0). */
#include <string.h>

#include "base/err.h"
#include "base/siphash.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "xfr/catalog.h"

/* Consumers of a catalog refresh it by its NOTIFYs and these times. */
#define REFRESH_S 3600u
#define RETRY_S   600u
#define EXPIRE_S  2147483646u

static const uint8_t invalid[] = "\7invalid";

struct owner {
	uint8_t bytes[DNS_NAME_MAX];
	size_t at; /* of the name's first octet: a name is written from right to left */
};

static void begin_owner(struct owner *o, const uint8_t *apex)
{
	size_t n = name_bytes(apex);

	o->at = sizeof(o->bytes) - n;
	memcpy(o->bytes + o->at, apex, n);
}

/* Puts @label, which includes its length octet, before the name. */
static int put_written_catalog_label(struct owner *o, const uint8_t *label)
{
	size_t n = 1u + label[0];

	if (n > o->at)
		return ERR_NAME_LONG;
	o->at -= n;
	memcpy(o->bytes + o->at, label, n);
	return 0;
}

static const uint8_t *name_of_written_catalog(const struct owner *o)
{
	return o->bytes + o->at;
}

int catalog_put_head(const uint8_t *apex, uint32_t serial, catalog_put *put, void *user)
{
	const uint32_t numbers[5] = { serial, REFRESH_S, RETRY_S, EXPIRE_S, 0 };
	uint8_t soa[2 * sizeof(invalid) + sizeof(numbers)];
	struct owner owner;
	int err;

	begin_owner(&owner, apex);
	err = put_written_catalog_label(&owner, (const uint8_t *)"\7version");
	memcpy(soa, invalid, sizeof(invalid));
	memcpy(soa + sizeof(invalid), invalid, sizeof(invalid));
	for (unsigned i = 0; i < 5; i++)
		wire_store_be32(soa + 2 * sizeof(invalid) + 4 * (size_t)i, numbers[i]);
	if (!err)
		err = put(user, apex, DNS_TYPE_SOA, 0, soa, sizeof(soa));
	if (!err)
		err = put(user, apex, DNS_TYPE_NS, 0, invalid, sizeof(invalid));
	if (!err)
		err = put(user, name_of_written_catalog(&owner), DNS_TYPE_TXT, 0,
			  (const uint8_t *)"\0012", 2);
	return err;
}

static int put_group(const struct owner *member, const struct catalog_member *m, catalog_put *put,
		     void *user)
{
	struct owner owner = *member;
	uint8_t text[256];
	int err = put_written_catalog_label(&owner, (const uint8_t *)"\5group");

	text[0] = m->group_bytes;
	memcpy(text + 1, m->group, m->group_bytes);
	return err ? err :
		     put(user, name_of_written_catalog(&owner), DNS_TYPE_TXT, 0, text,
			 (uint16_t)(1 + m->group_bytes));
}

static int put_coo(const struct owner *member, const struct catalog_member *m, catalog_put *put,
		   void *user)
{
	struct owner owner = *member;
	int err = put_written_catalog_label(&owner, (const uint8_t *)"\3coo");

	return err ? err :
		     put(user, name_of_written_catalog(&owner), DNS_TYPE_PTR, 0, m->coo,
			 (uint16_t)name_bytes(m->coo));
}

int catalog_put_member(const uint8_t *apex, const struct catalog_member *m, catalog_put *put,
		       void *user)
{
	struct owner owner;
	int err;

	begin_owner(&owner, apex);
	err = put_written_catalog_label(&owner, (const uint8_t *)"\5zones");
	if (!err)
		err = put_written_catalog_label(&owner, m->unique);
	if (!err)
		err = put(user, name_of_written_catalog(&owner), DNS_TYPE_PTR, 0, m->name,
			  (uint16_t)name_bytes(m->name));
	if (!err && m->group)
		err = put_group(&owner, m, put, user);
	if (!err && m->coo)
		err = put_coo(&owner, m, put, user);
	return err;
}

void catalog_unique(const uint8_t *name, uint32_t turn,
		    uint8_t label[static 1 + CATALOG_UNIQUE_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t key[SIPHASH_KEY_BYTES] = "catalog";

	wire_store_be32(key + 8, turn);
	label[0] = CATALOG_UNIQUE_BYTES;
	for (unsigned i = 0; i < CATALOG_UNIQUE_BYTES; i++) {
		uint64_t half;

		key[SIPHASH_KEY_BYTES - 1] = (uint8_t)(i / 16);
		half = siphash24(key, name, name_bytes(name));
		label[1 + i] = (uint8_t)digits[half >> 4 * (i % 16) & 15];
	}
}
