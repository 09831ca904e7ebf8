/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that do not come from text: what the builder refuses, and that order does not matter.
 */
#include "zone/builder.h"

#include <errno.h>
#include "tests/lib/zonenode.h"
#include "same_zone.h"
#include "zone_text.h"

struct row {
	const char *name, *owner;
	uint16_t type;
	uint32_t ttl;
	const char *rdata;
	uint16_t len;
	const char *word; /* NULL: taken */
};

static const struct row rows[] = {
	{ "a record", "a.test.", DNS_TYPE_A, 60, "\1\2\3\4", 4, NULL },
	{ "the apex", "test.", DNS_TYPE_A, 60, "\1\2\3\4", 4, NULL },
	{ "largest TTL", "a.test.", DNS_TYPE_A, 0x7fffffff, "\1\2\3\4", 4, NULL },
	{ "empty rdata", "a.test.", 65280, 60, "", 0, NULL },
	{ "outside", "a.test2.", DNS_TYPE_A, 60, "\1\2\3\4", 4, "outside" },
	{ "above", ".", DNS_TYPE_A, 60, "\1\2\3\4", 4, "outside" },
	{ "TTL too large", "a.test.", DNS_TYPE_A, 0x80000000, "\1\2\3\4", 4, "TTL" },
	{ "rdata too short", "a.test.", DNS_TYPE_A, 60, "\1\2\3\4", 3, "form" },
	{ "SOA below the apex", "a.test.", DNS_TYPE_SOA, 60, "", 0, "SOA" },
	{ "ANY", "a.test.", DNS_TYPE_ANY, 60, "", 0, "queries" },
	{ "AXFR", "a.test.", DNS_TYPE_AXFR, 60, "", 0, "queries" },
	{ "OPT", "a.test.", DNS_TYPE_OPT, 60, "", 0, "queries" },
	{ "type 0", "a.test.", 0, 60, "", 0, "queries" },
	{ "type 65535", "a.test.", 65535, 60, "", 0, "queries" },
};

static int add(struct zone_builder *b, const char *owner, uint16_t type, uint32_t ttl,
	       const void *rdata, uint16_t len, struct zone_error *err)
{
	uint8_t name[256];
	int n = name_from_text(name, DNS_NAME_MAX, owner, strlen(owner)); /* in its letter case */
	struct zone_builder_record rec = {
		.owner = name,
		.owner_bytes = (unsigned)n,
		.type = type,
		.ttl = ttl,
		.rdata = rdata,
		.rdata_bytes = len,
		.at = { .line = 7, .file = 0 },
	};

	assert_true(n > 0);
	return zone_builder_add(b, &rec, err);
}

static struct zone_builder *builder_of(const char *apex)
{
	struct zone_builder *b;
	uint8_t name[256];

	wire_of(name, apex);
	assert_int_equal(zone_builder_new(&b, name), 0);
	assert_int_equal(zone_builder_file(b, "some.file"), 0);
	return b;
}

static void takes_or_refuses(void **state)
{
	struct zone_builder *b = builder_of("test.");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct zone_error err = { 0 };
		int rc = add(b, row->owner, row->type, row->ttl, row->rdata, row->len, &err);

		print_message("  %s\n", row->name);
		assert_int_equal(rc, row->word ? ERR_ZONE : 0);
		if (!row->word)
			continue;
		assert_non_null(strstr(err.sentence, row->word));
		assert_string_equal(err.file, "some.file");
		assert_int_equal(err.line, 7);
	}
	zone_builder_free(b);
	zone_builder_free(NULL);
}

