/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers that are prefixes: how they are written, and which one holds an address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "rpz/rpz_rules.h"
#include "tests/unit/zone/zone_text.h"

static const struct {
	const char *text;
	const char *address; /* NULL: it is none */
	uint8_t bits;
} written[] = {
	{ "32.1.2.0.192", "192.0.2.1", 32 },
	{ "24.0.2.0.192", "192.0.2.0", 24 },
	{ "0.0.0.0.0", "0.0.0.0", 0 },
	{ "24.1.2.0.192", NULL, 0 }, /* a bit behind the length */
	{ "33.1.2.0.192", NULL, 0 }, /* too long */
	{ "32.1.2.0.256", NULL, 0 }, /* no octet */
	{ "32.1.2.0", NULL, 0 },     /* one is missing */
	{ "32.1.2.0.+1", NULL, 0 },  /* no number */
	{ "x.1.2.0.192", NULL, 0 },  /* no length */
	{ "*.1.2.0.192", NULL, 0 },  /* a wildcard */
	{ "128.1.zz.db8.2001", "2001:db8::1", 128 },
	{ "48.zz.1.db8.2001", "2001:db8:1::", 48 },
	{ "128.8.7.6.5.4.3.2.1", "1:2:3:4:5:6:7:8", 128 },
	{ "128.8.7.6.zz.4.3.2.1", "1:2:3:4:0:6:7:8", 128 },
	{ "128.zz", "::", 128 },
	{ "64.1.zz.db8.2001", NULL, 0 },      /* a bit behind the length */
	{ "128.zz.1.zz", NULL, 0 },           /* zeros twice */
	{ "128.8.7.6.5.4.3.2", NULL, 0 },     /* a group is missing */
	{ "128.9.8.7.6.5.4.3.2.1", NULL, 0 }, /* one too many */
	{ "128.9.8.7.6.5.4.3.2.1.zz", NULL, 0 },
	{ "128.0x1.zz", NULL, 0 },
	{ "128.10000.zz", NULL, 0 },
};

static void test_written(void **state)
{
	uint8_t name[DNS_NAME_MAX];
	struct clients_prefix p;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		int n = name_from_text(name, sizeof(name), written[i].text,
				       strlen(written[i].text));

		print_message("%s\n", written[i].text);
		assert_true(n > 0);
		assert_int_equal(rpz_prefix_read(name, name + n - 1, &p),
				 written[i].address != NULL);
		if (!written[i].address)
			continue;
		assert_int_equal(p.bits, written[i].bits);
		assert_string_equal(inet_ntop(p.family, p.address, text, sizeof(text)),
				    written[i].address);
	}
}

static const char list_text[] = "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\n"
				"name.example CNAME .\n"
				"8.0.0.0.10.rpz-ip CNAME .\n"
				"16.0.0.1.10.RPZ-IP CNAME *.\n"
				"32.1.2.1.10.rpz-ip CNAME rpz-passthru.\n"
				"24.1.3.1.10.rpz-ip CNAME .\n"
				"32.9.9.1.10.rpz-ip CNAME rpz-other.\n"
				"0.zz.rpz-ip CNAME .\n"
				"112.0.a03.ffff.zz.rpz-ip CNAME .\n"
				"32.zz.db8.2001.rpz-ip CNAME .\n"
				"32.1.0.0.127.rpz-client-ip CNAME .\n";

static const struct {
	const char *address;
	unsigned int bits; /* 0: no rule holds it */
} addresses[] = {
	{ "10.0.0.0", 104 },      { "10.255.255.255", 104 }, { "10.1.0.0", 112 },
	{ "10.1.2.0", 112 },      { "10.1.2.1", 128 },       { "10.1.2.2", 112 },
	{ "10.1.3.1", 112 },      { "10.1.9.9", 112 },       { "10.3.9.9", 112 },
	{ "10.2.0.0", 104 },      { "9.255.255.255", 0 },    { "11.0.0.0", 0 },
	{ "127.0.0.1", 0 },       { "2001:db8::1", 32 },     { "2001:db9::", 1000 },
	{ "::", 1000 },           { "ffff::", 1000 },        { "::ffff:10.1.2.1", 128 },
	{ "::ffff:11.0.0.0", 0 },
};

static void test_found(void **state)
{
	struct zone *list = zone_of("list.rpz", list_text);
	struct rpz_prefixes *t;
	struct clients_prefix copies[8];

	(void)state;
	assert_int_equal(rpz_prefixes_new(&t, list, "rpz-ip"), 0);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		uint8_t octets[16];
		unsigned int bits = 0;
		uint8_t family = strchr(addresses[i].address, ':') ? AF_INET6 : AF_INET;
		const struct zone_node *node;

		print_message("%s\n", addresses[i].address);
		assert_int_equal(inet_pton(family, addresses[i].address, octets), 1);
		node = rpz_prefixes_find(t, family, octets, &bits);
		assert_int_equal(node != NULL, addresses[i].bits != 0);
		if (node)
			assert_int_equal(bits, addresses[i].bits % 1000);
	}
	assert_int_equal(rpz_prefixes_copy(t, copies, 8), 6);
	assert_int_equal(copies[0].family, AF_INET);
	assert_int_equal(copies[0].bits, 8);
	assert_memory_equal(copies[0].address, "\12\0\0\0", 4);
	assert_int_equal(copies[3].bits, 16); /* written as IPv6 */
	assert_memory_equal(copies[3].address, "\12\3\0\0", 4);
	assert_int_equal(copies[4].family, AF_INET6);
	assert_int_equal(copies[5].bits, 32);
	assert_memory_equal(copies[5].address, "\x20\x01\x0d\xb8\0", 5);
	assert_int_equal(rpz_prefixes_copy(t, copies, 2), 6);
	assert_true(rpz_prefixes_has(t, AF_INET) && rpz_prefixes_has(t, AF_INET6));
	rpz_prefixes_free(t);
	assert_int_equal(rpz_prefixes_new(&t, list, "rpz-nsip"), 0);
	assert_null(t);
	assert_null(rpz_prefixes_find(NULL, AF_INET, (const uint8_t *)"\12\0\0\0", NULL));
	zone_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
