/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "dns/cookie.h"

struct addr {
	uint8_t bytes[16];
	size_t n_bytes;
};

static struct addr to_addr(const char *text)
{
	struct addr a = { .n_bytes = strchr(text, ':') ? 16 : 4 };

	assert_int_equal(inet_pton(a.n_bytes == 4 ? AF_INET : AF_INET6, text, a.bytes), 1);
	return a;
}

static void from_hex(uint8_t *dst, const char *hex)
{
	for (; *hex; hex += 2)
		assert_int_equal(sscanf(hex, "%2hhx", dst++), 1);
}

#define SECRET     "e5e973e5a6b2a43f48e7dc849e37bfcf"
#define SECRET_OLD "dd3bdf9344b678b185a6f5cb60fca715"
#define SECRET_NEW "445536bcd2513298075a5d379663c962"
#define V6         "2001:db8:220:1:59de:d0f4:8769:82b8"

/* RFC 9018 appendix A: the server's cookies. */
static const struct {
	const char *name, *secret, *addr, *client;
	uint32_t now_s;
	const char *want;
} made[] = {
	{ "A.1 learning a new cookie", SECRET, "198.51.100.100", "2464c4abcf10c957", 1559731985,
	  "2464c4abcf10c957010000005cf79f111f8130c3eee29480" },
	{ "A.2 learning a renewed one", SECRET, "198.51.100.100", "2464c4abcf10c957", 1559734385,
	  "2464c4abcf10c957010000005cf7a871d4a564a1442aca77" },
	{ "A.3 another client", SECRET, "203.0.113.203", "fc93fc62807ddb86", 1559734700,
	  "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e" },
	{ "A.4 IPv6, new secret", SECRET_NEW, V6, "22681ab97d52c298", 1559741961,
	  "22681ab97d52c298010000005cf7c609a6bb79d16625507a" },
	{ "A.4 IPv6, old secret", SECRET_OLD, V6, "22681ab97d52c298", 1559741817,
	  "22681ab97d52c298010000005cf7c57926556bd0934c72f8" },
};

static void test_made_as_the_rfc_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		uint8_t secret[16], client[8], want[COOKIE_BYTES], got[COOKIE_BYTES];
		struct addr a = to_addr(made[i].addr);

		from_hex(secret, made[i].secret);
		from_hex(client, made[i].client);
		from_hex(want, made[i].want);
		cookie_make(got, client, a.bytes, a.n_bytes, made[i].now_s, secret);
		if (memcmp(got, want, COOKIE_BYTES))
			fail_msg("%s", made[i].name);
	}
}

#define A1      "2464c4abcf10c957010000005cf79f111f8130c3eee29480"
#define A1_S    1559731985u
#define A1_ADDR "198.51.100.100"
#define A3      "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5"
#define A3_S    1559727985u
#define A4      "22681ab97d52c298010000005cf7c57926556bd0934c72f8"
#define A4_S    1559741817u

static const struct {
	const char *name, *active, *previous, *addr, *value;
	uint32_t now_s;
	enum cookie_verdict want;
} checked[] = {
	{ "A.1 at once", SECRET, NULL, A1_ADDR, A1, A1_S, COOKIE_GOOD },
	{ "half an hour old", SECRET, NULL, A1_ADDR, A1, A1_S + 1800, COOKIE_GOOD },
	{ "half an hour and 1 s", SECRET, NULL, A1_ADDR, A1, A1_S + 1801, COOKIE_RENEW },
	{ "A.2 after 40 minutes", SECRET, NULL, A1_ADDR, A1, 1559734385, COOKIE_RENEW },
	{ "an hour old", SECRET, NULL, A1_ADDR, A1, A1_S + 3600, COOKIE_RENEW },
	{ "an hour and 1 s", SECRET, NULL, A1_ADDR, A1, A1_S + 3601, COOKIE_BAD },
	{ "5 minutes ahead", SECRET, NULL, A1_ADDR, A1, A1_S - 300, COOKIE_GOOD },
	{ "5 minutes and 1 s ahead", SECRET, NULL, A1_ADDR, A1, A1_S - 301, COOKIE_BAD },
	{ "half the number circle away", SECRET, NULL, A1_ADDR, A1, A1_S + 0x80000000u,
	  COOKIE_BAD },
	{ "A.3 reserved bytes are hashed", SECRET, NULL, "203.0.113.203", A3, A3_S, COOKIE_GOOD },
	{ "A.3 as the RFC dates it: too old", SECRET, NULL, "203.0.113.203", A3, 1559734700,
	  COOKIE_BAD },
	{ "A.4 rolled over", SECRET_NEW, SECRET_OLD, V6, A4, 1559741961, COOKIE_RENEW },
	{ "A.4 the old secret is forgotten", SECRET_NEW, NULL, V6, A4, 1559741961, COOKIE_BAD },
	{ "another address", SECRET, NULL, "198.51.100.101", A1, A1_S, COOKIE_BAD },
	{ "IPv6 for IPv4", SECRET, NULL, "::ffff:198.51.100.100", A1, A1_S, COOKIE_BAD },
	{ "another client cookie", SECRET, NULL, A1_ADDR,
	  "2464c4abcf10c958010000005cf79f111f8130c3eee29480", A1_S, COOKIE_BAD },
	{ "another version", SECRET, NULL, A1_ADDR,
	  "2464c4abcf10c957020000005cf79f111f8130c3eee29480", A1_S, COOKIE_BAD },
};

