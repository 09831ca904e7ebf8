/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which answers are shared by many names, and what they look like. tests/bpf/test_truth_denials.c
 * compares what the driver makes of them with the engine's answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "tests/unit/engine/denials.h"

static const struct row {
	struct ask ask;
	size_t zone;
	int rcode;
	bool makes_one;
} rows[] = {
	{ { .name = "no.z.test", .type = 1 }, 0, DNS_RCODE_NXDOMAIN, true },
	{ { .name = "a.b.no.z.test", .type = 28 }, 0, DNS_RCODE_NXDOMAIN, true },
	{ { .name = "no.z.test", .type = 255 }, 0, DNS_RCODE_NXDOMAIN, true },
	{ { .name = "no.z.test", .type = 1, .udp_size = 1232, .dnssec_ok = true },
	  0,
	  DNS_RCODE_NXDOMAIN,
	  true },
	{ { .name = "no.z.test", .type = 1, .flags = DNS_FLAG_CD }, 0, DNS_RCODE_NXDOMAIN, true },
	{ { .name = "no.signed-nsec.example", .type = 1 }, 1, DNS_RCODE_NXDOMAIN, true },
	{ { .name = "b.c.z.test", .type = 28 }, 0, DNS_RCODE_NOERROR, false }, /* no data */
	{ { .name = "c.z.test", .type = 1 },
	  0,
	  DNS_RCODE_NOERROR,
	  false }, /* an empty non-terminal */
	{ { .name = "x.w.z.test", .type = 28 }, 0, DNS_RCODE_NOERROR, false }, /* a wildcard */
	{ { .name = "alias.z.test", .type = 1 },
	  0,
	  DNS_RCODE_NXDOMAIN,
	  false }, /* the alias's target */
	{ { .name = "x.cut.z.test", .type = 1 }, 0, DNS_RCODE_NOERROR, false },
	{ { .name = "x.a.z.test", .type = 1 },
	  0,
	  DNS_RCODE_NXDOMAIN,
	  false }, /* SOA points into the question */
	{ { .name = "no.z.test", .type = 128 }, 0, DNS_RCODE_NXDOMAIN, true }, /* no type of data */
	{ { .name = "no.signed-nsec.example", .type = 1, .udp_size = 1232, .dnssec_ok = true },
	  1,
	  DNS_RCODE_NXDOMAIN,
	  false }, /* with proofs */
	{ { .name = "no.off.test", .type = 1 },
	  2,
	  DNS_RCODE_NXDOMAIN,
	  false }, /* its names are in no filter */
};

static uint8_t flags_of(const struct ask *a)
{
	return (uint8_t)((a->dnssec_ok ? VOLLEY_KEY_DO : 0) |
			 (a->flags & DNS_FLAG_CD ? VOLLEY_KEY_CD : 0));
}

static void test_what_makes_one(void **state)
{
	struct reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		forget(row->zone);
		send_ask(w.engine, &row->ask, &r);
		if (reply_rcode(&r) != row->rcode)
			fail_msg("row %zu: rcode %u", i, reply_rcode(&r));
		if (!denial_of(row->zone, flags_of(&row->ask)) == row->makes_one)
			fail_msg("row %zu: a denial or none", i);
	}
}

/* An answer is found by the filter that it relies on, and by no other: the key has the whole id. */
static void test_key_has_the_id(void **state)
{
	(void)state;
	for (uint32_t bit = 1; bit <= VOLLEY_NAMES_ID_MAX; bit <<= 1) {
		uint32_t ids[] = { bit, VOLLEY_NAMES_ID_MAX ^ bit };

		for (size_t i = 0; i < 2; i++) {
			uint8_t kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_INTERVAL, ids[i]);

			assert_int_equal(VOLLEY_SHARED_CLASS(ids[i]) | (uint32_t)kind >> 2 << 16,
					 ids[i]);
			assert_int_equal(kind & 3, VOLLEY_KEY_INTERVAL);
		}
	}
}

