/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of recursion share: a zone of ours, one question that is not, and its answers. */
#ifndef VOLLEY_TESTS_ENGINE_RECURSION_ROWS_H
#define VOLLEY_TESTS_ENGINE_RECURSION_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dns/edns.h"
#include "tests/unit/engine/recursing.h"

#define T(t) DNS_TYPE_##t
#define RD   DNS_FLAG_RD
#define CD   DNS_FLAG_CD
#define AD   DNS_FLAG_AD
#define RA   DNS_FLAG_RA
#define QR   DNS_FLAG_QR
#define AA   DNS_FLAG_AA
#define SOA  "SOA ns.x. root.x. 1 2 3 4 60\n"

static const char zone_com[] = "$TTL 3600\n"
			       "@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n"
			       "@ NS ns1\n"
			       "ns1 A 192.0.2.1\n"
			       "out CNAME www.x.\n"
			       "sub NS ns.sub\n"
			       "ns.sub A 192.0.2.53\n";

static struct recursing r;

static const struct ask www = { .name = "www.x", .type = T(A), .flags = RD, .udp_size = 1232 };
static const struct upstream www_answer = { "www.x.",
					    T(A),
					    0,
					    "www.x. 300 IN A 192.0.2.80\n",
					    "x. 300 IN NS ns.x.\n",
					    "ns.x. 300 IN A 192.0.2.53\n" };
static const struct upstream no_such = { "www.x.",        T(A), DNS_RCODE_NXDOMAIN, NULL,
					 "x. 60 IN " SOA, NULL };

static inline int setup(void **state)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;

	(void)state;
	memset(&r, 0, sizeof(r));
	world_add_zone(&r.world, "example.com", zone_com);
	recursing_open(&r, &config);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	recursing_close(&r);
	world_free(&r.world);
	return 0;
}

static inline uint64_t counter(size_t offset)
{
	struct engine_counters c;

	engine_counters_read(r.world.engine, &c);
	return *(const uint64_t *)((const uint8_t *)&c + offset);
}

#define COUNTER(name) counter(offsetof(struct engine_counters, name))

static inline void check_error(uint16_t rcode, int ede_code)
{
	assert_int_equal(reply_rcode(&r.reply), rcode);
	assert_int_equal(ede_of(&r.reply), ede_code);
	assert_int_equal(reply_count(&r.reply, DNS_ANCOUNT_AT), 0);
}

static inline void check_answer(const char *expected)
{
	char *text = answer_of(&r.reply, LDNS_SECTION_ANSWER);

	assert_string_equal(text, expected);
	free(text);
}

static inline void check_hit(const struct ask *a, const char *expected)
{
	assert_false(ask(&r, a));
	check_answer(expected);
}

static inline int group_setup(void **state)
{
	(void)state;
	rcu_register_thread();
	return 0;
}

static inline int group_teardown(void **state)
{
	(void)state;
	rcu_unregister_thread();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
