/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which answers are shared by many names, what they look like, and which changes of the zone
 * withdraw them. tests/bpf/test_truth_denials.c compares what the driver makes of them with the
 * engine's answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "engine/affected.h"
#include "engine/name_filter.h"
#include "engine/shared_answer.h"
#include "tests/unit/engine/world.h"

#define SOA "$TTL 300\n@ 60 SOA ns1.A Host.b %u 2 3 4 60\n"
/* 422 octets of TXT: behind these there is no room for the servers of the zone in 512 octets, but
 * for very short names. */
#define OCTETS_52  "0123456789012345678901234567890123456789012345678901"
#define OCTETS_210 OCTETS_52 OCTETS_52 OCTETS_52 OCTETS_52 "01"
#define FILL       "\"" OCTETS_210 "\" \"" OCTETS_210 "\""
#define ZONE                                                                               \
	"@ NS ns1.a\n@ A 192.0.2.1\nns1.a A 192.0.2.2\nb.c A 192.0.2.3\n*.w A 192.0.2.4\n" \
	"alias CNAME nowhere\nout CNAME x.other.test.\ncut NS ns.other.test.\n"            \
	"*.x CNAME target\ntarget A 192.0.2.5\ncut.w NS ns.other.test.\n"                  \
	"*.m MX 1 srv.m\n*.m MX 2 mail.y.z.test.\nmail.y A 192.0.2.6\n*.many TXT " FILL "\n"

static struct world w;
static struct names names;
static struct volley_names_line lines[VOLLEY_DEFAULT_NAMES_LINES];

static int no_grace(void *user)
{
	(void)user;
	return 0;
}

static int open_world(void **state)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	char text[2048];
	size_t n;

	world_begin(&w, state);
	n = (size_t)snprintf(text, sizeof(text), SOA, 1);
	snprintf(text + n, sizeof(text) - n, "%s", ZONE);
	world_add_zone(&w, "z.test", text);
	world_load_zone(&w, "signed-nsec.example", "zones/signed-nsec.example.zone");
	world_add_zone(&w, "off.test", text);
	world_add_cache(&w);
	names_init(&names, lines, VOLLEY_DEFAULT_NAMES_LINES, &cache_state(w.cache)->names);
	MUST(!names_begin(&names, no_grace, NULL));
	for (size_t i = 0; i < w.n_zones; i++) {
		names_add_apex(&names, w.members[i].apex, w.members[i].apex_len);
		names_add_zone(&names, w.members[i].zone, NULL);
		w.members[i].names_id = i < 2 ? names_id(&names) : 0;
	}
	world_publish(&w);
	MUST(!engine_new(&w.engine, &config, w.cache, &w.zones));
	MUST(!engine_new(&w.uncached, &config, NULL, &w.zones));
	return 0;
}

static void denial_key(struct cache_key *key, size_t i, uint8_t key_flags)
{
	const struct volley_key first = {
		.qclass = htons(VOLLEY_SHARED_CLASS(names_id(&names))),
		.flags = key_flags,
		.name_bytes = (uint8_t)w.members[i].apex_len,
		.kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_DENIAL, names_id(&names)),
	};

	cache_key_from(key, w.cache, &first, w.members[i].apex);
}

/* The denial of zone number i in the cache, or NULL. */
static const struct volley_entry *denial_of(size_t i, uint8_t key_flags)
{
	const struct volley_entry *entry;
	struct cache_key key;

	denial_key(&key, i, key_flags);
	return cache_lookup(w.cache, &key, WORLD_NOW_S, false, &entry) == CACHE_HIT ? entry : NULL;
}

static void forget(size_t i)
{
	struct cache_key key;

	for (uint8_t flags = 0; flags < 4; flags++) {
		denial_key(&key, i, flags);
		(void)cache_withdraw(w.cache, &key);
	}
}

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

/* Another version of z.test. */
static struct zone *version(unsigned int serial, const char *more, const char *soa)
{
	char path[] = "/tmp/volley-denials-XXXXXX";
	struct zone_error error;
	struct zone *z = NULL;
	FILE *f = fdopen(mkstemp(path), "w");

	MUST(f);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(f, soa, serial);
#pragma GCC diagnostic pop
	fprintf(f, "%s%s", ZONE, more);
	fclose(f);
	MUST(!zone_load_file(&z, "z.test", path, &error));
	unlink(path);
	return z;
}

