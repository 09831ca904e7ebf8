/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefixes of clients: the longest decides, whatever their order, and a walk over all agrees. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "limits/clients.h"
#include "tests/lib/must.h"
#include "xdp/abi.h"

#define PUBLIC    CLIENTS_VIEW(VOLLEY_VIEW_PUBLIC)
#define RECURSIVE CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE)
#define PRIVATE   CLIENTS_VIEW(VOLLEY_VIEW_PRIVATE)

static struct clients_prefix prefix(const char *address, uint8_t bits, uint32_t views)
{
	struct clients_prefix p = { .bits = bits, .views = views };

	p.family = strchr(address, ':') ? AF_INET6 : AF_INET;
	MUST(inet_pton(p.family, address, p.address) == 1);
	return p;
}

static uint32_t look(const struct clients *c, const char *address)
{
	struct clients_prefix p = prefix(address, 0, 0);

	return clients_views(c, p.family, p.address);
}

/* With the prefixes of test_longest(). */
static const struct {
	const char *address;
	uint32_t views;
} rows[] = {
	{ "9.255.255.255", PUBLIC },
	{ "10.0.0.0", PUBLIC | RECURSIVE },
	{ "10.0.255.255", PUBLIC | RECURSIVE },
	{ "10.1.0.0", PRIVATE },
	{ "10.1.1.255", PRIVATE },
	{ "10.1.2.0", PUBLIC },
	{ "10.1.2.2", PUBLIC },
	{ "10.1.2.3", RECURSIVE | PRIVATE },
	{ "10.1.2.4", PUBLIC },
	{ "10.1.2.255", PUBLIC },
	{ "10.1.3.0", PRIVATE },
	{ "10.1.255.255", PRIVATE },
	{ "10.2.0.0", PUBLIC | RECURSIVE },
	{ "10.255.255.255", PUBLIC | RECURSIVE },
	{ "11.0.0.0", PUBLIC },
	{ "255.255.255.255", PRIVATE },
	{ "::", PUBLIC },
	{ "::1", PUBLIC },
	{ "::a01:203", PUBLIC }, /* compatible, not mapped */
	{ "::ffff:10.1.2.3", RECURSIVE | PRIVATE },
	{ "::ffff:10.1.3.3", PRIVATE },
	{ "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC },
	{ "2001:db8::", RECURSIVE },
	{ "2001:db8:1::7", PRIVATE },
	{ "2001:db8:2::", RECURSIVE },
	{ "2001:db9::", PUBLIC },
	{ "fffe:ffff::", PUBLIC },
	{ "ffff::", RECURSIVE },
	{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", RECURSIVE },
};

static void test_longest(void **state)
{
	const struct clients_prefix prefixes[] = {
		prefix("10.1.2.0", 24, PUBLIC),
		prefix("10.0.0.0", 8, PUBLIC | RECURSIVE),
		prefix("10.1.2.3", 32, RECURSIVE | PRIVATE),
		prefix("10.1.0.0", 16, PRIVATE),
		prefix("2001:db8::", 32, RECURSIVE),
		prefix("2001:db8:1::", 48, PRIVATE),
		prefix("255.255.255.255", 32, PRIVATE),
		prefix("ffff::", 16, RECURSIVE),
	};
	struct clients *c;

	(void)state;
	assert_int_equal(clients_new(&c, prefixes, sizeof(prefixes) / sizeof(*prefixes)), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (look(c, rows[i].address) != rows[i].views)
			fail_msg("%s: views %x", rows[i].address, look(c, rows[i].address));
	assert_true(clients_restrict_zones(c));
	clients_free(c);
}

static void test_edges(void **state)
{
	const struct clients_prefix all[] = { prefix("::", 0, RECURSIVE) };
	const struct clients_prefix all4[] = { prefix("0.0.0.0", 0, RECURSIVE) };
	/* Bits behind the prefix mean nothing, and the same prefix twice is both. */
	const struct clients_prefix twice[] = { prefix("192.0.2.77", 24, RECURSIVE),
						prefix("192.0.2.0", 24, PRIVATE),
						prefix("192.0.2.0", 25, PUBLIC) };
	struct clients *c;

	(void)state;
	assert_int_equal(clients_new(&c, NULL, 0), 0);
	assert_int_equal(look(c, "192.0.2.1"), PUBLIC);
	assert_false(clients_restrict_zones(c));
	clients_free(c);
	assert_int_equal(clients_new(&c, all, 1), 0);
	assert_int_equal(look(c, "192.0.2.1"), RECURSIVE);
	assert_int_equal(look(c, "2001:db8::1"), RECURSIVE);
	clients_free(c);
	assert_int_equal(clients_new(&c, all4, 1), 0);
	assert_int_equal(look(c, "255.255.255.255"), RECURSIVE);
	assert_int_equal(look(c, "::1:0:0:0"), PUBLIC);
	assert_int_equal(look(c, "2001:db8::1"), PUBLIC);
	clients_free(c);
	assert_int_equal(clients_new(&c, twice, 3), 0);
	assert_int_equal(look(c, "192.0.2.200"), RECURSIVE | PRIVATE);
	assert_int_equal(look(c, "192.0.2.1"), PUBLIC);
	clients_free(c);
}

static void test_refused(void **state)
{
	struct clients_prefix p = prefix("192.0.2.0", 33, PUBLIC);
	struct clients *c;

	(void)state;
	assert_int_equal(clients_new(&c, &p, 1), -EINVAL);
	p = prefix("2001:db8::", 129, PUBLIC);
	assert_int_equal(clients_new(&c, &p, 1), -EINVAL);
	p.bits = 1;
	p.family = AF_UNIX;
	assert_int_equal(clients_new(&c, &p, 1), -EINVAL);
}

#define N_PREFIXES 300

static bool holds(const struct clients_prefix *p, const uint8_t *address)
{
	for (unsigned int bit = 0; bit < p->bits; bit++)
		if ((p->address[bit / 8] ^ address[bit / 8]) & 0x80 >> bit % 8)
			return false;
	return true;
}

/* Prefixes of few different addresses, so that they nest deep; views say which one it was. */
static void test_walk(void **state)
{
	struct clients_prefix prefixes[N_PREFIXES];
	unsigned int seed = 7;
	struct clients *c;

	(void)state;
	for (unsigned int i = 0; i < N_PREFIXES; i++) {
		prefixes[i] = (struct clients_prefix){ .family = AF_INET6 };
		for (unsigned int k = 0; k < 16; k++)
			prefixes[i].address[k] = (uint8_t)(rand_r(&seed) % 3 * 127);
		prefixes[i].bits = (uint8_t)(rand_r(&seed) % 129);
		prefixes[i].views = (uint32_t)(i + 1) << 8;
	}
	assert_int_equal(clients_new(&c, prefixes, N_PREFIXES), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		uint32_t expected = PUBLIC;
		int longest = -1;
		uint8_t address[16];

		for (unsigned int k = 0; k < 16; k++)
			address[k] = (uint8_t)(rand_r(&seed) % 3 * 127 + !(rand_r(&seed) % 8));
		for (unsigned int k = 0; k < N_PREFIXES; k++) {
			if (!holds(&prefixes[k], address) || prefixes[k].bits < longest)
				continue;
			expected = prefixes[k].bits == longest ? expected | prefixes[k].views :
								 prefixes[k].views;
			longest = prefixes[k].bits;
		}
		assert_int_equal(clients_views(c, AF_INET6, address), expected);
	}
	clients_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
