/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Octets as a program of edits, carried out twice: on versions of a zone, and on a plain table of
 * records from which a zone is built anew wherever the versions end an edit. Both must agree on
 * every answer of an edit, on whether the outcome is a zone, and on that zone. For a fuzzer, and
 * for unit tests with random octets.
 */
#ifndef VOLLEY_TESTS_ZONE_EDIT_MODEL_H
#define VOLLEY_TESTS_ZONE_EDIT_MODEL_H

#include <stdlib.h>

#include "base/err.h"
#include "tests/lib/must.h"
#include "tests/unit/zone/same_zone.h"
#include "zone/builder.h"
#include "zone/edit.h"

#define MODEL_HASH \
	"\40"      \
	"0123456789abcdefghijklmnopqrstuv"

/* Some names are there twice, in other letters. The first is the apex. */
static const char *const model_owners[] = {
	"\1z",
	"\1a\1z",
	"\1A\1z",
	"\1*\1z",
	"\1b\1a\1z",
	"\1*\1a\1z",
	"\1c\1b\1a\1z",
	"\1*\1B\1a\1z",
	"\2aa\1z",
	"\1x\2aa\1z",
	"\1y\1x\2aa\1z",
	"\1d\1z",
	"\1e\1d\1z",
	"\1f\1e\1D\1z",
	"\1g\1f\1e\1d\1z",
	MODEL_HASH "\1z",
	"\1a" MODEL_HASH "\1z",
};
#define MODEL_N_OWNERS (sizeof(model_owners) / sizeof(model_owners[0]))

struct model_rdata {
	uint16_t type, bytes;
	const char *octets;
};

#define MODEL_SOA(serial)      "\1a\1z\0\1h\0\0\0\0" serial "\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5"
#define MODEL_RRSIG(type, ttl) "\0" type "\15\1\0\0\0" ttl "\177\0\0\0\1\0\0\0\0\1\1z\0ab"

#define MODEL_RDATA(type, octets)                \
	{                                        \
		type, sizeof(octets) - 1, octets \
	}
static const struct model_rdata model_rdata[] = {
	MODEL_RDATA(DNS_TYPE_SOA, MODEL_SOA("\1")),
	MODEL_RDATA(DNS_TYPE_SOA, MODEL_SOA("\2")),
	MODEL_RDATA(DNS_TYPE_NS, "\1a\1z\0"),
	MODEL_RDATA(DNS_TYPE_NS, "\2ns\5other\0"),
	MODEL_RDATA(DNS_TYPE_A, "\300\0\2\1"),
	MODEL_RDATA(DNS_TYPE_A, "\300\0\2\2"),
	MODEL_RDATA(DNS_TYPE_A, "\12\0\2\2"),
	MODEL_RDATA(DNS_TYPE_TXT, "\1x"),
	MODEL_RDATA(DNS_TYPE_CNAME, "\1a\1z\0"),
	MODEL_RDATA(DNS_TYPE_CNAME, "\1b\1z\0"),
	MODEL_RDATA(DNS_TYPE_DNAME, "\1o\0"),
	MODEL_RDATA(DNS_TYPE_DS, "\0\1\15\2\1\2\3\4"),
	MODEL_RDATA(DNS_TYPE_NSEC, "\1z\0\0\1\100"),
	MODEL_RDATA(DNS_TYPE_NSEC, "\1a\1z\0\0\1\100"),
	MODEL_RDATA(DNS_TYPE_NSEC3, "\1\0\0\0\0\24abcdefghijklmnopqrst"),
	MODEL_RDATA(DNS_TYPE_RRSIG, MODEL_RRSIG("\1", "\5")),
	MODEL_RDATA(DNS_TYPE_RRSIG, MODEL_RRSIG("\57", "\6")),
	MODEL_RDATA(DNS_TYPE_DNSKEY, "\1\0\3\15abcd"),
	MODEL_RDATA(DNS_TYPE_A, "not an address"),
	MODEL_RDATA(DNS_TYPE_OPT, ""),
	MODEL_RDATA(65280, ""),
};
#define MODEL_N_RDATA (sizeof(model_rdata) / sizeof(model_rdata[0]))

