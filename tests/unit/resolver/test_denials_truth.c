/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a store of denials says of names, beside what their zones say: names at random, each kind of
 * name, zones below zones.
 */
#include "denial_lab.h"

/* --- Names at random -------------------------------------------------------------------------- */

static struct tally compare(const struct zone *z, unsigned int n_learnt)
{
	struct tally tally = { 0 };
	struct denials *d = new_store();
	static struct message m;
	uint8_t name[256];

	for (unsigned int i = 0; i < n_learnt; i++) {
		draw_name(name, "example.");
		if (deny(&m, z, name, draw_type(), &usual))
			learn(d, &m);
	}
	for (unsigned int i = 0; i < 20000; i++) {
		draw_name(name, "example.");
		check_one(d, z, name, draw_type(), &tally);
	}
	denials_free(d);
	return tally;
}

static void no_name_that_exists_is_denied(void **state)
{
	struct zone *z = sign("example.", rich);
	struct tally few, many;

	(void)state;
	few = compare(z, 4);
	many = compare(z, 1000);
	print_message("after 4: %u NXDOMAIN, %u NODATA, %u asked; after 1000: %u, %u, %u\n",
		      few.nxdomain, few.nodata, few.asked, many.nxdomain, many.nodata, many.asked);
	assert_true(many.nxdomain > 5000 && many.nodata > 1000);
	assert_true(few.asked > many.asked);
	zone_free(z);
}

static void a_chain_with_salt_and_iterations(void **state)
{
	struct sign_options options = lab_options(LAB_NSEC3);
	struct zone *z = sign_as("example.", rich, &options);

	(void)state;
	assert_true(compare(z, 1000).nxdomain > 5000);
	zone_free(z);
}

static void opt_out_denies_no_name(void **state)
{
	struct sign_options options = lab_options(LAB_OPT_OUT);
	struct zone *z = sign_as("example.", rich, &options);
	struct tally tally = compare(z, 1000);

	(void)state;
	assert_int_equal(tally.nxdomain, 0);
	assert_true(tally.nodata > 500);
	zone_free(z);
}

/* --- Names ------------------------------------------------------------------------------------ */

