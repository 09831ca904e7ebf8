/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers from upstream: each TTL in the reply is reduced by the entry's age, and the checksum is
 * right. No damaged list of offsets makes the program write outside the body.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/wire.h"
#include "tests/lib/xdpworld.h"

#define BODY_MAX 6000u
#define TTL_S    60u /* the machine is older: wait_for_age() */

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX], body[BODY_MAX];
static uint16_t ttls[1000];
static struct xdp_result result;
static struct pkt_answer answer;

static size_t build(const struct pkt *p, const struct pkt_ask *ask)
{
	size_t n = pkt_build(frame, p, dns, pkt_ask(dns, ask));

	assert_true(n);
	return n;
}

/* The reply's body must be the first n octets of the entry's, with aged TTLs. */
static void expect_aged(const char *what, const struct entry *e, size_t n, uint32_t age_s)
{
	uint8_t wanted[BODY_MAX];

	if (answer.body_bytes != n)
		fail_msg("%s: body of %zu octets, not %zu", what, answer.body_bytes, n);
	memcpy(wanted, e->body, n);
	for (size_t i = 0; i < e->n_ttls && e->ttls[i] + 4u <= n; i++) {
		uint32_t ttl = wire_load_be32(wanted + e->ttls[i]);

		wire_store_be32(wanted + e->ttls[i], ttl > age_s ? ttl - age_s : 0);
	}
	for (size_t i = 0; i < n; i++) {
		if (answer.body[i] != wanted[i])
			fail_msg("%s: octet %zu of the body is %02x, not %02x", what, i,
				 answer.body[i], wanted[i]);
	}
}

/* Sends the query in `frame` when the entry has this age. */
static void expect_at_age(struct xdp_world *w, const char *what, const struct entry *e,
			  struct volley_entry *entry, size_t bytes, uint32_t age_s, int reason)
{
	size_t n = reason == VOLLEY_HIT_FULL  ? e->full_bytes :
		   reason == VOLLEY_HIT_SHORT ? e->short_bytes :
						0;
	uint32_t now_s;

	do { /* again if a second began meanwhile */
		now_s = xdp_coarse_s();
		entry->born_s = now_s - age_s;
		xdp_expect_answer(w, what, frame, bytes, reason, &result, &answer);
	} while (clock_coarse_s() != now_s);
	expect_aged(what, e, n, age_s);
}

/* A body of 0xff octets with TTLs of TTL_S. */
static struct entry make_entry(const uint8_t *name, uint16_t n, size_t n_ttls)
{
	memset(body, 0xff, n);
	for (size_t i = 0; i < n_ttls; i++) {
		if (ttls[i] + 4u <= n)
			wire_store_be32(body + ttls[i], TTL_S);
	}
	return (struct entry){ .name = name,
			       .body = body,
			       .full_bytes = n,
			       .short_bytes = n,
			       .ttls = ttls,
			       .n_ttls = (uint16_t)n_ttls };
}

/* Two A records and an MX record. */
static struct entry make_records(const uint8_t *name)
{
	static const uint8_t records[] = { 0xc0, 12, 0,   1,    0,  1, 0, 0,   0,    0,  0, 4,  192,
					   0,    2,  1,   0xc0, 12, 0, 1, 0,   1,    0,  0, 0,  0,
					   0,    4,  192, 0,    2,  2, 1, 'm', 0xc0, 12, 0, 15, 0,
					   1,    0,  0,   0,    0,  0, 3, 0,   9,    0 };

	memcpy(body, records, sizeof(records));
	ttls[0] = 6;
	ttls[1] = 22;
	ttls[2] = 40;
	for (size_t i = 0; i < 3; i++)
		wire_store_be32(body + ttls[i], TTL_S);
	return (struct entry){ .name = name,
			       .body = body,
			       .ancount = 3,
			       .full_bytes = sizeof(records),
			       .short_bytes = sizeof(records),
			       .ttls = ttls,
			       .n_ttls = 3 };
}

/* Every second of an answer's life, and some seconds after it. */
static void test_whole_life(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name, .edns = true };
	struct volley_entry *entry;
	struct entry e;
	size_t bytes;

	pkt_name(name, "www.example.com");
	e = make_records(name);
	entry = xdp_world_put(w, &e);
	bytes = build(&pkt_ipv4, &ask);
	for (uint32_t age_s = 0; age_s <= TTL_S + 1; age_s++) {
		char what[32];

		snprintf(what, sizeof(what), "age %u", age_s);
		expect_at_age(w, what, &e, entry, bytes, age_s, VOLLEY_HIT_FULL);
	}
	assert_int_equal(wire_load_be32(answer.body + 6), 0); /* and not below 0 */
}