struct model {
	bool has[MODEL_N_OWNERS][MODEL_N_RDATA];
	uint32_t ttl[MODEL_N_OWNERS][MODEL_N_RDATA]; /* alike for all of an RRset */
};

#define MODEL_HELD 4

struct model_run {
	struct model now, good; /* what the edit has made of it; what the last version has */
	struct zone *z;
	struct zone_edit *e;
	struct zone *held[MODEL_HELD], *images[MODEL_HELD];
	unsigned n_finished;
};

static inline const uint8_t *model_owner(unsigned i)
{
	return (const uint8_t *)model_owners[i];
}

static inline unsigned model_fold(unsigned owner)
{
	for (unsigned i = 0; i < owner; i++)
		if (name_equal(model_owner(i), model_owner(owner)))
			return i;
	return owner;
}

/* --- The table --- */

static inline int model_add(struct model *m, unsigned owner, unsigned rdata, uint32_t ttl)
{
	uint16_t type = model_rdata[rdata].type;
	bool same = m->has[owner][rdata] && (m->ttl[owner][rdata] == ttl || type == DNS_TYPE_RRSIG);

	if ((type == DNS_TYPE_SOA && owner) || type == DNS_TYPE_OPT || rdata == MODEL_N_RDATA - 3)
		return ERR_ZONE;
	if (same)
		return 1;
	m->has[owner][rdata] = true;
	for (unsigned i = 0; i < MODEL_N_RDATA; i++)
		if (model_rdata[i].type == type)
			m->ttl[owner][i] = ttl;
	return 0;
}

/* @rdata: that one, all of its type, or with @all everything. */
static inline int model_remove(struct model *m, unsigned owner, unsigned rdata, bool type, bool all)
{
	int rc = ERR_NOT_FOUND;

	for (unsigned i = 0; i < MODEL_N_RDATA; i++) {
		bool meant = all || i == rdata ||
			     (type && model_rdata[i].type == model_rdata[rdata].type);

		if (!meant || !m->has[owner][i])
			continue;
		m->has[owner][i] = false;
		rc = 0;
	}
	return rc;
}

static inline int model_build(const struct model *m, struct zone **out)
{
	struct zone_error err = { 0 };
	struct zone_builder *b;
	int rc = zone_builder_new(&b, model_owner(0));

	MUST(!rc && zone_builder_file(b, "model") == 0);
	for (unsigned i = 0; i < MODEL_N_OWNERS * MODEL_N_RDATA && !rc; i++) {
		const struct model_rdata *rd = &model_rdata[i % MODEL_N_RDATA];
		unsigned owner = (unsigned)(i / MODEL_N_RDATA);
		struct zone_builder_record r = { .owner = model_owner(owner),
						 .type = rd->type,
						 .rdata_bytes = rd->bytes,
						 .ttl = m->ttl[owner][i % MODEL_N_RDATA],
						 .rdata = (const uint8_t *)rd->octets };

		r.owner_bytes = (unsigned)name_bytes(r.owner);
		if (rd->type == DNS_TYPE_RRSIG)
			r.ttl = (uint8_t)rd->octets[7]; /* as an edit does */
		if (m->has[owner][i % MODEL_N_RDATA])
			rc = zone_builder_add(b, &r, &err);
	}
	MUST(!rc);
	rc = zone_builder_finish(b, out, &err);
	zone_builder_free(b);
	return rc;
}

/* --- Both --- */

/* Of the names that edits may have left behind. */
static inline bool model_same_absent(struct same *s, const uint8_t *owner)
{
	uint8_t name[NAME_FOLDED_BYTES];
	bool is_there = zone_node_of(s->a, owner);

	if (is_there != (zone_node_of(s->b, owner) != NULL))
		return same_fail(s, "there or not", owner, 0);
	if (is_there)
		return true;
	name_fold(name, owner, name_bytes(owner));
	return same_answers(s, name, SAME_TYPES_ABSENT);
}

