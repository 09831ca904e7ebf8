/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is a reason to send no queries to a host, what is a warning, and what the operator may say
 * of it. */
#include "report/health.h"
#include "report/missing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

/* --- Options ---------------------------------------------------------------------------------- */

static int read_options(struct health_options *options, const char *words, json_t **args)
{
	char err[256] = "";
	int code;

	*args = json_loads(words, 0, NULL);
	assert_non_null(*args);
	code = health_read_options(options, *args, err, sizeof(err));
	assert_int_equal(code != 0, *err != 0);
	return code;
}

static void test_options(void **state)
{
	struct health_options o;
	json_t *args;

	(void)state;
	assert_int_equal(read_options(&o, "[]", &args), 0);
	assert_true(o.zones == HEALTH_ALL && o.interfaces == HEALTH_ALL && o.rpz == HEALTH_ALL &&
		    !o.is_strict);
	json_decref(args);
	assert_int_equal(
		read_options(&o,
			     "[\"--zones\", \"any\", \"--strict\", \"--ignore\", \"a.test\", "
			     "\"--interfaces\", \"none\", \"--policies\", \"any\", \"--ignore\", "
			     "\"b.test.\"]",
			     &args),
		0);
	assert_true(o.zones == HEALTH_ANY && o.interfaces == HEALTH_NONE && o.rpz == HEALTH_ANY &&
		    o.is_strict);
	assert_int_equal(o.n_ignored, 2);
	assert_string_equal(o.ignored[1], "b.test.");
	json_decref(args);
}

static void test_bad_options(void **state)
{
	static const char *const rows[] = {
		"[\"--zones\"]",
		"[\"--zones\", \"some\"]",
		"[\"--interfaces\", \"\"]",
		"[\"--policies\", \"stale\"]",
		"[\"--ignore\"]",
		"[\"--zone\", \"all\"]",
		"[\"all\"]",
	};
	struct health_options o;
	json_t *args;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!read_options(&o, rows[i], &args))
			fail_msg("taken: %s", rows[i]);
		json_decref(args);
	}
}

/* --- What was found --------------------------------------------------------------------------- */

static void begin(struct health *h, const struct health_options *options)
{
	*h = (struct health){ options, json_array(), json_array(), false, 0 };
}

/* "reasons | warnings", each with ; between. */
static void assert_said(struct health *h, const char *expected)
{
	const json_t *lists[] = { h->reasons, h->warnings };
	char text[8192] = "";
	size_t len = 0, i;
	json_t *one;

	for (int k = 0; k < 2; k++) {
		json_array_foreach(lists[k], i, one)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						i ? "; " : "", json_string_value(one));
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", k ? "" : " | ");
	}
	assert_string_equal(text, expected);
	json_decref(h->reasons);
	json_decref(h->warnings);
}

static void test_strict(void **state)
{
	struct health_options lax = { .is_strict = false }, strict = { .is_strict = true };
	struct health h;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&h, i ? &strict : &lax);
		health_say(&h, HEALTH_FAILS, "fails");
		health_say(&h, HEALTH_WARNS, "warns");
		health_say(&h, HEALTH_NOTED, "noted");
		health_say(&h, HEALTH_WELL, "well");
		health_say(&h, HEALTH_FAILS, "\xff");
		assert_said(&h, i ? "fails; warns; a sentence that is not UTF-8 | noted" :
				    "fails; a sentence that is not UTF-8 | warns; noted");
	}
}

/* --- Zones ------------------------------------------------------------------------------------ */

static char name_a[] = "a.test.", name_b[] = "b.test.", name_c[] = "c.test.", name_d[] = "d.test.";

static struct config_zone plain, root_copy = { .is_root_copy = true };

static const struct zones_entry zones[] = {
	{ .name = name_a, .config = &plain, .state = ZONES_SERVING },
	{ .name = name_b, .config = &plain, .state = ZONES_STALE, .error = { "b.zone:1: broken" } },
	{ .name = name_c, .config = &plain, .state = ZONES_NEW },
	{ .name = name_d,
	  .config = &plain,
	  .state = ZONES_FAILED,
	  .error = { "d.zone: no such file" } },
};

#define SAYS_B "zone b.test.: an earlier version is served: b.zone:1: broken"
#define SAYS_C "zone c.test.: new, and not loaded yet"
#define SAYS_D "zone d.test.: not served: d.zone: no such file"

static const struct zones_entry others[] = {
	{ .name = name_a, .config = &plain, .state = ZONES_SERVING, .stored.error = { "no space" } },
	{ .name = name_b, .config = &plain, .state = ZONES_EXPIRED },
	{ .name = name_c, .config = &plain, .state = ZONES_AWAITED },
	{ .name = name_d, .config = &plain, .state = ZONES_STALE },
	{ .name = ".", .config = &root_copy, .state = ZONES_EXPIRED },
};

