/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/changeset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"

#define FIXED_BYTES    8u  /* type, TTL, RDLENGTH */
#define SOA_TAIL_BYTES 20u /* serial and four times, after two names */

void changeset_init(struct changeset *c)
{
	*c = (struct changeset){ 0 };
}

void changeset_fini(struct changeset *c)
{
	free(c->bytes);
	changeset_init(c);
}

void changeset_move(struct changeset *to, struct changeset *from)
{
	changeset_fini(to);
	*to = *from;
	changeset_init(from);
}

static int reserve_changeset(struct changeset *c, size_t n)
{
	size_t cap = c->cap ? c->cap : 256;
	uint8_t *bytes;

	if (c->cap - c->n_bytes >= n)
		return 0;
	while (cap - c->n_bytes < n)
		cap *= 2;
	bytes = realloc(c->bytes, cap);
	if (!bytes)
		return -ENOMEM;
	c->bytes = bytes;
	c->cap = cap;
	return 0;
}

static void note_changeset(struct changeset *c, const struct changeset_record *r)
{
	bool is_add = r->op == CHANGESET_ADD;

	c->n_added += is_add;
	c->n_removed += !is_add;
	if (r->type == DNS_TYPE_SOA)
		*(is_add ? &c->serial_to : &c->serial_from) =
			wire_load_be32(r->rdata + r->rdata_bytes - SOA_TAIL_BYTES);
}

int changeset_put(struct changeset *c, const struct changeset_record *r)
{
	size_t owner_bytes = name_bytes(r->owner);
	uint8_t *at;
	int err;

	if (r->type == DNS_TYPE_SOA && r->rdata_bytes < SOA_TAIL_BYTES)
		return ERR_RDATA;
	err = reserve_changeset(c, 1 + owner_bytes + FIXED_BYTES + r->rdata_bytes);
	if (err)
		return err;
	at = c->bytes + c->n_bytes;
	*at++ = r->op;
	memcpy(at, r->owner, owner_bytes);
	at += owner_bytes;
	wire_store_be16(at, r->type);
	wire_store_be32(at + 2, r->ttl);
	wire_store_be16(at + 6, r->rdata_bytes);
	if (r->rdata_bytes)
		memcpy(at + FIXED_BYTES, r->rdata, r->rdata_bytes);
	c->n_bytes += 1 + owner_bytes + FIXED_BYTES + r->rdata_bytes;
	note_changeset(c, r);
	return 0;
}

bool changeset_next(const struct changeset *c, size_t *at, struct changeset_record *r)
{
	const uint8_t *p = c->bytes + *at;

	if (*at >= c->n_bytes)
		return false;
	r->op = *p++;
	r->owner = p;
	p += name_bytes(p);
	r->type = wire_load_be16(p);
	r->ttl = wire_load_be32(p + 2);
	r->rdata_bytes = wire_load_be16(p + 6);
	r->rdata = p + FIXED_BYTES;
	*at = (size_t)(r->rdata + r->rdata_bytes - c->bytes);
	return true;
}

/* The length of the record at @p, or 0 if it is malformed or longer than @n octets. */
static size_t record_bytes(const uint8_t *p, size_t n)
{
	int owner = n > 1 && *p <= CHANGESET_ADD ? name_check(p + 1, n - 1) : 0;
	size_t bytes;

	if (owner <= 0)
		return 0;
	bytes = 1 + (size_t)owner + FIXED_BYTES;
	if (bytes > n)
		return 0;
	bytes += wire_load_be16(p + bytes - 2);
	return bytes <= n ? bytes : 0;
}

/* Each half must begin with its SOA, and have no other one. */
static bool is_in_place(const struct changeset *c, const struct changeset_record *r)
{
	bool is_soa = r->type == DNS_TYPE_SOA;

	if (is_soa && r->rdata_bytes < SOA_TAIL_BYTES)
		return false;
	if (r->op == CHANGESET_REMOVE)
		return !c->n_added && is_soa == !c->n_removed;
	return c->n_removed && is_soa == !c->n_added;
}

int changeset_load(struct changeset *c, const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	changeset_init(c);
	if (reserve_changeset(c, n + 1))
		return -ENOMEM;
	while (at < n) {
		size_t step = record_bytes(bytes + at, n - at), next = at;
		struct changeset_record r;

		if (!step)
			break;
		memcpy(c->bytes + at, bytes + at, step);
		c->n_bytes = at + step;
		changeset_next(c, &next, &r);
		if (!is_in_place(c, &r))
			break;
		note_changeset(c, &r);
		at += step;
	}
	if (at == n && c->n_removed && c->n_added)
		return 0;
	changeset_fini(c);
	return ERR_RDATA;
}