static inline void model_compare(const struct zone *a, const struct zone *b)
{
	struct same s = { .a = a, .b = b, .is_brief = true };
	bool is_same = same_zones(&s);

	for (unsigned i = 0; is_same && i < MODEL_N_OWNERS; i++)
		is_same = model_fold(i) != i || model_same_absent(&s, model_owner(i));
	if (!is_same)
		fprintf(stderr, "%s\n", s.why);
	MUST(is_same);
}

/* It is compared only now: edits behind it have left it as it was, too. */
static inline void model_let_go(struct model_run *r, unsigned place)
{
	if (r->held[place])
		model_compare(r->held[place], r->images[place]);
	zone_unref(r->held[place]);
	zone_unref(r->images[place]);
}

static inline void model_hold(struct model_run *r, struct zone *z, struct zone *image)
{
	unsigned place = r->n_finished++ % MODEL_HELD;

	model_let_go(r, place);
	r->held[place] = zone_ref(z);
	r->images[place] = image;
	zone_unref(r->z);
	r->z = z;
}

/* An edit without an outcome takes no image of its own: those of the last one do. */
static inline void model_finish(struct model_run *r)
{
	struct zone *last = r->n_finished ? r->images[(r->n_finished - 1) % MODEL_HELD] : NULL;
	bool is_as_before = last && !memcmp(&r->now, &r->good, sizeof(r->now));
	struct zone *image = is_as_before ? zone_ref(last) : NULL, *z;
	int want = is_as_before ? 0 : model_build(&r->now, &image);
	struct zone_error err;
	int rc = zone_edit_finish(r->e, &z, NULL, &err);

	if (rc != want)
		fprintf(stderr, "%d, not %d: %s\n", rc, want, err.sentence);
	MUST(rc == want);
	r->e = NULL;
	if (rc) {
		r->now = r->good;
		return;
	}
	r->good = r->now;
	model_hold(r, z, image);
}

/* Three octets: what is done, to which owner, with which data. */
static inline void model_step(struct model_run *r, const uint8_t op[3])
{
	unsigned given = op[1] % MODEL_N_OWNERS, owner = model_fold(given);
	unsigned rdata = op[2] % MODEL_N_RDATA;
	const struct model_rdata *rd = &model_rdata[rdata];
	const uint8_t *name = model_owner(given), *octets = (const uint8_t *)rd->octets;
	uint32_t ttl = op[0] & 0x80 ? 60 : 300;

	if (!r->e)
		MUST(!zone_edit_begin(&r->e, r->z));
	switch (op[0] & 15) {
	case 0:
		model_finish(r);
		break;
	case 1:
		zone_edit_cancel(r->e);
		r->e = NULL;
		r->now = r->good;
		break;
	case 2:
		MUST(zone_edit_remove_name(r->e, name) ==
		     model_remove(&r->now, owner, rdata, false, true));
		break;
	case 3:
		MUST(zone_edit_remove_rrset(r->e, name, rd->type) ==
		     model_remove(&r->now, owner, rdata, true, false));
		break;
	case 4:
	case 5:
	case 6:
		MUST(zone_edit_remove(r->e, name, rd->type, octets, rd->bytes) ==
		     model_remove(&r->now, owner, rdata, false, false));
		break;
	default:
		MUST(zone_edit_add(r->e, name, rd->type, ttl, octets, rd->bytes) ==
		     model_add(&r->now, owner, rdata, ttl));
	}
}

/* The program ends behind so many versions. */
static inline void model_run(const uint8_t *ops, size_t n, unsigned n_versions)
{
	struct model_run *r = calloc(1, sizeof(*r));

	MUST(r);
	MUST(!model_add(&r->good, 0, 0, 300) && !model_add(&r->good, 0, 2, 300));
	for (unsigned i = 0; n && i < 8; i++, n--, ops++) /* what the first image has */
		(void)model_add(&r->good, model_fold(*ops % MODEL_N_OWNERS), 4 + *ops % 5, 300);
	if (!model_build(&r->good, &r->z)) {
		r->now = r->good;
		for (; n >= 3 && r->n_finished < n_versions; ops += 3, n -= 3)
			model_step(r, ops);
	}
	zone_edit_cancel(r->e);
	zone_unref(r->z);
	for (unsigned i = 0; i < MODEL_HELD; i++)
		model_let_go(r, i);
	free(r);
}

#endif