static const struct zones_entry *zone_at(const void *user, size_t i)
{
	return (const struct zones_entry *)user + i;
}

struct zones_row {
	const char *label;
	struct health_options options;
	size_t first, n;
	const char *says;
};

static const struct zones_row zones_rows[] = {
	{ "none", { .zones = HEALTH_ALL }, 0, 0, " | " },
	{ "well", { .zones = HEALTH_ALL }, 0, 1, " | " },
	{ "all", { .zones = HEALTH_ALL }, 0, 4, SAYS_D " | " SAYS_B "; " SAYS_C },
	{ "strict",
	  { .zones = HEALTH_ALL, .is_strict = true },
	  0,
	  4,
	  SAYS_B "; " SAYS_C "; " SAYS_D " | " },
	{ "ignored, in another spelling",
	  { .zones = HEALTH_ALL, .ignored = { "x", "D.Test", "B.TEST." }, .n_ignored = 3 },
	  0,
	  4,
	  " | " SAYS_C },
	{ "one is enough", { .zones = HEALTH_ANY }, 0, 4, " | " SAYS_B "; " SAYS_C "; " SAYS_D },
	{ "a warning is noted", { .zones = HEALTH_ANY, .is_strict = true }, 0, 2, " | " SAYS_B },
	{ "but there is not one",
	  { .zones = HEALTH_ANY },
	  3,
	  1,
	  "none of 1 zones is served | " SAYS_D },
	{ "nobody needs one", { .zones = HEALTH_NONE, .is_strict = true }, 3, 1, " | " SAYS_D },
	{ "nor are there any", { .zones = HEALTH_ANY }, 0, 0, " | " },
};

static void test_zones(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(zones_rows) / sizeof(zones_rows[0]); i++) {
		const struct zones_row *row = &zones_rows[i];
		struct health h;

		print_message("%s\n", row->label);
		begin(&h, &row->options);
		health_zones(&h, zone_at, zones + row->first, row->n);
		assert_said(&h, row->says);
	}
}

/* A zone that has not come yet: of a host that is not complete, or new on one that was. */
static void test_zones_from_elsewhere(void **state)
{
	static const struct health_options options;
	struct health h;

	(void)state;
	begin(&h, &options);
	health_zones(&h, zone_at, others, 3);
	assert_said(&h, "zone b.test.: expired; zone c.test.: not yet transferred from a primary | "
			"zone a.test.: no space");
	begin(&h, &options);
	h.have_zones_come = true;
	health_zones(&h, zone_at, others, 3);
	assert_said(&h, "zone b.test.: expired | zone a.test.: no space; zone c.test.: not yet "
			"transferred from a primary");
	assert_false(health_have_zones_come(zone_at, others, 4));
	assert_false(health_have_zones_come(zone_at, others + 2, 1));
	assert_true(health_have_zones_come(zone_at, others, 2));
	assert_true(health_have_zones_come(zone_at, others + 3, 1));
	assert_true(health_have_zones_come(zone_at, others, 0));
}

/* A zone that is well but for the driver, which has been found to deny a name that exists. */
static void test_names_that_are_not_denied(void **state)
{
	static const struct health_options options;
	static const struct zones_entry entry = { .name = name_a,
						  .config = &plain,
						  .state = ZONES_SERVING,
						  .denials_fault = "a name was wrong" };
	struct health h;

	(void)state;
	begin(&h, &options);
	health_zones(&h, zone_at, &entry, 1);
	assert_said(&h, " | zone a.test.: a name was wrong: the driver denies no names of it");
}

/* Zones that fail, of which N_MORE are not listed, and one with a warning. */
static void assert_more_zones(size_t n_more, const char *sentence)
{
	static const struct health_options options;
	static struct zones_entry many[HEALTH_LISTED_MAX + 5];
	const size_t n = HEALTH_LISTED_MAX + n_more + 1;
	struct health h;

	assert_in_range(n, 1, sizeof(many) / sizeof(many[0]));
	for (size_t i = 0; i < n; i++)
		many[i] = zones[3];
	many[n - 1] = zones[1];
	begin(&h, &options);
	health_zones(&h, zone_at, many, n);
	assert_int_equal(json_array_size(h.reasons), HEALTH_LISTED_MAX + 1);
	assert_string_equal(json_string_value(json_array_get(h.reasons, HEALTH_LISTED_MAX)),
			    sentence);
	assert_int_equal(json_array_size(h.warnings), 1);
	json_decref(h.reasons);
	json_decref(h.warnings);
}

static void test_many_zones(void **state)
{
	(void)state;
	assert_more_zones(4, "and 4 more zones: volleyctl zone list");
	assert_more_zones(1, "and 1 more zone: volleyctl zone list");
}

