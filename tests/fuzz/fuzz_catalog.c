/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is the records of a catalog, with one octet for each usual form. The members that are
 * read are sorted and found by their names; written as a catalog and read again they are the same.
 * The steps from an empty catalog to it, and back, are as many as its members.
 */
#include <stdlib.h>
#include <string.h>

#include "dns/name.h"
#include "tests/lib/must.h"
#include "xfr/catalog.h"
#include "zone/builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t apex[] = "\1c";

struct input {
	const uint8_t *at;
	size_t left;
};

static const uint8_t *take(struct input *in, size_t n)
{
	const uint8_t *at = in->at;

	if (n > in->left)
		return NULL;
	in->at += n;
	in->left -= n;
	return at;
}

static unsigned take_octet(struct input *in)
{
	const uint8_t *at = take(in, 1);

	return at ? *at : 0;
}

/* --- A zone of it ----------------------------------------------------------------------------- */

static int put(void *user, const uint8_t *owner, uint16_t type, uint32_t ttl, const uint8_t *rdata,
	       uint16_t rdata_bytes)
{
	const struct zone_builder_record r = {
		.owner = owner,
		.owner_bytes = (unsigned int)name_bytes(owner),
		.type = type,
		.ttl = ttl,
		.rdata = rdata,
		.rdata_bytes = rdata_bytes,
	};
	struct zone_error err;

	(void)!zone_builder_add(user, &r, &err); /* if it fails, without the record */
	return 0;
}

struct owner {
	uint8_t name[DNS_NAME_MAX];
	unsigned n;
};

static void append(struct owner *o, const void *bytes, size_t n)
{
	MUST(o->n + n <= sizeof(o->name));
	memcpy(o->name + o->n, bytes, n);
	o->n += (unsigned)n;
}

/* "version", "<label>.zones", "group.<label>.zones", "coo.<label>.zones", "<label>",
 * "<label>.<label>.zones" */
static void make_owner(struct owner *o, unsigned form, struct input *in)
{
	static const char *const first[] = { "\7version", NULL, "\5group", "\3coo" };
	unsigned n_labels = form == 0 ? 0 : form == 5 ? 2 : 1;

	o->n = 0;
	if (form < 4 && first[form])
		append(o, first[form], 1u + (size_t)first[form][0]);
	for (; n_labels; n_labels--) {
		uint8_t n = (uint8_t)(1 + take_octet(in) % DNS_LABEL_MAX);
		const uint8_t *label = take(in, n);

		append(o, label ? &n : (const uint8_t *)"\1", 1);
		append(o, label ? label : (const uint8_t *)"u", label ? n : 1);
	}
	if (form != 0 && form != 4)
		append(o, "\5zones", 6);
	append(o, apex, sizeof(apex));
}

static const uint16_t types[] = { DNS_TYPE_PTR, DNS_TYPE_TXT, DNS_TYPE_A, DNS_TYPE_CNAME };

/* One octet for the owner's form and the type; then the octets for the owner, and rdata after its
 * length. */
static void add_record(struct zone_builder *b, struct input *in)
{
	unsigned what = take_octet(in), n;
	const uint8_t *rdata;
	struct owner o;

	make_owner(&o, what % 6, in);
	n = take_octet(in);
	if (n > in->left)
		n = (unsigned)in->left;
	rdata = take(in, n);
	put(b, o.name, types[what / 6 % 4], 0, rdata, (uint16_t)n);
}

static struct zone *finish(struct zone_builder *b)
{
	struct zone *z = NULL;
	struct zone_error err;

	if (zone_builder_finish(b, &z, &err))
		z = NULL;
	zone_builder_free(b);
	return z;
}

static struct zone_builder *begin(void)
{
	struct zone_builder *b;

	MUST(!zone_builder_new(&b, apex));
	return b;
}

static struct zone *zone_of(const uint8_t *data, size_t size)
{
	struct input in = { data + 1, size - 1 };
	struct zone_builder *b = begin();

	if (data[0] & 1)
		MUST(!catalog_put_head(apex, 7, put, b));
	while (in.left)
		add_record(b, &in);
	return finish(b);
}

static struct zone *zone_from(const struct catalog *c)
{
	struct zone_builder *b = begin();
	struct zone *z;

	MUST(!catalog_put_head(apex, 7, put, b));
	for (size_t i = 0; i < c->n; i++)
		if (catalog_put_member(apex, &c->members[i], put, b)) {
			zone_builder_free(b); /* a name with the origin is too long */
			return NULL;
		}
	z = finish(b);
	MUST(z);
	return z;
}

/* --- What is read ----------------------------------------------------------------------------- */

static int count(void *user, enum catalog_change change, const struct catalog_member *before,
		 const struct catalog_member *now)
{
	size_t *n = user;

	(void)change;
	MUST(before || now);
	++*n;
	return 0;
}

static size_t n_steps(const struct catalog *before, const struct catalog *now)
{
	size_t n = 0;

	MUST(!catalog_compare(before, now, count, &n));
	return n;
}

static void check_member(const struct catalog *c, const struct catalog_member *m)
{
	uint8_t folded[NAME_FOLDED_BYTES];

	MUST(name_check(m->name, DNS_NAME_MAX) > 0 && catalog_find(c, m->name) == m);
	name_fold(folded, m->name, name_bytes(m->name));
	MUST(!memcmp(folded, m->name, name_bytes(m->name)));
	MUST(m->unique[0] && m->unique[0] <= DNS_LABEL_MAX);
	if (m->coo)
		MUST(name_check(m->coo, DNS_NAME_MAX) > 0);
	MUST(m->group || !m->group_bytes);
}

static void check(const struct catalog *c)
{
	struct catalog none = { 0 }, again = { 0 };
	char why[256];
	struct zone *z;

	for (size_t i = 0; i < c->n; i++)
		check_member(c, &c->members[i]);
	MUST(n_steps(&none, c) == c->n && n_steps(c, &none) == c->n && !n_steps(c, c));
	z = zone_from(c);
	if (!z)
		return;
	MUST(!catalog_read(&again, z, why, sizeof(why)));
	MUST(again.n == c->n && !n_steps(c, &again));
	catalog_fini(&again);
	zone_free(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zone *z = size ? zone_of(data, size) : NULL;
	struct catalog c = { 0 };
	char why[256];

	if (!z)
		return 0;
	if (catalog_read(&c, z, why, sizeof(why)))
		MUST(!c.n && *why);
	else
		check(&c);
	catalog_fini(&c);
	zone_free(z);
	return 0;
}
