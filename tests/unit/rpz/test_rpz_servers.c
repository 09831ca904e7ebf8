/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of several rules for name servers is the better one, whatever the order in which the
 * servers become known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "rpz/rpz.h"
#include "tests/unit/zone/zone_text.h"

#define HEAD "@ 300 SOA localhost. root. 1 3600 600 86400 30\n@ NS localhost.\n"

static const char first_text[] = HEAD
	"c.x.rpz-nsdname CNAME .\n*.d.x.rpz-nsdname CNAME .\n"
	"24.0.2.0.192.rpz-nsip CNAME .\n32.9.2.0.192.rpz-nsip CNAME .\n";
static const char second_text[] = HEAD
	"a.x.rpz-nsdname CNAME .\nc.x.rpz-nsdname CNAME .\n"
	"32.zz.db8.2001.rpz-nsip CNAME .\nb.x.rpz-nsdname CNAME rpz-new.\n";

static struct zone *zones[2];
static struct rpz *rpz;

static int setup(void **state)
{
	struct rpz_list lists[2] = { 0 };

	(void)state;
	lists[0].zone = zones[0] = zone_of("first", first_text);
	lists[1].zone = zones[1] = zone_of("second", second_text);
	return rpz_new(&rpz, NULL, lists, 2, 7, 3);
}

static int teardown(void **state)
{
	(void)state;
	rpz_free(rpz);
	zone_free(zones[0]);
	zone_free(zones[1]);
	return 0;
}

/* A server as text: a name, or an address. */
static void add(const char *text, size_t n_lists, struct rpz_server_hit *hit)
{
	uint8_t name[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES], address[16];
	uint8_t family = strchr(text, ':') ? AF_INET6 : AF_INET;
	int n;

	if (inet_pton(family, text, address) == 1) {
		rpz_add_server_address(rpz, n_lists, family, address, hit);
		return;
	}
	n = name_from_text(name, sizeof(name), text, strlen(text));
	assert_true(n > 0);
	name_fold(folded, name, (size_t)n);
	rpz_add_server(rpz, n_lists, folded, hit);
}

/* The first of the servers is the one whose rule is the better. */
static const struct {
	const char *what, *better, *other;
	size_t n_lists, list;
	unsigned int bits;
} rows[] = {
	{ "the earlier list", "192.0.2.1", "a.x", 2, 0, 120 },
	{ "a name before an address", "c.x", "192.0.2.9", 2, 0, 0 },
	{ "the first name", "c.x", "e.d.x", 2, 0, 0 },
	{ "the first name of the second list", "a.x", "2001:db8::1", 2, 1, 0 },
	{ "the longest prefix", "192.0.2.9", "192.0.2.1", 2, 0, 128 },
	{ "the lowest address", "192.0.2.1", "192.0.2.2", 2, 0, 120 },
	{ "one that no rule is for", "2001:db8::1", "b.x", 2, 1, 32 },
	{ "not in the second list", "192.0.2.1", "a.x", 1, 0, 120 },
};

static void test_better(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * (sizeof(rows) / sizeof(rows[0])); i++) {
		const struct rpz_server_hit none = { 0 };
		struct rpz_server_hit hit = none, alone = none;

		print_message("%s\n", rows[i / 2].what);
		add(i % 2 ? rows[i / 2].better : rows[i / 2].other, rows[i / 2].n_lists, &hit);
		add(i % 2 ? rows[i / 2].other : rows[i / 2].better, rows[i / 2].n_lists, &hit);
		add(rows[i / 2].better, rows[i / 2].n_lists, &alone);
		assert_non_null(hit.node);
		assert_ptr_equal(hit.node, alone.node);
		assert_int_equal(hit.list, rows[i / 2].list);
		assert_int_equal(hit.bits, rows[i / 2].bits);
		assert_memory_equal(hit.server, alone.server, sizeof(hit.server));
	}
}

static void test_may_better(void **state)
{
	struct rpz_server_hit hit = { 0 };

	(void)state;
	assert_true(rpz_names_servers(rpz));
	assert_true(rpz_list_names_servers(zones[1]));
	assert_false(rpz_may_better(rpz, 0, 0, &hit));
	assert_true(rpz_may_better(rpz, 1, 0, &hit));
	assert_true(rpz_may_better(rpz, 1, AF_INET, &hit));
	assert_false(rpz_may_better(rpz, 1, AF_INET6, &hit));
	assert_true(rpz_may_better(rpz, 2, AF_INET6, &hit));
	add("a.x", 2, &hit); /* of the second list */
	assert_true(rpz_may_better(rpz, 2, 0, &hit));
	assert_true(rpz_may_better(rpz, 2, AF_INET, &hit));
	assert_false(rpz_may_better(rpz, 2, AF_INET6, &hit));
	add("192.0.2.1", 2, &hit);
	assert_true(rpz_may_better(rpz, 2, 0, &hit));
	add("c.x", 2, &hit);
	assert_false(rpz_may_better(rpz, 2, AF_INET, &hit));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_better),
		cmocka_unit_test(test_may_better),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
