/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the prefixes of a configuration to the views of each address. tests/bpf/ tests the driver's
 * map. */
#include "bpf/tables.h"

#include <arpa/inet.h>

#include "tests/unit/config/configtext.h"
#include "xdp/abi.h"

#define P CLIENTS_VIEW(VOLLEY_VIEW_PUBLIC)
#define R CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE)
#define Z CLIENTS_VIEW(VOLLEY_VIEW_PRIVATE)
#define I CLIENTS_VIEW(VOLLEY_VIEW_ITERATIVE)

struct client_row {
	const char *address;
	uint32_t views;
};

struct allow_row {
	const char *name;
	const char *server; /* lists as in a configuration; NULL: the key is absent */
	const char *recursion;
	struct client_row clients[8];
};

static const struct allow_row allow_rows[] = {
	{ "nothing said", NULL, NULL, { { "192.0.2.1", P }, { "2001:db8::1", P } } },
	{ "recursion for some",
	  NULL,
	  "192.0.2.0/25, 10.0.0.0/8",
	  { { "192.0.2.0", P | R },
	    { "192.0.2.127", P | R },
	    { "192.0.2.128", P | I },
	    { "10.255.255.255", P | R },
	    { "11.0.0.0", P | I },
	    { "::192.0.2.1", P | I } } },
	{ "zones for some",
	  "192.0.2.0/24",
	  NULL,
	  { { "192.0.2.255", P | Z }, { "192.0.3.0", P }, { "2001:db8::1", P } } },
	{ "one within the other, both ways",
	  "10.0.0.0/8, 192.0.2.128/25",
	  "10.1.0.0/16, 192.0.2.0/24",
	  { { "10.1.2.3", P | R | Z },
	    { "10.2.0.0", P | Z | I },
	    { "192.0.2.1", P | R },
	    { "192.0.2.129", P | R | Z } } },
	{ "the same in both, and one of an address alone",
	  "192.0.2.0/24, \"2001:db8::1\"",
	  "192.0.2.0/24",
	  { { "192.0.2.1", P | R | Z }, { "2001:db8::1", P | Z | I }, { "2001:db8::2", P } } },
	{ "everybody of one family",
	  NULL,
	  "\"::/0\"",
	  { { "2001:db8::1", P | R }, { "192.0.2.1", P | I }, { "::ffff:192.0.2.1", P | I } } },
	{ "IPv6 around IPv4, which has its own",
	  NULL,
	  "\"::/0\", 192.0.2.0/24",
	  { { "::1", P | R }, { "192.0.2.1", P | R }, { "192.0.3.1", P | I } } },
	{ "bits within an octet",
	  NULL,
	  "192.0.2.8/29, \"2001:db8:8000::/33\"",
	  { { "192.0.2.7", P | I },
	    { "192.0.2.8", P | R },
	    { "192.0.2.15", P | R },
	    { "192.0.2.16", P | I },
	    { "2001:db8:7fff::", P | I },
	    { "2001:db8:8000::", P | R } } },
};

static struct config *configure(const struct allow_row *row)
{
	char text[512], server[128] = "";

	if (row->server)
		snprintf(server, sizeof(server), "  allow: [%s]\n", row->server);
	snprintf(text, sizeof(text), LISTEN "%srecursion:\n  allow: [%s]\n", server,
		 row->recursion ? row->recursion : "");
	return load_good(text);
}

static void test_views(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(allow_rows) / sizeof(allow_rows[0]); i++) {
		const struct allow_row *row = &allow_rows[i];
		struct config *config = configure(row);
		struct clients_list list;
		struct clients *clients;

		assert_int_equal(clients_list_make(&list, config), 0);
		assert_int_equal(clients_new(&clients, list.prefixes, list.n), 0);
		assert_int_equal(clients_restrict_zones(clients), row->server != NULL);
		for (const struct client_row *c = row->clients; c->address; c++) {
			uint8_t address[16], family = strchr(c->address, ':') ? AF_INET6 : AF_INET;

			assert_int_equal(inet_pton(family, c->address, address), 1);
			if (clients_views(clients, family, address) != c->views)
				fail_msg("%s: %s has %x", row->name, c->address,
					 clients_views(clients, family, address));
		}
		clients_free(clients);
		clients_list_fini(&list);
		config_free(config);
	}
}

static void test_nobody_is_listed(void **state)
{
	struct config *config = configure(&allow_rows[0]);
	struct clients_list list;

	(void)state;
	assert_int_equal(clients_list_make(&list, config), 0);
	assert_int_equal(list.n, 0);
	assert_null(list.prefixes);
	clients_list_fini(&list);
	config_free(config);
}

/* Order and spelling of the prefixes make no difference. */
static void test_equal(void **state)
{
	static const struct allow_row rows[] = {
		{ "", "192.0.2.0/24, \"2001:db8::/32\"", "10.0.0.0/8", { { 0 } } },
		{ "", "\"2001:DB8:0::/32\", 192.0.2.0/24", "10.0.0.0/8", { { 0 } } },
		{ "", "192.0.2.0/24, \"2001:db8::/32\"", "10.0.0.0/9", { { 0 } } },
		{ "", "10.0.0.0/8", "192.0.2.0/24, \"2001:db8::/32\"", { { 0 } } },
	};
	struct clients_list lists[4];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct config *config = configure(&rows[i]);

		assert_int_equal(clients_list_make(&lists[i], config), 0);
		assert_int_equal(clients_list_equal(&lists[0], &lists[i]), i < 2);
		config_free(config);
	}
	for (size_t i = 0; i < 4; i++)
		clients_list_fini(&lists[i]);
}

/* Clients that a policy names lose RECURSIVE in the driver's list; the other views stay. */
static void test_without(void **state)
{
	static const struct allow_row row = {
		"", "192.0.2.0/24", "10.0.0.0/8, 10.1.2.0/24", { { 0 } }
	};
	static const struct clients_prefix apart[] = {
		{ AF_INET, 16, { 10, 1 }, 0 },
		{ AF_INET, 24, { 192, 0, 2 }, 0 },
		{ AF_INET, 32, { 203, 0, 113, 1 }, 0 },
	};
	static const struct client_row told[] = { { "10.2.0.1", P | R }, { "10.1.0.1", P },
						  { "10.1.2.1", P },     { "192.0.2.1", P | Z | I },
						  { "203.0.113.1", P },  { "203.0.113.2", P } };
	struct config *config = configure(&row);
	struct clients_list list, without;
	struct clients *clients;

	(void)state;
	assert_int_equal(clients_list_make(&list, config), 0);
	for (int all = 0; all < 2; all++) {
		assert_int_equal(clients_list_without(&without, &list, apart, 3, all), 0);
		assert_int_equal(clients_new(&clients, without.prefixes, without.n), 0);
		for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
			uint32_t views = all ? told[i].views & ~(uint32_t)R : told[i].views;
			uint8_t address[4];

			inet_pton(AF_INET, told[i].address, address);
			if (clients_views(clients, AF_INET, address) != views)
				fail_msg("%s", told[i].address);
		}
		clients_free(clients);
		clients_list_fini(&without);
	}
	clients_list_fini(&list);
	config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_nobody_is_listed),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_without),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