static const struct {
	const char *what, *more, *soa;
	bool is_withdrawn;
} changes_rows[] = {
	{ "a serial number", "", SOA, false },
	{ "a name", "new A 192.0.2.9\n", SOA, false },
	{ "a wildcard", "*.new A 192.0.2.9\n", SOA, false },
	{ "a cut", "new NS ns.other.test.\n", SOA, false },
	{ "the time of denials", "", "$TTL 300\n@ 60 SOA ns1.A Host.b %u 2 3 4 59\n", true },
	{ "the server in SOA", "", "$TTL 300\n@ 60 SOA ns2.a Host.b %u 2 3 4 60\n", true },
};

static void test_what_withdraws_it(void **state)
{
	static const struct ask ask = { .name = "never.asked.z.test", .type = 1 };
	struct reply r;

	(void)state;
	forget(0);
	send_ask(w.engine, &ask, &r);
	assert_non_null(denial_of(0, 0));
	for (size_t i = 0; i < sizeof(changes_rows) / sizeof(changes_rows[0]); i++) {
		struct zone *z = version(2, changes_rows[i].more, changes_rows[i].soa);
		enum changes_refusal why;
		struct changes *c = changes_new(w.members[0].zone, z, &why);

		assert_non_null(c);
		if (affected_by(c, denial_of(0, 0)) != changes_rows[i].is_withdrawn)
			fail_msg("%s: withdrawn or not", changes_rows[i].what);
		changes_free(c);
		zone_free(z);
	}
}

/* --- Wildcards -------------------------------------------------------------------------------- */

static const struct volley_entry *wildcard_of(const char *name, uint16_t type, uint8_t key_flags)
{
	const struct volley_entry *entry;
	struct volley_key first = {
		.qtype = htons(type),
		.qclass = htons(VOLLEY_SHARED_CLASS(names_id(&names))),
		.flags = key_flags,
		.kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_WILDCARD, names_id(&names)),
	};
	uint8_t wire[NAME_FOLDED_BYTES];
	struct cache_key key;
	int n = name_from_text(wire, DNS_NAME_MAX, name, strlen(name));

	assert_true(n > 0);
	first.name_bytes = (uint8_t)n;
	cache_key_from(&key, w.cache, &first, wire);
	return cache_lookup(w.cache, &key, WORLD_NOW_S, false, &entry) == CACHE_HIT ? entry : NULL;
}

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

static const struct {
	const char *what, *more;
	bool is_withdrawn;
} wild_changes[] = {
	{ "a serial number", "", false },
	{ "another name", "new A 192.0.2.9\n", false },
	{ "its records", "*.w A 192.0.2.9\n", true },
	{ "another type of it", "*.w TXT x\n", true },
	{ "a cut above it", "w NS ns.other.test.\n", true },
	{ "a name below its parent", "n.w A 192.0.2.9\n", false },
};

static void test_what_withdraws_a_wildcard(void **state)
{
	static const struct ask ask = { .name = "x.w.z.test", .type = 1 };
	struct reply r;

	(void)state;
	send_ask(w.engine, &ask, &r);
	assert_non_null(wildcard_of("*.w.z.test", 1, 0));
	for (size_t i = 0; i < sizeof(wild_changes) / sizeof(wild_changes[0]); i++) {
		struct zone *z = version(2, wild_changes[i].more, SOA);
		enum changes_refusal why;
		struct changes *c = changes_new(w.members[0].zone, z, &why);

		assert_non_null(c);
		if (affected_by(c, wildcard_of("*.w.z.test", 1, 0)) != wild_changes[i].is_withdrawn)
			fail_msg("%s: withdrawn or not", wild_changes[i].what);
		changes_free(c);
		zone_free(z);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_makes_one),
		cmocka_unit_test(test_key_has_the_id),
		cmocka_unit_test(test_what_it_says),
		cmocka_unit_test(test_what_withdraws_it),
		cmocka_unit_test(test_which_wildcards_make_one),
		cmocka_unit_test(test_for_which_lengths),
		cmocka_unit_test(test_what_withdraws_a_wildcard),
	};

	return cmocka_run_group_tests(tests, open_world, world_end);
}
