/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a store of denials learns, for how long it keeps it, and in how much memory. */
#include "denial_lab.h"

/* --- Time ------------------------------------------------------------------------------------- */

static const struct {
	struct how how;
	uint32_t left_s;
} times[] = {
	{ { .name = "usual" }, 60 },
	{ { .name = "the SOA's TTL", .soa_ttl = 20, .signature_ttl = 60 }, 20 },
	{ { .name = "the NSEC3's TTL", .nsec3_ttl = 21, .signature_ttl = 60 }, 21 },
	{ { .name = "the signatures' TTL", .signature_ttl = 25 }, 25 },
	{ { .name = "MINIMUM", .minimum = 22 }, 22 },
	{ { .name = "original TTL", .original_ttl = 23 }, 23 },
	{ { .name = "signature", .expires_in_s = 24 }, 24 },
	{ { .name = "max_negative_ttl_s",
	    .soa_ttl = 300,
	    .nsec3_ttl = 300,
	    .minimum = 300,
	    .original_ttl = 300 },
	  100 },
};

static void what_is_left_of_the_first_that_ends(void **state)
{
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	struct zone *z = sign("example.", HEAD);

	(void)state;
	config.max_negative_ttl_s = 100;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct denials *d = store_of(&config);
		uint64_t end_ns = START_NS + times[i].left_s * CLOCK_NS_PER_S;
		static struct denials_reading reading;
		uint8_t name[256];
		const uint8_t *msg;
		size_t n;

		learn_all(d, z, "example.", &times[i].how);
		wire_of(name, "x.example.");
		n = denials_answer(d, name, DNS_TYPE_A, DNS_CLASS_IN, START_NS + 5 * CLOCK_NS_PER_S,
				   &msg);
		if (!n || !denials_read(&reading, msg, n, lab_now(), 3600) ||
		    reading.soa.life_s != times[i].left_s - 5 ||
		    reading.nsec3[0].life_s != times[i].left_s - 5)
			fail_msg("%s: %zu octets", times[i].how.name, n);
		assert_string_equal(say_at(d, "x.example.", DNS_TYPE_A, end_ns - CLOCK_NS_PER_S),
				    "NXDOMAIN");
		assert_string_equal(
			say_at(d, "x.example.", DNS_TYPE_A, end_ns - CLOCK_NS_PER_S + 1), "asked");
		denials_free(d);
	}
	zone_free(z);
}

/* A record ends when its own SOA has said so, though the zone has a younger one since. */
static void an_interval_does_not_outlive_its_soa(void **state)
{
	const struct how early = { .minimum = 20 };
	struct zone *z = sign("example.", HEAD);
	struct denials *d = new_store();
	uint64_t late_ns = START_NS + 30 * CLOCK_NS_PER_S;
	struct message m;
	uint8_t name[256];

	(void)state;
	learn_all(d, z, "example.", &early);
	assert_string_equal(say(d, "ns.example.", DNS_TYPE_TXT), "NODATA");
	wire_of(name, "example.");
	assert_true(deny(&m, z, name, DNS_TYPE_TXT, &usual));
	denials_learn(d, m.bytes, m.n, START_NS + 10 * CLOCK_NS_PER_S, lab_now());
	assert_string_equal(say_at(d, "example.", DNS_TYPE_TXT, late_ns), "NODATA");
	assert_string_equal(say_at(d, "ns.example.", DNS_TYPE_TXT, late_ns), "asked");
	denials_free(d);
	zone_free(z);
}

/* The same records with less of their TTL, as from a cache, change nothing; another SOA does. */
static void records_that_are_known_for_longer_stay(void **state)
{
	const struct how aged = { .soa_ttl = 20, .nsec3_ttl = 20 }, other = { .minimum = 20 };
	struct zone *z = sign("example.", HEAD);
	struct denials *d = new_store();
	uint64_t late_ns = START_NS + 30 * CLOCK_NS_PER_S;
	struct message m;
	uint8_t name[256];

	(void)state;
	learn_all(d, z, "example.", &usual);
	learn_all(d, z, "example.", &aged);
	assert_string_equal(say_at(d, "x.example.", DNS_TYPE_A, late_ns), "NXDOMAIN");
	wire_of(name, "x.example.");
	assert_true(deny(&m, z, name, DNS_TYPE_A, &usual));
	denials_learn(d, m.bytes, m.n, late_ns, lab_now());
	assert_string_equal(say_at(d, "x.example.", DNS_TYPE_A, late_ns + 59 * CLOCK_NS_PER_S),
			    "NXDOMAIN");
	learn_text(d, z, "x.example.", &other);
	assert_string_equal(say_at(d, "x.example.", DNS_TYPE_A, late_ns), "asked");
	assert_string_equal(say(d, "x.example.", DNS_TYPE_A), "NXDOMAIN");
	denials_free(d);
	zone_free(z);
}

/* --- What is not learnt ----------------------------------------------------------------------- */