static void finishes_in_any_order(void **state)
{
	static const uint8_t soa[26] = { 1, 'a', 0, 1, 'b', 0, 0, 0, 0, 9 };
	uint8_t digest[2][ZONE_DIGEST_LEN];

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct zone_builder *b = builder_of("Test.");
		struct zone_error err = { 0 };
		struct zone *z;
		int rc = 0;

		for (int i = 0; i < 3; i++) {
			int which = turn ? 2 - i : i;

			if (which == 0)
				rc |= add(b, "test.", DNS_TYPE_SOA, 60, soa, sizeof(soa), &err);
			else if (which == 1)
				rc |= add(b, "test.", DNS_TYPE_NS, 60, "\1a", 3, &err);
			else
				rc |= add(b, "x.y.test.", DNS_TYPE_A, 60, "\1\2\3\4", 4, &err);
		}
		assert_int_equal(rc, 0);
		assert_int_equal(zone_builder_finish(b, &z, &err), 0);
		assert_int_equal(zone_serial(z), 9);
		assert_int_equal(zone_n_names(z), 3);
		zone_digest(z, digest[turn]);
		zone_free(z);
		zone_builder_free(b);
	}
	assert_memory_equal(digest[0], digest[1], ZONE_DIGEST_LEN);
}

static void add_apex(struct zone_builder *b, struct zone_error *err)
{
	static const uint8_t soa[26] = { 1, 'a', 0, 1, 'b', 0, 0, 0, 0, 9 };

	assert_int_equal(add(b, "test.", DNS_TYPE_SOA, 60, soa, sizeof(soa), err), 0);
	assert_int_equal(add(b, "test.", DNS_TYPE_NS, 60, "\1a", 3, err), 0);
}

/* The first labels of two owners in canonical order; they are of siblings. */
static int cmp_first_labels(const uint8_t *a, const uint8_t *b)
{
	int diff = memcmp(a + 1, b + 1, *a < *b ? *a : *b);

	return diff ? diff : *a - *b;
}

/*
 * As many siblings as are sorted in several ways, most with the same octets at the start, pairs
 * with the same up to the last one, in an order that is none: the stride is a prime that does not
 * divide their number.
 */
static void puts_many_names_in_order(void **state)
{
	static const char *const forms[] = { "a.test.", "samebeginning%u-and-end%u.test.",
					     "SAMEBEGINNING%uX%u.test.", "%u-%u.test." };
	struct zone_builder *b = builder_of("test.");
	struct zone_error err = { 0 };
	uint8_t before[256], owner[256];
	const unsigned n = 160000;
	struct zone *z;

	(void)state;
	add_apex(b, &err);
	for (unsigned i = 0; i < n; i++) {
		unsigned number = (unsigned)(i * UINT64_C(99991) % n);
		char name[64];

		snprintf(name, sizeof(name), forms[number < 4 ? 0 : 1 + number % 3], number / 6,
			 number / 3 % 2);
		assert_int_equal(add(b, name, DNS_TYPE_A, 60, "\1\2\3\4", 4, &err), 0);
	}
	assert_int_equal(zone_builder_finish(b, &z, &err), 0);
	assert_int_equal(zone_n_names(z), n - 4 + 2);
	for (size_t i = 1; i < zone_n_names(z); i++) {
		unsigned bytes = zone_node_owner(z, zone_node_at(z, i), owner);

		name_fold(owner, owner, bytes);
		assert_true(i == 1 || cmp_first_labels(before, owner) < 0);
		memcpy(before, owner, bytes);
	}
	zone_free(z);
	zone_builder_free(b);
}

/* Types that take turns make each record a part of its own; joined, all are there, in order. */
static void joins_many_parts_of_a_node(void **state)
{
	static const uint16_t types[] = { 65290, DNS_TYPE_A, 65280 };
	struct zone_builder *b = builder_of("test.");
	struct zone_error err = { 0 };
	const struct zone_rrset *rrsets;
	unsigned n;
	struct zone *z;

	(void)state;
	add_apex(b, &err);
	for (unsigned i = 0; i < 300; i++) {
		uint8_t rdata[4] = { 10, 0, (uint8_t)(i / 3 * 7 % 100), 1 };

		assert_int_equal(add(b, "x.test.", types[i % 3], 60, rdata, 4, &err), 0);
	}
	assert_int_equal(zone_builder_finish(b, &z, &err), 0);
	assert_int_equal(zone_n_records(z), 302);
	rrsets = zone_node_rrsets(z, zone_node_at(z, 1), &n);
	assert_int_equal(n, 3);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *at = zone_rrset_first(z, &rrsets[i]);
		struct zone_rdata rd;

		assert_true(!i || rrsets[i - 1].type < rrsets[i].type);
		assert_int_equal(rrsets[i].n, 100);
		for (unsigned k = 0; k < 100; k++) {
			at = zone_rdata_next(at, &rd);
			assert_int_equal(rd.bytes[2], k);
		}
	}
	zone_free(z);
	zone_builder_free(b);
}

