/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What single changes of a zone leave in the cache, and how much of it; when nothing can be told.
 * tests/unit/engine/test_affected.c has the proof that nothing stays which changed.
 */
#include "tests/unit/engine/answers.h"

/* --- Single changes --------------------------------------------------------------------------- */

static const char head[] = "$TTL 300\nz. SOA a host 1 2 3 4 60\nz. NS a\na A 192.0.2.1\n";

static struct zone *zone_from(const char *soa_and_ns, const char *lines, enum zone_chain chain,
			      unsigned key)
{
	struct zone *z;
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	fputs(soa_and_ns, f);
	fputs(lines, f);
	fclose(f);
	z = load_signed(text, chain, false, key);
	assert_non_null(z);
	free(text);
	return z;
}

/* Whatever is affected is touched (invalidate/affected.h). */
static bool is_touched_by(const struct changes *changes, const struct volley_entry *e)
{
	static struct dependencies dependencies;
	struct dependency_list list = { .n = 0 };
	bool is;

	dependencies_clear(&dependencies);
	affected_dependencies(DEPENDENCIES_SEED, e, &dependencies);
	assert_int_equal(affected_list(DEPENDENCIES_SEED, changes, &list), 0);
	is = is_touched(&dependencies, &list);
	free(list.items);
	return is;
}

static bool in_vain; /* the last one is touched, but not affected */

static bool is_affected(struct zone *old, struct zone *new, const char *name, uint16_t type,
			bool dnssec_ok)
{
	static const struct engine_config config = ENGINE_CONFIG_INIT;
	enum changes_refusal why;
	struct changes *changes = changes_new(old, new, &why);
	struct answer a;
	bool affected;

	assert_non_null(changes);
	ask_for(&a, name, type, dnssec_ok);
	assert_true(render(&config, old, &a.q, a.entry));
	affected = affected_by(changes, entry_of(&a));
	in_vain = is_touched_by(changes, entry_of(&a)) && !affected;
	assert_true(!affected || is_touched_by(changes, entry_of(&a)));
	free(a.entry);
	changes_free(changes);
	return affected;
}

static const struct row {
	const char *what, *soa_and_ns, *old, *new;
	const char *name;
	uint16_t type;
	enum { STAYS, IN_VAIN, GOES } want; /* IN_VAIN: touched, and stays */
} rows[] = {
#define LINES   "b A 192.0.2.2\nb MX 1 c\nc A 192.0.2.3\ne CNAME b\n*.w A 192.0.2.4\nx.w TXT x\n"
#define SERIAL  "$TTL 300\nz. SOA a host 2 2 3 4 60\nz. NS a\na A 192.0.2.1\n"
#define MINIMUM "$TTL 300\nz. SOA a host 2 2 3 4 61\nz. NS a\na A 192.0.2.1\n"
#define SERVERS "$TTL 300\nz. SOA a host 2 2 3 4 60\nz. NS c\na A 192.0.2.1\n"
#define T(t)    DNS_TYPE_##t
	{ "serial: negatives", SERIAL, LINES, LINES, "no.z", T(A), STAYS },
	{ "serial: the SOA itself", SERIAL, LINES, LINES, "z", T(SOA), GOES },
	{ "serial: an alias's end", SERIAL, LINES, LINES, "e.z", T(TXT), STAYS },
	{ "serial: another type at the apex", SERIAL, LINES, LINES, "z", T(NS), STAYS },
	{ "serial: all types at the apex", SERIAL, LINES, LINES, "z", T(ANY), GOES },
	{ "MINIMUM: negatives", MINIMUM, LINES, LINES, "no.z", T(A), GOES },
	{ "MINIMUM: positives", MINIMUM, LINES, LINES, "b.z", T(A), STAYS },
	{ "servers: positives", SERVERS, LINES, LINES, "b.z", T(A), GOES },
	{ "servers: negatives", SERVERS, LINES, LINES, "no.z", T(A), STAYS },
	{ "an address: of another", head, LINES, LINES "d A 192.0.2.9\n", "b.z", T(A), STAYS },
	{ "a name: was denied", head, LINES, LINES "d A 192.0.2.9\n", "d.z", T(A), GOES },
	{ "a name: below was denied", head, LINES, LINES "d A 192.0.2.9\n", "a.d.z", T(A), GOES },
	{ "a name: another was denied", head, LINES, LINES "d A 192.0.2.9\n", "f.z", T(A), STAYS },
	{ "a name: it goes", head, LINES "d A 192.0.2.9\n", LINES, "d.z", T(A), GOES },
	{ "a wildcard: stood for it", head, LINES, LINES "*.w A 192.0.2.9\n", "y.w.z", T(A), GOES },
	{ "a wildcard: a name beside it", head, LINES, LINES "*.w A 192.0.2.9\n", "x.w.z", T(TXT),
	  IN_VAIN },
	{ "a wildcard at the apex", head, LINES, LINES "* A 192.0.2.9\n", "no.z", T(A), GOES },
	{ "a wildcard at the apex: others", head, LINES, LINES "* A 192.0.2.9\n", "b.z", T(A),
	  IN_VAIN },
	{ "a cut: below", head, LINES, LINES "w NS a\n", "y.w.z", T(A), GOES },
	{ "additional: it changed", head, LINES, LINES "c AAAA 2001:db8::1\n", "b.z", T(MX), GOES },
	{ "additional: other type", head, LINES, LINES "c TXT x\n", "b.z", T(MX), IN_VAIN },
	{ "the end of an alias", head, LINES, LINES "b A 192.0.2.9\n", "e.z", T(A), GOES },
#undef T
};