static const struct how faults[] = {
	{ .name = "usual", .keeps = true },
	{ .name = "no SOA", .no_soa = true },
	{ .name = "two SOAs", .two_soas = true },
	{ .name = "a SOA without a signature", .no_soa_signature = true },
	{ .name = "NSEC3 without signatures", .no_nsec3_signatures = true },
	{ .name = "an answer", .has_answer = true },
	{ .name = "SERVFAIL", .fails = true },
	{ .name = "another algorithm", .algorithm = 2 },
	{ .name = "unknown flags", .flags = 2 },
	{ .name = "opt-out", .flags = 1 },
	{ .name = "11 iterations", .iterations = 12 },
	{ .name = "10 iterations, which the hashes do not have", .iterations = 11 },
	{ .name = "a signature of a wildcard", .labels_less = 1 },
	{ .name = "another signer", .signer = "com." },
	{ .name = "the parent as the signer", .signer = "." },
	{ .name = "NSEC3 of another zone", .below = "example.org." },
	{ .name = "NSEC3 of a name below", .below = "sub.example." },
	{ .name = "NSEC3 beside the zone", .below = "." },
	{ .name = "hashes of another length", .next_bytes = "\x13" },
	{ .name = "a SOA's TTL of 0", .soa_ttl = 1u << 31 },
	{ .name = "an NSEC3's TTL of 0", .nsec3_ttl = 1u << 31 },
	{ .name = "an expired signature", .expires_in_s = (uint32_t)-10 },
};

static void nothing_is_learnt_of(void **state)
{
	struct zone *z = sign("example.", HEAD);

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct denials *d = new_store();
		const char *said;

		learn_all(d, z, "example.", &faults[i]);
		said = say(d, "x.example.", DNS_TYPE_A);
		if (strcmp(said, faults[i].keeps ? "NXDOMAIN" : "asked") != 0)
			fail_msg("%s: %s", faults[i].name, said);
		denials_free(d);
	}
	zone_free(z);
}

static void iterations_are_few(void **state)
{
	struct sign_options options = lab_options(LAB_NSEC3);

	(void)state;
	for (unsigned int more = 0; more < 2; more++) {
		struct denials *d = new_store();
		struct zone *z;

		options.nsec3_iterations = (uint16_t)(DENIALS_ITERATIONS_MAX + more);
		z = sign_as("example.", HEAD, &options);
		learn_all(d, z, "example.", &usual);
		assert_string_equal(say(d, "x.example.", DNS_TYPE_A), more ? "asked" : "NXDOMAIN");
		denials_free(d);
		zone_free(z);
	}
}

/* Each record by itself is right: the zone has iterations 0, and the first says so. */
static void parameters_are_those_of_all(void **state)
{
	const struct how mixed = { .mixes = true };
	struct zone *z = sign("example.", rich);
	struct denials *d = new_store();

	(void)state;
	learn_text(d, z, "x.a.example.", &mixed);
	assert_int_equal(d->bytes, 0);
	learn_text(d, z, "x.a.example.", &usual);
	assert_string_equal(say(d, "x.a.example.", DNS_TYPE_A), "NXDOMAIN");
	denials_free(d);
	zone_free(z);
}

/* Every length, and octets that are changed at random: read within bounds, and nothing but the
 * whole is learnt. */
static void damaged_messages(void **state)
{
	struct zone *z = sign("example.", HEAD);
	struct denials *d = new_store();
	struct message m, *copy = malloc(sizeof(*copy));
	uint8_t name[256];

	(void)state;
	wire_of(name, "x.example.");
	assert_true(deny(&m, z, name, DNS_TYPE_A, &usual));
	for (size_t n = 0; n < m.n; n++) {
		uint8_t *exact = malloc(n + 1);

		memcpy(exact, m.bytes, n);
		denials_learn(d, exact, n, START_NS, lab_now());
		free(exact);
		assert_int_equal(d->bytes, 0);
	}
	for (unsigned int i = 0; i < 20000; i++) {
		*copy = m;
		for (unsigned int k = 1 + draw(3); k; k--)
			copy->bytes[draw((unsigned int)m.n)] = (uint8_t)draw(256);
		learn(d, copy);
		(void)say(d, "y.example.", DNS_TYPE_A);
	}
	free(copy);
	denials_free(d);
	zone_free(z);
}

/* --- Changes ---------------------------------------------------------------------------------- */

static void another_salt_forgets(void **state)
{
	struct sign_options options = lab_options(LAB_NSEC3);
	struct zone *z = sign("example.", rich), *salted = sign_as("example.", rich, &options);
	struct denials *d = new_store();
	struct tally tally = { 0 };

	(void)state;
	learn_all(d, z, "example.", &usual);
	assert_string_equal(say(d, "x.a.example.", DNS_TYPE_A), "NXDOMAIN");
	learn_text(d, salted, "y.example.", &usual);
	assert_string_equal(say(d, "x.a.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "y.example.", DNS_TYPE_A), "NXDOMAIN");
	for (unsigned int i = 0; i < 1000; i++) {
		uint8_t name[256];

		draw_name(name, "example.");
		check_one(d, salted, name, draw_type(), &tally);
	}
	assert_true(tally.asked > tally.nxdomain);
	denials_free(d);
	zone_free(salted);
	zone_free(z);
}

/* Of a hundred names. */
static unsigned int n_asked(struct denials *d)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 100; i++) {
		char name[64];

		snprintf(name, sizeof(name), "n%u.example.", i);
		n += !strcmp(say(d, name, DNS_TYPE_A), "asked");
	}
	return n;
}