/* By the program's clock; and with an entry whose born_s is in the future. */
static void test_clock(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name };
	struct volley_entry *entry;
	uint32_t born_s, ttl;
	struct entry e;
	size_t bytes;

	pkt_name(name, "www.example.com");
	e = make_records(name);
	entry = xdp_world_put(w, &e);
	bytes = build(&pkt_ipv6, &ask);
	entry->born_s = born_s = xdp_coarse_s();
	do {
		uint32_t before_s = xdp_coarse_s();

		xdp_expect_answer(w, "the clock", frame, bytes, VOLLEY_HIT_FULL, &result, &answer);
		ttl = wire_load_be32(answer.body + ttls[0]);
		assert_in_range(ttl, TTL_S - (clock_coarse_s() - born_s),
				TTL_S - (before_s - born_s));
	} while (ttl > TTL_S - 2);
	entry->born_s = xdp_coarse_s() + 10;
	xdp_expect_answer(w, "not born yet", frame, bytes, VOLLEY_HIT_FULL, &result, &answer);
	expect_aged("not born yet", &e, e.full_bytes, 0);
	entry->born_s = VOLLEY_NEVER;
	xdp_expect_answer(w, "never born", frame, bytes, VOLLEY_HIT_FULL, &result, &answer);
	expect_aged("never born", &e, e.full_bytes, 0);
}

/* One TTL at this offset of a body of n octets. */
static void try_offset(void **state, const uint8_t *name, uint16_t n, uint16_t offset)
{
	struct xdp_world *w = xdp_world_take(state);
	struct pkt_ask ask = { .name = name, .edns = n / 2 % 2 };
	struct volley_entry *entry;
	struct entry e;
	char what[64];

	ttls[0] = offset;
	e = make_entry(name, n, 1);
	entry = xdp_world_put(w, &e);
	snprintf(what, sizeof(what), "name of %zu, TTL at %u of %u", pkt_name_bytes(name), offset,
		 n);
	expect_at_age(w, what, &e, entry, build(n % 2 ? &pkt_ipv6 : &pkt_ipv4, &ask), 31,
		      VOLLEY_HIT_FULL);
}

/* Each offset, in bodies that are copied by words and by the kernel, after questions of odd and
 * even length. */
static void test_offsets(void **state)
{
	static const char *const names[] = { "ab.example", "abc.example" };
	uint8_t name[PKT_NAME_MAX];

	for (size_t i = 0; i < 2; i++) {
		pkt_name(name, names[i]);
		for (uint16_t n = 4; n < 150; n++) {
			for (uint16_t offset = 0; offset + 4u <= n; offset++)
				try_offset(state, name, n, offset);
		}
	}
}

/* With letters of any case in the question. */
static void test_case(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX], asked[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = asked };
	size_t n = pkt_name(name, "abcdefghijklm.nopqrstuvwxyz.example");
	struct entry e = make_records(name);
	struct volley_entry *entry = xdp_world_put(w, &e);

	for (uint32_t mask = 0; mask < 1024; mask++) {
		memcpy(asked, name, n);
		for (size_t i = 0; i < n; i++) {
			if (asked[i] >= 'a' && (mask * 0x9e3779b1u >> (i % 32) & 1))
				asked[i] = (uint8_t)(asked[i] - 32);
		}
		expect_at_age(w, "case", &e, entry, build(&pkt_ipv4, &ask), 37, VOLLEY_HIT_FULL);
	}
}

/* The whole body, the short one, and none: only the TTLs that are sent are aged. */
static void test_forms(void **state)
{
	static const struct {
		const char *name;
		uint16_t udp_size;
		int reason;
	} rows[] = {
		{ "whole", 1232, VOLLEY_HIT_FULL },
		{ "short", 700, VOLLEY_HIT_SHORT },
		{ "truncated", 600, VOLLEY_HIT_TRUNCATED },
	};
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name, .edns = true };
	struct volley_entry *entry;
	struct entry e;

	pkt_name(name, "forms.example");
	for (uint16_t i = 0; i < VOLLEY_TTLS_MAX; i++)
		ttls[i] = (uint16_t)(i < 20 ? i * 30 + i % 2 : 601 + (i - 20) * 23);
	e = make_entry(name, 900, VOLLEY_TTLS_MAX);
	e.short_bytes = 601;
	entry = xdp_world_put(w, &e);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ask.udp_size = rows[i].udp_size;
		expect_at_age(w, rows[i].name, &e, entry, build(&pkt_ipv6, &ask), 49,
			      rows[i].reason);
		assert_int_equal(!!(answer.flags & PKT_TC), rows[i].reason == VOLLEY_HIT_TRUNCATED);
	}
}