/* Canonical order, with a name above that comes after those below, and one again in another
 * case. */
static const char *const in_order[] = {
	"test.",         "a.test.",     "b.a.test.", "c.B.A.test.", "x.y.c.b.a.test.",
	"y.c.b.a.test.", "c.b.a.test.", "b.a.test.", "d.a.test.",   "*.aa.test.",
	"Aa.test.",      "ab.test.",    "1.z.test.", "2.z.test.",   "z.test.",
};

#define N_IN_ORDER (sizeof(in_order) / sizeof(in_order[0]))

static struct zone *zone_in(const unsigned order[static N_IN_ORDER])
{
	static const uint8_t soa[26] = { 1, 'a', 0, 1, 'b', 0, 0, 0, 0, 9 };
	struct zone_builder *b = builder_of("test.");
	struct zone_error err = { 0 };
	struct zone *z;
	int rc = add(b, "test.", DNS_TYPE_SOA, 60, soa, sizeof(soa), &err) |
		 add(b, "test.", DNS_TYPE_NS, 60, "\1a", 3, &err);

	for (size_t i = 0; i < N_IN_ORDER; i++)
		rc |= add(b, in_order[order[i]], DNS_TYPE_A, 60, "\1\2\3\4", 4, &err);
	assert_int_equal(rc, 0);
	assert_int_equal(zone_builder_finish(b, &z, &err), 0);
	zone_builder_free(b);
	return z;
}

/* One name comes late, of all the one at each place: from there on names are looked up. */
static void takes_names_in_order_and_late_ones(void **state)
{
	unsigned order[N_IN_ORDER];
	struct zone *first, *other;
	struct same same;

	(void)state;
	for (unsigned i = 0; i < N_IN_ORDER; i++)
		order[i] = i;
	first = zone_in(order);
	assert_int_equal(zone_n_names(first), 13);
	for (unsigned late = 0; late < N_IN_ORDER; late++) {
		for (unsigned to = late + 1; to < N_IN_ORDER; to++) {
			for (unsigned i = 0; i < N_IN_ORDER; i++)
				order[i] = i == to ? late : i + (i >= late && i < to);
			other = zone_in(order);
			same = (struct same){ .a = first, .b = other };
			if (!same_zones(&same))
				fail_msg("%s behind %s: %s", in_order[late], in_order[to],
					 same.why);
			zone_unref(other);
		}
	}
	zone_unref(first);
}

static void refuses_a_zone_without_soa(void **state)
{
	struct zone_builder *b = builder_of("test.");
	struct zone_error err = { 0 };
	struct zone *z;

	(void)state;
	assert_int_equal(zone_builder_finish(b, &z, &err), ERR_ZONE);
	assert_null(z);
	assert_non_null(strstr(err.sentence, "no SOA"));
	zone_builder_free(b);
}

static void ends_when_told(void **state)
{
	struct zone_builder *b = builder_of("test.");
	struct zone_error err = { 0 };
	bool cancel = true;
	struct zone *z;

	(void)state;
	add_apex(b, &err);
	zone_builder_watch(b, &cancel);
	assert_int_equal(zone_builder_finish(b, &z, &err), -ECANCELED);
	assert_null(z);
	zone_builder_free(b);
	b = builder_of("test.");
	add_apex(b, &err);
	cancel = false;
	zone_builder_watch(b, &cancel);
	assert_int_equal(zone_builder_finish(b, &z, &err), 0);
	zone_free(z);
	zone_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_or_refuses),
		cmocka_unit_test(finishes_in_any_order),
		cmocka_unit_test(puts_many_names_in_order),
		cmocka_unit_test(takes_names_in_order_and_late_ones),
		cmocka_unit_test(joins_many_parts_of_a_node),
		cmocka_unit_test(refuses_a_zone_without_soa),
		cmocka_unit_test(ends_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