static enum cookie_verdict check(const struct cookie_secrets *secrets, const uint8_t *value,
				 size_t server_bytes, const char *addr, uint32_t now_s)
{
	struct addr a = to_addr(addr);

	return cookie_check(secrets, value, value + COOKIE_CLIENT_BYTES, server_bytes, a.bytes,
			    a.n_bytes, now_s);
}

static void test_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(checked) / sizeof(checked[0]); i++) {
		struct cookie_secrets secrets = { .n = checked[i].previous ? 2 : 1 };
		uint8_t value[COOKIE_BYTES];

		from_hex(secrets.keys[0], checked[i].active);
		if (checked[i].previous)
			from_hex(secrets.keys[1], checked[i].previous);
		from_hex(value, checked[i].value);
		if (check(&secrets, value, COOKIE_SERVER_BYTES, checked[i].addr,
			  checked[i].now_s) != checked[i].want)
			fail_msg("%s", checked[i].name);
	}
}

static void test_every_bit_matters(void **state)
{
	struct cookie_secrets secrets = { .n = 1 };
	uint8_t value[COOKIE_BYTES];

	(void)state;
	from_hex(secrets.keys[0], SECRET);
	for (unsigned int bit = 0; bit < 8 * COOKIE_BYTES; bit++) {
		from_hex(value, A1);
		value[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(check(&secrets, value, COOKIE_SERVER_BYTES, A1_ADDR, A1_S),
				 COOKIE_BAD);
	}
}

/* Another version may have another layout, so it is refused even if the hash is right. */
static void test_other_versions(void **state)
{
	struct cookie_secrets secrets = { .n = 1 };
	struct addr a = to_addr(A1_ADDR);

	(void)state;
	from_hex(secrets.keys[0], SECRET);
	for (unsigned int version = 0; version <= 255; version++) {
		uint8_t value[COOKIE_BYTES], input[20];
		uint64_t hash;

		from_hex(value, A1);
		value[8] = (uint8_t)version;
		memcpy(input, value, 16);
		memcpy(input + 16, a.bytes, 4);
		hash = siphash24(secrets.keys[0], input, sizeof(input));
		for (unsigned int i = 0; i < 8; i++)
			value[16 + i] = (uint8_t)(hash >> (8 * i));
		assert_int_equal(check(&secrets, value, COOKIE_SERVER_BYTES, A1_ADDR, A1_S),
				 version == COOKIE_VERSION ? COOKIE_GOOD : COOKIE_BAD);
	}
}

static void test_every_other_length(void **state)
{
	struct cookie_secrets secrets = { .n = 1 };
	uint8_t value[COOKIE_CLIENT_BYTES + 40] = { 0 };

	(void)state;
	from_hex(secrets.keys[0], SECRET);
	from_hex(value, A1);
	for (size_t n = 0; n <= 40; n++)
		assert_int_equal(check(&secrets, value, n, A1_ADDR, A1_S),
				 n == COOKIE_SERVER_BYTES ? COOKIE_GOOD : COOKIE_BAD);
}

/* RFC 1982: seconds wrap at 2^32. */
static void test_over_the_wrap(void **state)
{
	struct cookie_secrets secrets = { .n = 1 };
	uint8_t value[COOKIE_BYTES] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct addr a = to_addr(A1_ADDR);

	(void)state;
	cookie_make(value, value, a.bytes, a.n_bytes, 0xffffff00, secrets.keys[0]);
	assert_int_equal(check(&secrets, value, 16, A1_ADDR, 0x10), COOKIE_GOOD);
	assert_int_equal(check(&secrets, value, 16, A1_ADDR, 1801 - 0x100), COOKIE_RENEW);
	assert_int_equal(check(&secrets, value, 16, A1_ADDR, 3601 - 0x100), COOKIE_BAD);
	cookie_make(value, value, a.bytes, a.n_bytes, 0x10, secrets.keys[0]);
	assert_int_equal(check(&secrets, value, 16, A1_ADDR, 0xffffff80), COOKIE_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_as_the_rfc_does), cmocka_unit_test(test_checked),
		cmocka_unit_test(test_every_bit_matters),    cmocka_unit_test(test_other_versions),
		cmocka_unit_test(test_every_other_length),   cmocka_unit_test(test_over_the_wrap),
	};

	return cmocka_run_group_tests_name("cookie", tests, NULL, NULL);
}