/* A name that came since is denied no more once its own record is known, nor one that went taken
 * for one. */
static void a_newer_chain_wins(void **state)
{
	struct zone *before = sign("example.", HEAD "old A 192.0.2.1\n");
	struct zone *after = sign("example.", HEAD "new A 192.0.2.1\n");
	struct denials *d = new_store();
	uint8_t name[256];
	struct message m;

	(void)state;
	learn_all(d, before, "example.", &usual);
	assert_string_equal(say(d, "new.example.", DNS_TYPE_A), "NXDOMAIN");
	assert_int_equal(n_asked(d), 0);
	wire_of(name, "new.example.");
	assert_true(deny(&m, after, name, DNS_TYPE_TXT, &usual));
	learn(d, &m);
	assert_string_equal(say(d, "new.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "new.example.", DNS_TYPE_TXT), "NODATA");
	assert_in_range(n_asked(d), 1, 100); /* the interval that it lies in is gone */
	learn_all(d, after, "example.", &usual);
	assert_string_equal(say(d, "old.example.", DNS_TYPE_TXT), "NXDOMAIN");
	denials_free(d);
	zone_free(after);
	zone_free(before);
}

static void memory_is_bounded(void **state)
{
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	static char text[200000] = HEAD;
	struct zone *small = sign("small.", HEAD), *large;
	struct denials *d;
	size_t most = 0;

	(void)state;
	config.rrset_cache_bytes = 0;
	for (unsigned int i = 0; i < 2000; i++)
		sprintf(text + strlen(text), "n%u A 192.0.2.1\n", i);
	large = sign("large.", text);
	d = store_of(&config);
	learn_all(d, small, "small.", &usual);
	for (unsigned int i = 0; i < 2000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "learn%u.large.", i);
		learn_text(d, large, name, &usual);
		assert_string_equal(say(d, name, DNS_TYPE_A), "NXDOMAIN");
		assert_string_equal(say(d, "used.small.", DNS_TYPE_A), "NXDOMAIN");
		most = d->bytes > most ? d->bytes : most;
	}
	assert_in_range(most, DENIALS_BYTES_MIN * 3 / 4, DENIALS_BYTES_MIN);
	assert_string_equal(say(d, "learn0.large.", DNS_TYPE_A), "asked");
	for (unsigned int i = 2000; i < 3000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "learn%u.large.", i);
		learn_text(d, large, name, &usual);
	}
	assert_string_equal(say(d, "used.small.", DNS_TYPE_A), "asked");
	denials_free(d);
	zone_free(large);
	zone_free(small);
}

/* --- The configuration ------------------------------------------------------------------------ */

static void when_there_is_a_store(void **state)
{
	const struct resolver_option harmless = { "outgoing-num-tcp:", "10" };
	const struct resolver_option insecure = { "domain-insecure:", "example." };
	struct resolver_config config = RESOLVER_CONFIG_INIT;

	(void)state;
	assert_false(denials_suit(&config));
	config.trust_anchor_file = "anchor";
	config.options = &harmless;
	config.n_options = 1;
	assert_true(denials_suit(&config));
	config.options = &insecure;
	assert_false(denials_suit(&config));
	config.n_options = 0;
	config.aggressive_nsec = false;
	assert_false(denials_suit(&config));
}

/* RFC 6147: where there are no AAAA records libunbound makes some, so it has to be asked. */
static void what_dns64_may_answer(void **state)
{
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	struct zone *z = sign("example.", HEAD);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct denials *d;

		config.dns64_prefix = i ? "64:ff9b::/96" : NULL;
		d = store_of(&config);
		learn_all(d, z, "example.", &times[0].how);
		assert_string_equal(say(d, "example.", DNS_TYPE_AAAA), i ? "asked" : "NODATA");
		assert_string_equal(say(d, "x.example.", DNS_TYPE_AAAA), i ? "asked" : "NXDOMAIN");
		assert_string_equal(say(d, "example.", DNS_TYPE_TXT), "NODATA");
		assert_string_equal(say(d, "x.example.", DNS_TYPE_A), "NXDOMAIN");
		denials_free(d);
	}
	zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_of_the_first_that_ends),
		cmocka_unit_test(an_interval_does_not_outlive_its_soa),
		cmocka_unit_test(records_that_are_known_for_longer_stay),
		cmocka_unit_test(nothing_is_learnt_of),
		cmocka_unit_test(iterations_are_few),
		cmocka_unit_test(parameters_are_those_of_all),
		cmocka_unit_test(damaged_messages),
		cmocka_unit_test(another_salt_forgets),
		cmocka_unit_test(a_newer_chain_wins),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(when_there_is_a_store),
		cmocka_unit_test(what_dns64_may_answer),
	};

	seed = 8198;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