/* Its body fits a question for the apex, and what differs from that lies where it says. */
static void test_what_it_says(void **state)
{
	static const struct ask ask = { .name = "one.two.z.test", .type = 1 };
	const struct volley_entry *entry;
	struct volley_shared d;
	const uint8_t *body;
	uint32_t longer = 8, body_at = DNS_HEADER_BYTES + 16 + 4;
	struct reply r;

	(void)state;
	forget(0);
	send_ask(w.uncached, &ask, &r);
	send_ask(w.engine, &ask, &r);
	entry = denial_of(0, 0);
	assert_non_null(entry);
	body = cache_entry_body(entry);
	memcpy(&d, body + entry->short_bytes, sizeof(d));
	assert_int_equal(entry->short_bytes + sizeof(d), entry->full_bytes);
	assert_int_equal(r.len, body_at + entry->short_bytes);
	assert_int_equal(d.n_pointers, 3); /* owner, and both names of the SOA */
	assert_int_equal(d.name_min, 1);
	assert_int_equal(d.name_max, 255);
	for (unsigned int i = 0; i < d.n_pointers; i++) {
		uint8_t *at = r.bytes + body_at + d.pointers[i];

		assert_int_equal(wire_load_be16(body + d.pointers[i]), 0xc000 | DNS_HEADER_BYTES);
		assert_int_equal(wire_load_be16(at), 0xc000 | (DNS_HEADER_BYTES + longer));
		wire_store_be16(at, 0xc000 | DNS_HEADER_BYTES);
	}
	assert_memory_equal(r.bytes + body_at, body, entry->short_bytes);
	assert_int_equal(d.suffixes[0],
			 names_hash_of(names.states[0]->keys, (const uint8_t *)"\1a\1z\4test", 10));
	assert_int_equal(d.suffixes[1],
			 names_hash_of(names.states[0]->keys, (const uint8_t *)"\1b\1z\4test", 10));
}

/* --- Wildcards -------------------------------------------------------------------------------- */

static const struct {
	struct ask ask;
	const char *wildcard;
	bool makes_one;
} wild_rows[] = {
	{ { .name = "x.w.z.test", .type = 1 }, "*.w.z.test", true },
	{ { .name = "a.b.c.w.z.test", .type = 33 }, "*.w.z.test", true }, /* no data */
	{ { .name = "a.b.x.z.test", .type = 1 }, "*.x.z.test", true }, /* an alias, and its end */
	{ { .name = "srv.m.z.test", .type = 15 },
	  "*.m.z.test",
	  false }, /* RDATA points into the question */
	{ { .name = "y.m.z.test", .type = 15 }, "*.m.z.test", true }, /* names in RDATA, addresses */
	{ { .name = "*.w.z.test", .type = 16 },
	  "*.w.z.test",
	  false }, /* the wildcard itself: it exists */
	{ { .name = "c.cut.w.z.test", .type = 16 }, "*.w.z.test", false }, /* below a cut */
	{ { .name = "x.w.off.test", .type = 1 },
	  "*.w.off.test",
	  false }, /* its names are in no filter */
	{ { .name = "x.alias.signed-nsec.example", .type = 1 },
	  "*.alias.signed-nsec.example",
	  true },
	{ { .name = "x.alias.signed-nsec.example", .type = 1, .udp_size = 1232, .dnssec_ok = true },
	  "*.alias.signed-nsec.example",
	  false }, /* with proofs */
	{ { .name = "x.many.z.test", .type = 16 },
	  "*.many.z.test",
	  true }, /* NS RRset left out: lengths */
};

static void test_which_wildcards_make_one(void **state)
{
	struct reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(wild_rows) / sizeof(wild_rows[0]); i++) {
		const struct ask *ask = &wild_rows[i].ask;
		const struct volley_entry *before =
			wildcard_of(wild_rows[i].wildcard, ask->type, flags_of(ask));

		if (before)
			fail_msg("row %zu: one was there before", i);
		send_ask(w.engine, ask, &r);
		if (!wildcard_of(wild_rows[i].wildcard, ask->type, flags_of(ask)) ==
		    wild_rows[i].makes_one)
			fail_msg("row %zu: a shared answer or none", i);
	}
}

/* Up to which length of a name the NS RRset has room, and from which on it has not. */
static void test_for_which_lengths(void **state)
{
	struct volley_shared fits, misfits;
	const struct volley_entry *entry;

	(void)state;
	entry = wildcard_of("*.w.z.test", 1, 0);
	assert_non_null(entry);
	memcpy(&fits, cache_entry_body(entry) + entry->short_bytes, sizeof(fits));
	assert_int_equal(fits.name_min, 1);
	assert_int_equal(fits.name_max, 255);
	entry = wildcard_of("*.many.z.test", 16, 0);
	assert_non_null(entry);
	memcpy(&misfits, cache_entry_body(entry) + entry->short_bytes, sizeof(misfits));
	assert_in_range(misfits.name_min, 2, 14);
	assert_in_range(misfits.name_max, 15, 254);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_makes_one),
		cmocka_unit_test(test_key_has_the_id),
		cmocka_unit_test(test_what_it_says),
		cmocka_unit_test(test_which_wildcards_make_one),
		cmocka_unit_test(test_for_which_lengths),
	};

	return cmocka_run_group_tests(tests, open_world, world_end);
}