static void each_kind_of_name(void **state)
{
	static const struct {
		const char *name;
		uint16_t type;
		const char *said;
	} rows[] = {
		{ "nothere.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "x.nothere.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "x.a.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "a.example.", DNS_TYPE_A, "asked" },
		{ "a.example.", DNS_TYPE_TXT, "NODATA" },
		{ "a.example.", DNS_TYPE_DS, "NODATA" },
		{ "d.example.", DNS_TYPE_A, "NODATA" },
		{ "x.d.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "x.w.example.", DNS_TYPE_A, "asked" },
		{ "x.w.example.", DNS_TYPE_TXT, "NODATA" },
		{ "x.w.example.", DNS_TYPE_DS, "asked" },
		{ "alias.example.", DNS_TYPE_TXT, "asked" },
		{ "x.tree.example.", DNS_TYPE_A, "asked" },
		{ "tree.example.", DNS_TYPE_A, "NODATA" },
		{ "cut.example.", DNS_TYPE_A, "asked" },
		{ "cut.example.", DNS_TYPE_DS, "NODATA" },
		{ "safe.example.", DNS_TYPE_DS, "asked" },
		{ "safe.example.", DNS_TYPE_TXT, "asked" },
		{ "x.cut.example.", DNS_TYPE_A, "asked" },
		{ "x.y.deep.cut2.example.", DNS_TYPE_DS, "asked" },
		{ "example.", DNS_TYPE_TXT, "NODATA" },
		{ "example.", DNS_TYPE_DS, "asked" },
		{ "a\\.b.example.", DNS_TYPE_A, "asked" },
		{ "a\\.c.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "\\000\\254.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "nothere.example.", 255, "asked" },
		{ "nothere.example.", DNS_TYPE_RRSIG, "asked" },
		{ "nothere.example.", DNS_TYPE_NSEC3, "asked" },
		{ "1.2.3.4.5.6.7.8.d.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "nothere.example.org.", DNS_TYPE_A, "asked" },
		{ "org.", DNS_TYPE_A, "asked" },
	};
	struct zone *z = sign("example.", rich);
	struct denials *d = new_store();

	(void)state;
	learn_all(d, z, "example.", &usual);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(say(d, rows[i].name, rows[i].type), rows[i].said) != 0)
			fail_msg("%s type %u: %s", rows[i].name, rows[i].type,
				 say(d, rows[i].name, rows[i].type));
	denials_free(d);
	zone_free(z);
}

/* Below eight labels that exist no more names are hashed. */
static void deep_names_are_asked(void **state)
{
	struct zone *z = sign("example.", HEAD "1.2.3.4.5.6.7.8 A 192.0.2.1\n");
	struct denials *d = new_store();
	char name[1024] = "";

	(void)state;
	learn_all(d, z, "example.", &usual);
	assert_string_equal(say(d, "x.2.3.4.5.6.7.8.example.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "1.2.3.4.5.6.7.8.example.", DNS_TYPE_TXT), "NODATA");
	assert_string_equal(say(d, "x.1.2.3.4.5.6.7.8.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "x.1.2.3.4.5.6.7.8.example.", DNS_TYPE_TXT), "asked");
	for (unsigned int i = 0; i < 122; i++)
		strcat(name, "1.");
	strcat(name, "example.");
	assert_string_equal(say(d, name, DNS_TYPE_A), "asked"); /* 253 octets */
	denials_free(d);
	zone_free(z);
}

/* One record is the whole chain, and the last one of each chain ends at its first. */
static void the_last_interval_wraps(void **state)
{
	struct zone *z = sign("example.", "$TTL 300\n@ SOA ns.a. host 7 2 3 4 60\n@ NS ns.a.\n");
	struct denials *d = new_store();

	(void)state;
	learn_text(d, z, "first.example.", &usual);
	for (unsigned int i = 0; i < 100; i++) {
		char name[64];

		snprintf(name, sizeof(name), "n%u.example.", i);
		assert_string_equal(say(d, name, DNS_TYPE_A), "NXDOMAIN");
	}
	assert_string_equal(say(d, "example.", DNS_TYPE_NS), "asked");
	denials_free(d);
	zone_free(z);
}

/* Of the parent only what is not the child's; the deepest zone that is known is the one. */
static void a_zone_below_another(void **state)
{
	struct zone *parent = sign("example.", HEAD "sub NS ns.sub\nsub DS 1 13 2 00\n");
	struct zone *child = sign("sub.example.", HEAD);
	struct denials *d = new_store();

	(void)state;
	learn_all(d, parent, "example.", &usual);
	assert_string_equal(say(d, "x.sub.example.", DNS_TYPE_A), "asked");
	learn_all(d, child, "sub.example.", &usual);
	assert_string_equal(say(d, "x.sub.example.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "sub.example.", DNS_TYPE_TXT), "NODATA");
	assert_string_equal(say(d, "sub.example.", DNS_TYPE_DS), "asked");
	assert_string_equal(say(d, "x.example.", DNS_TYPE_A), "NXDOMAIN");
	denials_free(d);
	zone_free(child);
	zone_free(parent);
}

static void stubs_and_special_names(void **state)
{
	const struct resolver_stub stubs[] = { { .zone = "CORP.example" }, { .zone = "own.test" } };
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	struct zone *z = sign("example.", HEAD), *own = sign("own.test.", HEAD);
	struct zone *reverse = sign("in-addr.arpa.", HEAD), *root = sign(".", HEAD);
	struct denials *d;

	(void)state;
	config.stubs = stubs;
	config.n_stubs = 2;
	d = store_of(&config);
	learn_all(d, z, "example.", &usual);
	learn_all(d, own, "own.test.", &usual);
	learn_text(d, reverse, "x.in-addr.arpa.", &usual);
	learn_text(d, root, "x.", &usual);
	assert_string_equal(say(d, "x.example.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "corp.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "corp.example.", DNS_TYPE_DS), "asked");
	assert_string_equal(say(d, "x.corp.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "x.own.test.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "own.test.", DNS_TYPE_TXT), "NODATA");
	assert_string_equal(say(d, "own.test.", DNS_TYPE_DS), "asked");
	assert_string_equal(say(d, "x.in-addr.arpa.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "x.", DNS_TYPE_A), "asked");
	denials_free(d);
	zone_free(root);
	zone_free(reverse);
	zone_free(own);
	zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_name_that_exists_is_denied),
		cmocka_unit_test(a_chain_with_salt_and_iterations),
		cmocka_unit_test(opt_out_denies_no_name),
		cmocka_unit_test(each_kind_of_name),
		cmocka_unit_test(deep_names_are_asked),
		cmocka_unit_test(the_last_interval_wraps),
		cmocka_unit_test(a_zone_below_another),
		cmocka_unit_test(stubs_and_special_names),
	};

	seed = 8198;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