/* --- Policies --------------------------------------------------------------------------------- */

/* A policy never looks into its zone here. */
#define LOADED ((struct zone *)name_a)

static const struct rpz_manager_entry rpz[] = {
	{ .name = name_a, .zone = LOADED },
	{ .name = name_b, .zone = LOADED, .error = "b.rpz:3: broken" },
	{ .name = name_c, .error = "c.rpz: no such file" },
};

#define RPZ_B "policy b.test.: an earlier version is in force: b.rpz:3: broken"
#define RPZ_C "policy c.test.: not in force: c.rpz: no such file"

static const struct rpz_manager_entry *rpz_at(const void *user, size_t i)
{
	return (const struct rpz_manager_entry *)user + i;
}

static const struct zones_row rpz_rows[] = {
	{ "none", { .is_strict = true }, 0, 0, " | " },
	{ "well", { .is_strict = true }, 0, 1, " | " },
	{ "all", { .is_strict = false }, 0, 3, RPZ_C " | " RPZ_B },
	{ "strict", { .is_strict = true }, 0, 3, RPZ_B "; " RPZ_C " | " },
	{ "ignored", { .ignored = { "C.test" }, .n_ignored = 1 }, 0, 3, " | " RPZ_B },
	{ "one is enough", { .rpz = HEALTH_ANY, .is_strict = true }, 0, 3, " | " RPZ_B "; " RPZ_C },
	{ "but there is not one",
	  { .rpz = HEALTH_ANY },
	  2,
	  1,
	  "none of 1 policies is in force | " RPZ_C },
	{ "nobody needs one", { .rpz = HEALTH_NONE }, 2, 1, " | " RPZ_C },
};

static void test_rpz(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rpz_rows) / sizeof(rpz_rows[0]); i++) {
		const struct zones_row *row = &rpz_rows[i];
		struct health h;

		print_message("%s\n", row->label);
		begin(&h, &row->options);
		health_rpz(&h, rpz_at, rpz + row->first, row->n);
		assert_said(&h, row->says);
	}
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* As attached; nobody looks into the program. */
static void attach(struct iface *iface, const char *name, enum config_port port)
{
	struct config_interface config = { .port = port };
	static char program;

	snprintf(config.name, sizeof(config.name), "%s", name);
	iface_init(iface, &config);
	iface->program = (struct program *)&program;
	iface->state = IFACE_UP;
	iface->ifindex = 7;
	iface->n_queues = 1;
}

static void assert_iface(const struct iface *iface, bool is_sound, const char *says)
{
	static const struct health_options options;
	const struct health_iface one = { iface, is_sound };
	struct health h;

	begin(&h, &options);
	health_ifaces(&h, &one, 1);
	assert_said(&h, says);
}

static void test_interface(void **state)
{
	struct iface iface;

	(void)state;
	attach(&iface, "eth0", CONFIG_PORT_AUTO);
	assert_iface(&iface, true, " | ");
	assert_iface(&iface, false, "eth0: the interface or its XDP program is gone | ");
	iface_say(&iface, IFACE_TOPIC_CORES, false, "advice");
	assert_iface(&iface, true, " | ");
	iface_say(&iface, IFACE_TOPIC_MODE, false, "copied");
	assert_iface(&iface, true, " | eth0: copied");
	iface_say(&iface, IFACE_TOPIC_PROGRAM, false, "generic");
	assert_iface(&iface, true, " | eth0: generic; eth0: copied");
	iface_say(&iface, IFACE_TOPIC_PROGRAM, true, "another's");
	assert_iface(&iface, true, "eth0: another's | eth0: copied");
	iface.wish = IFACE_DETACHED;
	iface_unsay(&iface, IFACE_TOPIC_PROGRAM);
	iface_unsay(&iface, IFACE_TOPIC_MODE);
	assert_iface(&iface, true, "eth0: detached by volleyctl | ");
}

static void test_nothing_attached(void **state)
{
	struct iface iface;

	(void)state;
	attach(&iface, "eth0", CONFIG_PORT_AUTO);
	iface.state = IFACE_DOWN;
	assert_iface(&iface, true, "eth0: nothing is attached | ");
	iface.config.xdp = CONFIG_XDP_OFF; /* nor asked for */
	assert_iface(&iface, true, " | ");
}