static void single_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct zone *old = zone_from(head, row->old, ZONE_CHAIN_NONE, 1);
		struct zone *new = zone_from(row->soa_and_ns, row->new, ZONE_CHAIN_NONE, 1);

		if (is_affected(old, new, row->name, row->type, false) != (row->want == GOES) ||
		    in_vain != (row->want == IN_VAIN))
			fail_msg("%s: not so", row->what);
		zone_free(old);
		zone_free(new);
	}
}

/* An NS RRset that was left out for want of room may have room when it changes. */
static void servers_left_out(void **state)
{
	static const char long_server[] = "$TTL 300\nz. SOA a host 1 2 3 4 60\n"
					  "z. NS a.name.that.is.rather.long\n";
	char text[600];
	struct zone *old, *new;

	(void)state;
	sprintf(text, "t TXT %0240d %0215d\n", 1, 2);
	old = zone_from(long_server, text, ZONE_CHAIN_NONE, 1);
	new = zone_from(head, text, ZONE_CHAIN_NONE, 1);
	assert_true(is_affected(old, new, "t.z", DNS_TYPE_TXT, false));
	zone_free(old);
	zone_free(new);
}

/* --- Signatures of an older SOA --------------------------------------------------------------- */

#define SIG(type, expires, key) \
	"z. RRSIG " type " 13 1 300 " expires " 20260101000000 " key " z. AAAAAAAA\n"

static const struct {
	const char *what, *signatures;
	bool affected;
} signed_rows[] = {
	{ "expires with the proof",
	  SIG("SOA", "20380101000000", "1") SIG("NSEC", "20380101000000", "1"), false },
	{ "after it", SIG("SOA", "20380102000000", "1") SIG("NSEC", "20380101000000", "1"), false },
	{ "before it", SIG("SOA", "20380101000000", "1") SIG("NSEC", "20380101000001", "1"), true },
	{ "by another key", SIG("SOA", "20380101000000", "2") SIG("NSEC", "20380101000000", "1"),
	  true },
	{ "by two keys, of which one goes",
	  SIG("SOA", "20380101000000", "1") SIG("SOA", "20380101000000", "2")
		  SIG("NSEC", "20380101000000", "1"),
	  true },
	{ "by two keys, both there",
	  SIG("SOA", "20380101000000", "1") SIG("SOA", "20380101000000", "2")
		  SIG("NSEC", "20380101000000", "1") SIG("NSEC", "20370101000000", "2"),
	  false },
	{ "beside a proof that is not signed", SIG("SOA", "20380101000000", "1"), true },
};