/* An answer that is whole only over TCP: the driver sends TC=1 without reading the list of its
 * TTLs. */
static void test_long(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name, .edns = true, .udp_size = 1232 };
	struct volley_entry *entry;
	struct entry e;
	size_t n;

	pkt_name(name, "long.example");
	for (uint16_t i = 0; i < 200; i++)
		ttls[i] = (uint16_t)(i * 25);
	e = make_entry(name, 5000, 200);
	entry = xdp_world_put(w, &e);
	n = build(&pkt_ipv4, &ask);
	expect_at_age(w, "no part of it", &e, entry, n, 9, VOLLEY_HIT_TRUNCATED);
	entry->short_bytes = 800;
	xdp_expect_unchanged(w, "more TTLs than are read", frame, n, VOLLEY_UP_MANY_TTLS);
	entry->n_ttls = VOLLEY_TTLS_MAX;
	xdp_expect_unchanged(w, "TTLs where none are read", frame, n, VOLLEY_UP_NO_ROOM);
}

/* As many as the driver takes, and more. */
static void test_number(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name, .edns = true, .udp_size = 1232 };

	pkt_name(name, "number.example");
	for (uint16_t n = 1; n <= VOLLEY_TTLS_MAX + 2; n++) {
		struct volley_entry *entry;
		struct entry e;
		char what[32];
		size_t bytes;

		ttls[n - 1] = (uint16_t)((n - 1) * 5);
		e = make_entry(name, (uint16_t)(n * 5), n);
		e.qtype = ask.qtype = n;
		entry = xdp_world_put(w, &e);
		bytes = build(&pkt_ipv4, &ask);
		snprintf(what, sizeof(what), "%u TTLs", n);
		if (n > VOLLEY_TTLS_MAX) {
			xdp_expect_unchanged(w, what, frame, bytes, VOLLEY_UP_MANY_TTLS);
			continue;
		}
		expect_at_age(w, what, &e, entry, bytes, 50, VOLLEY_HIT_FULL);
	}
}

/* Damaged entries: the last TTL ends outside the body, or the list lies outside the entry. */
static void test_damaged(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name };
	struct volley_entry *entry;
	struct entry e;
	uint16_t *last;
	size_t n;

	pkt_name(name, "damaged.example");
	e = make_records(name);
	entry = xdp_world_put(w, &e);
	n = build(&pkt_ipv4, &ask);
	last = (uint16_t *)((uint8_t *)entry + volley_ttls_offset(entry)) + 2;
	for (uint16_t i = 1; i < 4; i++) {
		*last = (uint16_t)(e.full_bytes - i);
		xdp_expect_unchanged(w, "beyond the body", frame, n, VOLLEY_UP_NO_ROOM);
	}
	*last = 40;
	entry->n_ttls = UINT16_MAX;
	xdp_expect_unchanged(w, "a list without end", frame, n, VOLLEY_UP_MANY_TTLS);
	entry->n_ttls = 3;
	entry->body_offset = UINT16_MAX;
	xdp_expect_unchanged(w, "a body beyond the entry", frame, n, VOLLEY_UP_NO_ROOM);
	entry->body_offset = (uint16_t)(offsetof(struct volley_entry, name) + 24);
	/* The driver takes the short body, and the list lies far behind it. */
	entry->full_bytes = UINT16_MAX;
	xdp_expect_unchanged(w, "a list beyond the entry", frame, n, VOLLEY_UP_NO_ROOM);
	entry->full_bytes = e.full_bytes;
	xdp_expect_answer(w, "whole again", frame, n, VOLLEY_HIT_FULL, &result, &answer);
}

/* Any offsets in any order: the query goes up, or only the body differs from that of the answer
 * without TTLs. */