static void test_queues_without_sockets(void **state)
{
	static const struct {
		enum config_port port;
		const char *says;
	} rows[] = {
		{ CONFIG_PORT_AUTO, " | eth0: queue 1" },
		{ CONFIG_PORT_SOCKET, " | eth0: queue 1" },
		{ CONFIG_PORT_XSK, "eth0: queue 1 | " },
		{ CONFIG_PORT_DPDK, "eth0: queue 1 | " },
	};
	struct iface iface;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		attach(&iface, "eth0", rows[i].port);
		iface_say(&iface, IFACE_TOPIC_QUEUES, true, "queue 1");
		assert_iface(&iface, true, rows[i].says);
	}
	attach(&iface, "bond0", CONFIG_PORT_XSK);
	iface.n_queues = 0;
	assert_iface(&iface, true, "bond0: no queue has an AF_XDP socket | ");
	iface.config.port = CONFIG_PORT_AUTO;
	assert_iface(&iface, true, " | ");
}

static void test_one_of_two_interfaces(void **state)
{
	struct health_options all = { .interfaces = HEALTH_ALL },
			      any = { .interfaces = HEALTH_ANY },
			      none = { .interfaces = HEALTH_NONE };
	struct iface good, bad;
	const struct health_iface both[] = { { &bad, true }, { &good, true } };
	struct health h;

	(void)state;
	attach(&good, "eth0", CONFIG_PORT_AUTO);
	attach(&bad, "eth1", CONFIG_PORT_AUTO);
	iface_say(&bad, IFACE_TOPIC_PROGRAM, true, "no such interface");
	begin(&h, &all);
	health_ifaces(&h, both, 2);
	assert_said(&h, "eth1: no such interface | ");
	begin(&h, &any);
	health_ifaces(&h, both, 2);
	assert_said(&h, " | eth1: no such interface");
	begin(&h, &any);
	health_ifaces(&h, both, 1);
	assert_said(&h, "none of 1 interfaces is as configured | eth1: no such interface");
	begin(&h, &none);
	health_ifaces(&h, both, 1);
	assert_said(&h, " | eth1: no such interface");
}

/* --- Workers ---------------------------------------------------------------------------------- */

static void test_worker_hangs(void **state)
{
	static const struct health_options options;
	static struct health_heartbeats beats;
	struct health h;

	(void)state;
	health_look(&beats, 1, 17);
	for (unsigned int i = 1; i < HEALTH_LOOKS_MAX; i++)
		health_look(&beats, 1, 17);
	begin(&h, &options);
	health_worker(&h, &beats, 1, 17);
	assert_said(&h, " | ");
	health_look(&beats, 1, 17);
	begin(&h, &options);
	health_worker(&h, &beats, 1, 17);
	health_worker(&h, &beats, 0, 17);
	assert_said(&h, "worker 1: hangs, no round for 3 s | ");
	/* It goes on, and nobody has looked yet. */
	begin(&h, &options);
	health_worker(&h, &beats, 1, 18);
	assert_said(&h, " | ");
	health_look(&beats, 1, 18);
	begin(&h, &options);
	health_worker(&h, &beats, 1, 18);
	assert_said(&h, " | ");
}

/* --- Addresses -------------------------------------------------------------------------------- */

#define MISSING "no interface has this address: no query can reach it"

static void test_addresses(void **state)
{
	static struct config_addr loopback = { .family = AF_INET, .addr = { 127, 0, 0, 99 } },
				  wildcard = { .family = AF_INET6 },
				  other = { .family = AF_INET, .addr = { 203, 0, 113, 53 } },
				  both[] = { { .family = AF_INET, .addr = { 127, 0, 0, 1 } },
					     { .family = AF_INET, .addr = { 203, 0, 113, 53 } } };
	static const struct {
		struct config config;
		size_t n;
		const char *says;
	} rows[] = {
		{ { .listen = &loopback, .n_listen = 1 }, 0, " | " },
		{ { .listen = &wildcard, .n_listen = 1 }, 0, " | " },
		{ { .listen = &other, .n_listen = 1 },
		  1,
		  "service address 203.0.113.53: " MISSING " | " },
		{ { .listen = &loopback, .n_listen = 1, .tls_listen = &other, .n_tls_listen = 1 },
		  1,
		  "service address 203.0.113.53: " MISSING " | " },
		{ { .listen = both, .n_listen = 2, .tls_listen = &other, .n_tls_listen = 1 },
		  1,
		  "service address 203.0.113.53: " MISSING " | " },
	};
	static const struct health_options options;
	struct health h;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(&h, &options);
		health_addresses(&h, &rows[i].config);
		assert_said(&h, rows[i].says);
		assert_int_equal(missing_count(&rows[i].config), rows[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_zones_from_elsewhere),
		cmocka_unit_test(test_names_that_are_not_denied),
		cmocka_unit_test(test_many_zones),
		cmocka_unit_test(test_rpz),
		cmocka_unit_test(test_interface),
		cmocka_unit_test(test_nothing_attached),
		cmocka_unit_test(test_queues_without_sockets),
		cmocka_unit_test(test_one_of_two_interfaces),
		cmocka_unit_test(test_worker_hangs),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
