/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/port/echo.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>

static void test_text_there_and_back(void **state)
{
	static const struct {
		const char *text;
		uint16_t port;
		uint8_t family;
		const char *shown;
	} rows[] = {
		{ "192.0.2.1", 53, AF_INET, "192.0.2.1@53" },
		{ "0.0.0.0", 0, AF_INET, "0.0.0.0@0" },
		{ "2001:DB8:0::1", 65535, AF_INET6, "2001:db8::1@65535" },
		{ "::", 5300, AF_INET6, "::@5300" },
	};
	char text[PORT_ADDR_TEXT_CAP];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct port_addr a = addr_of(rows[i].text, rows[i].port), b;
		struct sockaddr_storage ss;
		socklen_t len = port_addr_to_sockaddr(&a, &ss);

		assert_int_equal(a.family, rows[i].family);
		assert_int_equal(ntohs(a.port), rows[i].port);
		assert_string_equal(port_addr_text(&a, text), rows[i].shown);
		assert_int_equal(len, a.family == AF_INET ? sizeof(struct sockaddr_in) :
							    sizeof(struct sockaddr_in6));
		assert_int_equal(port_addr_from_sockaddr(&b, (struct sockaddr *)&ss), 0);
		assert_int_equal(a.family, b.family);
		assert_int_equal(a.port, b.port);
		assert_memory_equal(a.bytes, b.bytes, sizeof(a.bytes));
	}
}

static void test_made_of_octets(void **state)
{
	static const uint8_t bytes[16] = { 192, 0, 2, 1, 5, 6 };
	struct port_addr v4 = addr_of("192.0.2.1", 53), v6 = addr_of("c000:201:506::", 53);
	struct port_addr a = port_addr_make(AF_INET, bytes, htons(53));

	(void)state;
	assert_memory_equal(&a, &v4, sizeof(a));
	a = port_addr_make(AF_INET6, bytes, htons(53));
	assert_memory_equal(&a, &v6, sizeof(a));
}

static void test_link_local_keeps_its_interface(void **state)
{
	struct port_addr a = addr_of("fe80::1", 53), b;
	struct sockaddr_storage ss;
	char text[PORT_ADDR_TEXT_CAP];

	(void)state;
	a.scope_id = 4000000;
	port_addr_to_sockaddr(&a, &ss);
	assert_int_equal(port_addr_from_sockaddr(&b, (struct sockaddr *)&ss), 0);
	assert_int_equal(b.scope_id, 4000000);
	assert_string_equal(port_addr_text(&b, text), "fe80::1%4000000@53");
	assert_int_equal(port_addr_from_text(&b, "fe80::1%4000000", 53), 0);
	assert_true(port_addr_is_same(&a, &b));
	assert_int_equal(port_addr_from_text(&b, "FE80::1%lo", 53), 0);
	assert_int_equal(b.scope_id, if_nametoindex("lo"));
	assert_string_equal(port_addr_text(&b, text), "fe80::1%lo@53");
	assert_int_equal(port_addr_from_text(&b, "fe80::1%nosuch0", 53), -ENODEV);
}

static void test_refuses(void **state)
{
	static const char *const texts[] = { "",
					     "192.0.2",
					     "192.0.2.256",
					     "example.com",
					     "::1@53",
					     "[::1]",
					     " ::1",
					     "fe80::1%",
					     "%lo",
					     "2001:db8::1%lo",
					     "192.0.2.1%lo",
					     "fe80::1%a/b",
					     "fe80::1%lo%lo",
					     "ff02::1%lo",
					     "fe80::1%a.name.of.sixteen" };
	struct sockaddr sa = { .sa_family = AF_UNIX };
	struct port_addr a;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(port_addr_from_text(&a, texts[i], 53), -EINVAL);
	assert_int_equal(port_addr_from_sockaddr(&a, &sa), -EAFNOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_there_and_back),
		cmocka_unit_test(test_made_of_octets),
		cmocka_unit_test(test_link_local_keeps_its_interface),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