static void test_any_offsets(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	static struct xdp_result plain;
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name, .edns = true };
	size_t n, check_at = pkt_dns_at(&pkt_ipv4) - 2, n_sent = 0;
	struct volley_entry *entry;
	uint64_t random = 1;
	struct entry e;
	uint16_t *list;

	pkt_name(name, "any.example");
	for (uint16_t i = 0; i < VOLLEY_TTLS_MAX; i++)
		ttls[i] = (uint16_t)(i * 4);
	e = make_entry(name, VOLLEY_TTLS_MAX * 4 + 3, VOLLEY_TTLS_MAX);
	e.born_s = 1;
	entry = xdp_world_put(w, &e);
	list = (uint16_t *)((uint8_t *)entry + volley_ttls_offset(entry));
	n = build(&pkt_ipv4, &ask);
	for (unsigned int i = 0; i < 20000; i++) {
		const uint8_t *sent;

		for (uint16_t k = 0; k < VOLLEY_TTLS_MAX; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			list[k] = (uint16_t)((random >> 40) % (i % 8 ? e.full_bytes - 3u : 1000u));
		}
		entry->n_ttls = 0;
		xdp_world_run(w, frame, n, &plain);
		entry->n_ttls = (uint16_t)(1 + i % VOLLEY_TTLS_MAX);
		xdp_world_run(w, frame, n, &result);
		if (result.reason == VOLLEY_UP_NO_ROOM) {
			assert_int_equal(result.bytes, n);
			assert_memory_equal(result.frame, frame, n);
			continue;
		}
		n_sent++;
		assert_int_equal(result.reason, VOLLEY_HIT_FULL);
		assert_int_equal(result.bytes, plain.bytes);
		sent = result.frame;
		assert_memory_equal(sent, plain.frame, check_at);
		assert_memory_equal(sent + check_at + 2, plain.frame + check_at + 2,
				    PKT_DNS_HEADER + pkt_name_bytes(name) + 4);
		assert_memory_equal(sent + result.bytes - PKT_OPT_BYTES,
				    plain.frame + plain.bytes - PKT_OPT_BYTES, PKT_OPT_BYTES);
	}
	assert_true(n_sent > 10000 && n_sent < 20000);
}

/* RFC 6840 section 5.8: AD only if the query has AD or DO set. */
static void test_ad(void **state)
{
	static const struct {
		const char *name;
		uint16_t flags, edns_flags;
		bool has_ad;
	} rows[] = {
		{ "neither", 0, 0, false },
		{ "EDNS without DO", 0, 0x0001, false },
		{ "RD and CD", PKT_RD | PKT_CD, 0, false },
		{ "AD", PKT_AD, 0, true },
		{ "AD and RD", PKT_AD | PKT_RD, 0, true },
		{ "DO", 0, PKT_DO, true },
		{ "AD and DO", PKT_AD, PKT_DO, true },
		{ "all", PKT_AD | PKT_RD | PKT_CD, PKT_DO, true },
	};
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];

	pkt_name(name, "ad.example");
	for (uint16_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const uint16_t ra = 0x0080, entry_ad = i % 2 ? PKT_AD : 0;
		const uint16_t echoed = rows[i / 2].flags & (PKT_RD | PKT_CD);
		struct pkt_ask ask = { .name = name,
				       .qtype = (uint16_t)(i + 1),
				       .flags = rows[i / 2].flags,
				       .edns = rows[i / 2].edns_flags,
				       .edns_flags = rows[i / 2].edns_flags };
		struct entry e = make_records(name);

		e.qtype = ask.qtype;
		e.flags = ra | entry_ad;
		e.key_flags = (uint8_t)((ask.edns_flags & PKT_DO ? VOLLEY_KEY_DO : 0) |
					(ask.flags & PKT_CD ? VOLLEY_KEY_CD : 0));
		xdp_world_put(w, &e);
		xdp_expect_answer(w, rows[i / 2].name, frame, build(&pkt_ipv4, &ask),
				  VOLLEY_HIT_FULL, &result, &answer);
		if (answer.flags != (PKT_QR | ra | echoed | (rows[i / 2].has_ad ? entry_ad : 0)))
			fail_msg("%s: flags %04x", rows[i / 2].name, answer.flags);
	}
}

/* No entry is older than the machine, so a virtual machine that has just started waits. */
static void wait_for_age(void)
{
	const struct timespec second = { .tv_sec = 1 };

	while (xdp_coarse_s() < TTL_S + 2)
		nanosleep(&second, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_life),  cmocka_unit_test(test_clock),
		cmocka_unit_test(test_offsets),     cmocka_unit_test(test_case),
		cmocka_unit_test(test_forms),       cmocka_unit_test(test_long),
		cmocka_unit_test(test_number),      cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_any_offsets), cmocka_unit_test(test_ad),
	};

	wait_for_age();
	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