static void older_soa(void **state)
{
	static const char text[] = "z. 60 NSEC z. SOA NS RRSIG NSEC\n";
	static const char in_zone[] = "$TTL 300\nz. SOA a host %d 2 3 4 60\nz. NS ns.other.\n%s%s";

	(void)state;
	for (size_t i = 0; i < sizeof(signed_rows) / sizeof(signed_rows[0]); i++) {
		char old_text[1024], new_text[1024];
		struct zone *old, *new, *same;

		snprintf(old_text, sizeof(old_text), in_zone, 1, text, signed_rows[i].signatures);
		snprintf(new_text, sizeof(new_text), in_zone, 2, text, signed_rows[i].signatures);
		old = zone_of("z", old_text);
		new = zone_of("z", new_text);
		same = zone_of("z", strcat(old_text, "z. TXT x\n"));
		if (is_affected(old, new, "no.z", DNS_TYPE_A, true) != signed_rows[i].affected)
			fail_msg("%s: not so", signed_rows[i].what);
		assert_false(is_affected(old, new, "no.z", DNS_TYPE_A, false));
		assert_false(is_affected(old, same, "no.z", DNS_TYPE_A, true));
		zone_free(old);
		zone_free(new);
		zone_free(same);
	}
}

/* --- No table --------------------------------------------------------------------------------- */

static void refusal(struct zone *old, struct zone *new, enum changes_refusal want)
{
	enum changes_refusal why;

	assert_null(changes_new(old, new, &why));
	assert_int_equal(why, want);
	assert_true(*changes_refusal_text(why));
	zone_free(old);
	zone_free(new);
}

static void refusals(void **state)
{
	static const char hole[] = "z. 60 NSEC b.z. SOA NS\na 60 NSEC b.z. A\nb A 192.0.2.2\n";
	static char text[(CHANGES_MANY_MIN + 1) * 24];
	unsigned at = 0;

	(void)state;
	refusal(zone_from(head, "", ZONE_CHAIN_NSEC, 1), zone_from(head, "", ZONE_CHAIN_NSEC3, 1),
		CHANGES_CHAIN);
	refusal(zone_from(head, "", ZONE_CHAIN_NONE, 1), zone_from(head, "", ZONE_CHAIN_NSEC, 1),
		CHANGES_CHAIN);
	refusal(zone_from(head, "", ZONE_CHAIN_NSEC, 1), zone_from(head, hole, ZONE_CHAIN_NONE, 1),
		CHANGES_CHAIN);
	for (unsigned i = 0; i <= CHANGES_MANY_MIN; i++)
		at += (unsigned)sprintf(text + at, "n%u A 192.0.2.1\n", i);
	refusal(zone_from(head, "", ZONE_CHAIN_NONE, 1), zone_from(head, text, ZONE_CHAIN_NONE, 1),
		CHANGES_MANY);
}

