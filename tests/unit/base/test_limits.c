/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/limits.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct limits limits;

static void begin(uint32_t max_total, uint32_t max_client)
{
	limits = (struct limits){
		.max_total = max_total, .max_client = max_client, .prefix4 = 24, .prefix6 = 60
	};
	memcpy(limits.key, "0123456789abcdef", sizeof(limits.key));
}

static enum limits_verdict take(const char *client, struct limits_place *place)
{
	uint8_t family = strchr(client, ':') ? AF_INET6 : *client ? AF_INET : 0;
	uint8_t address[16] = { 0 };

	if (family)
		assert_int_equal(inet_pton(family, client, address), 1);
	return limits_take(&limits, family, address, place);
}

static void the_total_is_exact(void **state)
{
	struct limits_place place[3];

	(void)state;
	begin(2, 0);
	assert_int_equal(take("192.0.2.1", &place[0]), LIMITS_TAKEN);
	assert_int_equal(take("192.0.2.2", &place[1]), LIMITS_TAKEN);
	assert_int_equal(take("192.0.2.3", &place[2]), LIMITS_TOTAL);
	assert_int_equal(limits.total, 2);
	limits_give(&limits, &place[0]);
	assert_int_equal(take("192.0.2.3", &place[2]), LIMITS_TAKEN);
}

/* Addresses of the same client prefix, or of another one. */
static const struct row {
	const char *a, *b;
	bool is_same;
} rows[] = {
	{ "192.0.2.1", "192.0.2.1", true },
	{ "192.0.2.1", "192.0.2.255", true },
	{ "192.0.2.1", "192.0.3.1", false },
	{ "2001:db8::1", "2001:db8:0:f:ffff::", true },
	{ "2001:db8::1", "2001:db8:0:10::1", false },
	{ "32.1.13.184", "2001:db8::", false },
	{ "192.0.2.1", "::ffff:192.0.2.9", true },
	{ "::ffff:192.0.2.1", "::ffff:192.0.3.1", false },
	{ "", "", true },
	{ "", "0.0.0.0", false },
};

static void clients_are_their_prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct limits_place a, b;

		begin(100, 1);
		assert_int_equal(take(rows[i].a, &a), LIMITS_TAKEN);
		assert_int_equal(take(rows[i].b, &b),
				 rows[i].is_same ? LIMITS_CLIENT : LIMITS_TAKEN);
		limits_give(&limits, &a);
		if (rows[i].is_same)
			assert_int_equal(take(rows[i].b, &b), LIMITS_TAKEN);
		limits_give(&limits, &b);
		assert_int_equal(limits.total, 0);
	}
}

/* All that was taken was given back in every cell, also after refusals. */
static void nothing_stays_counted(void **state)
{
	static const uint32_t zeros[LIMITS_ROWS][LIMITS_CELLS];
	struct limits_place place[64];
	uint8_t address[16] = { 10 };
	unsigned int n = 0;

	(void)state;
	begin(64, 2);
	for (unsigned int i = 0; i < 1000; i++) {
		address[2] = (uint8_t)(i % 100);
		if (limits_take(&limits, AF_INET, address, &place[n]) == LIMITS_TAKEN)
			n++;
	}
	assert_int_equal(n, 64);
	while (n)
		limits_give(&limits, &place[--n]);
	assert_int_equal(limits.total, 0);
	assert_memory_equal(limits.cells, zeros, sizeof(zeros));
}

/* There are two rows: two clients that share a cell in one row are still counted apart. */
static void one_shared_cell_harms_nobody(void **state)
{
	static uint16_t there[LIMITS_CELLS]; /* by the cell in the first row */
	unsigned int n_met = 0;

	(void)state;
	for (uint16_t i = 1; i < 1000; i++) {
		uint8_t address[4] = { 10, (uint8_t)(i >> 8), (uint8_t)i };
		struct limits_place place, other;
		uint16_t met;

		begin(2, 1);
		assert_int_equal(limits_take(&limits, AF_INET, address, &place), LIMITS_TAKEN);
		met = there[place.cell[0]];
		there[place.cell[0]] = i;
		if (!met)
			continue;
		address[1] = (uint8_t)(met >> 8);
		address[2] = (uint8_t)met;
		assert_int_equal(limits_take(&limits, AF_INET, address, &other), LIMITS_TAKEN);
		assert_int_equal(place.cell[0], other.cell[0]);
		n_met++;
	}
	assert_true(n_met > 0);
}

/* Takes places until one is refused, at most 1000. Returns how many. */
static unsigned int take_all(const char *client, enum limits_verdict last)
{
	struct limits_place place;
	unsigned int n = 0;
	enum limits_verdict verdict;

	while ((verdict = take(client, &place)) == LIMITS_TAKEN && n < 1000)
		n++;
	assert_int_equal(verdict, last);
	return n;
}

/* Each client gets a share of the free places; other clients always find some. */
static void clients_have_shares(void **state)
{
	(void)state;
	begin(500, 0);
	limits.has_shares = true;
	assert_int_equal(take_all("192.0.2.1", LIMITS_SHARE), 400);
	assert_true(limits_has_room(&limits, AF_INET, (uint8_t[]){ 192, 0, 3, 1 }));
	assert_false(limits_has_room(&limits, AF_INET, (uint8_t[]){ 192, 0, 2, 1 }));
	assert_int_equal(take_all("192.0.3.1", LIMITS_SHARE), 80);
	assert_int_equal(take_all("192.0.4.1", LIMITS_SHARE), 16);
	assert_int_equal(take_all("192.0.5.1", LIMITS_TOTAL), 4);
	assert_false(limits_has_room(&limits, AF_INET, (uint8_t[]){ 192, 0, 6, 1 }));
	assert_int_equal(limits.total, 500);
}

static void what_is_nobodys_has_no_share(void **state)
{
	(void)state;
	begin(50, 0);
	limits.has_shares = true;
	assert_int_equal(take_all("", LIMITS_TOTAL), 50);
}

static void a_share_comes_back(void **state)
{
	struct limits_place places[400];

	(void)state;
	begin(500, 0);
	limits.has_shares = true;
	for (unsigned int i = 0; i < 400; i++)
		assert_int_equal(take("2001:db8::1", &places[i]), LIMITS_TAKEN);
	assert_int_equal(take("2001:db8::2", &places[0]), LIMITS_SHARE);
	limits_give(&limits, &places[1]);
	assert_int_equal(take("2001:db8::2", &places[1]), LIMITS_TAKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_total_is_exact),
		cmocka_unit_test(clients_are_their_prefixes),
		cmocka_unit_test(nothing_stays_counted),
		cmocka_unit_test(one_shared_cell_harms_nobody),
		cmocka_unit_test(clients_have_shares),
		cmocka_unit_test(what_is_nobodys_has_no_share),
		cmocka_unit_test(a_share_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