/* Bodies that no rendering makes: affected, and nothing is read beyond them. */
static void unreadable(void **state)
{
	struct zone *old = zone_from(head, "b A 192.0.2.1\nb MX 1 c\n", ZONE_CHAIN_NONE, 1);
	struct zone *new =
		zone_from(head, "f A 192.0.2.1\nb A 192.0.2.1\nb MX 1 c\n", ZONE_CHAIN_NONE, 1);
	static const struct engine_config config = ENGINE_CONFIG_INIT;
	enum changes_refusal why;
	struct changes *changes = changes_new(old, new, &why);
	struct answer a;
	struct volley_entry *e;
	size_t bytes;
	uint8_t *copy;

	(void)state;
	assert_non_null(changes);
	ask_for(&a, "b.z", DNS_TYPE_MX, false);
	assert_true(render(&config, old, &a.q, a.entry));
	assert_false(affected_by(changes, entry_of(&a)));
	bytes = (size_t)entry_of(&a)->body_offset + entry_of(&a)->full_bytes;
	for (unsigned cut = 1; cut <= entry_of(&a)->full_bytes; cut++) {
		copy = malloc(bytes - cut); /* to the octet, for the sanitizer */
		memcpy(copy, a.entry, bytes - cut);
		e = (struct volley_entry *)copy;
		e->full_bytes = (uint16_t)(e->full_bytes - cut);
		assert_true(affected_by(changes, e));
		free(copy);
	}
	e = (struct volley_entry *)a.entry;
	e->full_bytes++; /* octets behind the last record */
	assert_true(affected_by(changes, e));
	e->full_bytes--;
	for (unsigned to = 0; to < DNS_HEADER_BYTES; to++) { /* no name begins there */
		uint8_t *owner = a.entry + e->body_offset;

		assert_int_equal(wire_load_be16(owner), 0xc000 | DNS_HEADER_BYTES);
		wire_store_be16(owner, (uint16_t)(0xc000 | to));
		assert_true(affected_by(changes, e));
		wire_store_be16(owner, 0xc000 | DNS_HEADER_BYTES);
	}
	for (unsigned at = 0; at < e->full_bytes; at++) /* pointers to anywhere */
		for (unsigned value = 0xc0; value <= 0xff; value++) {
			uint8_t *octet = a.entry + e->body_offset + at, was = *octet;

			*octet = (uint8_t)value;
			(void)affected_by(changes, e);
			*octet = was;
		}
	free(a.entry);
	changes_free(changes);
	zone_free(old);
	zone_free(new);
}

/* --- How much stays --------------------------------------------------------------------------- */

#define N_NAMES 1000

static void write_names(char *text, const char *address)
{
	unsigned at = 0;

	for (unsigned i = 0; i < N_NAMES; i++)
		at += (unsigned)sprintf(text + at, "n%u A %s\n", i,
					i == 500 ? address : "192.0.2.1");
}

/* One address changes, and the serial. */
static void leaves_the_rest(enum zone_chain chain, bool dnssec_ok, unsigned kept_least)
{
	static const struct engine_config config = ENGINE_CONFIG_INIT;
	static char text[2][N_NAMES * 20];
	enum changes_refusal why;
	unsigned n_affected = 0;
	struct zone *old, *new;
	struct changes *changes;

	write_names(text[0], "192.0.2.1");
	write_names(text[1], "192.0.2.2");
	old = zone_from(head, text[0], chain, 1);
	new = zone_from(SERIAL, text[1], chain, 1);
	changes = changes_new(old, new, &why);
	assert_non_null(changes);
	assert_int_equal(changes_n_names(changes), 2);
	for (unsigned i = 0; i < 2 * N_NAMES; i++) {
		char name[32];
		struct answer a;

		snprintf(name, sizeof(name), "%s%u.z", i % 2 ? "no" : "n", i / 2);
		ask_for(&a, name, DNS_TYPE_A, dnssec_ok);
		assert_true(render(&config, old, &a.q, a.entry));
		if (affected_by(changes, entry_of(&a)))
			n_affected++;
		else
			assert_int_not_equal(i, 2 * 500);
		free(a.entry);
	}
	print_message("  chain %d do %d: %u of %u affected\n", chain, dnssec_ok, n_affected,
		      2 * N_NAMES);
	assert_true(n_affected >= 1 && 2 * N_NAMES - n_affected >= kept_least);
	changes_free(changes);
	zone_free(old);
	zone_free(new);
}

static void most_stays(void **state)
{
	(void)state;
	leaves_the_rest(ZONE_CHAIN_NONE, false, 2 * N_NAMES - 1);
	leaves_the_rest(ZONE_CHAIN_NSEC, false, 2 * N_NAMES - 1);
	leaves_the_rest(ZONE_CHAIN_NSEC, true, 2 * N_NAMES - 20);
	leaves_the_rest(ZONE_CHAIN_NSEC3, true, 2 * N_NAMES - 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_changes), cmocka_unit_test(servers_left_out),
		cmocka_unit_test(older_soa),      cmocka_unit_test(refusals),
		cmocka_unit_test(unreadable),     cmocka_unit_test(most_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
