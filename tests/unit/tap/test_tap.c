/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of answers: rings that fill up, shortened addresses, lines of the log, dnstap messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "dns/proto.h"
#include "dnstap.pb-c.h"
#include "tap/dnstap.h"
#include "tap/event.h"
#include "tap/querylog.h"
#include "tap/ring.h"
#include "tap/tap.h"

/* --- Rings ------------------------------------------------------------------------------------ */

#define CAP 4096u

/* Record i: i % 300 octets that depend on i. */
static bool put(struct tap_ring *ring, uint32_t i)
{
	uint8_t *room = tap_ring_reserve(ring, i % 300 + 50);

	if (!room)
		return false;
	memset(room, (int)(i % 251), i % 300);
	tap_ring_commit(ring, i % 300);
	return true;
}

static void check(struct tap_ring *ring, uint64_t *at, uint32_t i)
{
	size_t bytes;
	const uint8_t *record = tap_ring_next(ring, at, &bytes);

	assert_non_null(record);
	assert_int_equal(bytes, i % 300);
	for (size_t k = 0; k < bytes; k++)
		assert_int_equal(record[k], i % 251);
}

static void test_ring_in_order(void **state)
{
	static struct tap_ring ring; /* aligned, as AddressSanitizer's stack is not */
	uint32_t in = 0, out = 0;
	uint64_t at;

	(void)state;
	assert_int_equal(tap_ring_open(&ring, CAP), 0);
	while (out < 20000) {
		while (put(&ring, in))
			in++;
		assert_true(in > out);
		at = tap_ring_begin(&ring);
		for (uint32_t n = (in - out + 1) / 2; n; n--)
			check(&ring, &at, out++);
		tap_ring_release(&ring, at);
	}
	tap_ring_close(&ring);
}

static void test_ring_full(void **state)
{
	static struct tap_ring ring;
	uint64_t at;
	size_t bytes;

	(void)state;
	assert_null(tap_ring_reserve(&ring, 8)); /* no memory yet */
	assert_int_equal(tap_ring_open(&ring, CAP), 0);
	assert_null(tap_ring_reserve(&ring, CAP));
	assert_non_null(tap_ring_reserve(&ring, CAP - 8));
	assert_int_equal(tap_ring_lost(&ring), 2);
	at = tap_ring_begin(&ring);
	assert_null(tap_ring_next(&ring, &at, &bytes)); /* it was not committed */
	tap_ring_commit(&ring, CAP - 8);
	assert_null(tap_ring_reserve(&ring, 1));
	assert_int_equal(tap_ring_lost(&ring), 3);
	assert_non_null(tap_ring_next(&ring, &at, &bytes));
	assert_null(tap_ring_reserve(&ring, 1)); /* read, but not released */
	tap_ring_release(&ring, at);
	assert_non_null(tap_ring_reserve(&ring, 1));
	tap_ring_close(&ring);
}

/* --- Addresses -------------------------------------------------------------------------------- */

static void test_shorten(void **state)
{
	static const struct {
		const char *name, *from, *to;
		int family;
		struct tap_prefix prefix;
	} rows[] = {
		{ "usual, IPv4", "192.0.2.201", "192.0.2.0", AF_INET, { 24, 48 } },
		{ "usual, IPv6", "2001:db8:1:2:3:4:5:6", "2001:db8:1::", AF_INET6, { 24, 48 } },
		{ "whole, IPv4", "192.0.2.201", "192.0.2.201", AF_INET, { 32, 128 } },
		{ "whole, IPv6", "2001:db8::1", "2001:db8::1", AF_INET6, { 32, 128 } },
		{ "nothing", "192.0.2.201", "0.0.0.0", AF_INET, { 0, 0 } },
		{ "within an octet", "255.255.255.255", "255.255.224.0", AF_INET, { 19, 0 } },
		{ "one bit less", "ffff::ffff", "ffff::fffe", AF_INET6, { 0, 127 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t address[16] = { 0 }, want[16] = { 0 };

		inet_pton(rows[i].family, rows[i].from, address);
		inet_pton(rows[i].family, rows[i].to, want);
		tap_shorten(address, (uint8_t)rows[i].family, &rows[i].prefix);
		if (memcmp(address, want, 16) != 0)
			fail_msg("%s", rows[i].name);
	}
}

/* A query for a. A with a client subnet of 32 bits, followed by one of 28 bits. */
static void test_shorten_subnet(void **state)
{
	uint8_t msg[] = { 0,  1, 1,   0, 0, 1, 0, 0, 0,  0, 0, 1, 1, 'a', 0, 0,  1, 0,   1, 0, 0,
			  41, 4, 208, 0, 0, 0, 0, 0, 12, 0, 8, 0, 8, 0,   1, 32, 0, 192, 0, 2, 255 };
	const struct tap_prefix usual = { 24, 48 }, finer = { 28, 48 };
	uint8_t *subnet = msg + sizeof(msg) - 8;

	(void)state;
	tap_shorten_subnet(msg, sizeof(msg), &finer);
	assert_int_equal(subnet[2], 28);
	assert_int_equal(subnet[7], 0xf0);
	tap_shorten_subnet(msg, sizeof(msg), &usual);
	assert_int_equal(subnet[2], 24);
	assert_int_equal(subnet[7], 0);
	for (size_t n = 0; n < sizeof(msg); n++) {
		uint8_t *copy =
			malloc(n ? n : 1); /* so that a sanitizer sees reads beyond the message */

		memcpy(copy, msg, n);
		tap_shorten_subnet(copy, n, &usual);
		free(copy);
	}
}

/* --- Events ----------------------------------------------------------------------------------- */

/* NXDOMAIN to "a. A" with AA, RD, DO and the extended error 15. */
static const uint8_t reply[] = { 0x12, 0x34, 0x85, 0x03, 0, 1, 0, 0,  0, 0,  0, 1,
				 1,    'a',  0,    0,    1, 0, 1, 0,  0, 41, 4, 208,
				 0,    0,    0x80, 0,    0, 6, 0, 15, 0, 2,  0, 15 };

static struct tap_event *make_event(enum tap_way way)
{
	struct tap_event *e = calloc(1, sizeof(*e) + 64 + sizeof(reply));

	assert_non_null(e);
	e->way = (uint8_t)way;
	e->family = AF_INET;
	e->answered_ns = 1700000000123456789;
	e->asked_ns = e->answered_ns - 42000;
	e->peer_port = htons(4711);
	memcpy(e->peer, "\xc0\0\2\7", 4);
	e->query_bytes = 30;
	e->n_query = (uint32_t)tap_event_rebuild(e->octets, 64, reply, sizeof(reply));
	e->n_reply = sizeof(reply);
	memcpy(e->octets + e->n_query, reply, sizeof(reply));
	return e;
}

static void test_rebuild(void **state)
{
	static const uint8_t want[] = { 0x12, 0x34, 1, 0, 0, 1, 0,  0, 0,   0, 0, 1,    1, 'a', 0,
					0,    1,    0, 1, 0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0,   0 };
	uint8_t out[64];

	(void)state;
	assert_int_equal(tap_event_rebuild(out, sizeof(out), reply, sizeof(reply)), sizeof(want));
	assert_memory_equal(out, want, sizeof(want));
	assert_int_equal(tap_event_rebuild(out, sizeof(want) - 1, reply, sizeof(reply)), 0);
	assert_int_equal(tap_event_rebuild(out, sizeof(out), reply, 14), 0);
}

static void test_lines(void **state)
{
	struct querylog_config config = { .prefix = { 24, 48 }, .is_json = true };
	struct tap_event *e = make_event(TAP_WORKER);
	char line[QUERYLOG_LINE_MAX];
	struct tap_view view;
	size_t n;

	(void)state;
	assert_true(tap_view_read(&view, tap_event_reply(e), e->n_reply));
	n = querylog_line(&config, e, &view, line);
	line[n] = '\0';
	assert_string_equal(
		line,
		"{\"time\":\"2023-11-14T22:13:20.123456Z\",\"client\":\"192.0.2.0/24\","
		"\"port\":4711,\"transport\":\"udp\",\"way\":\"worker\",\"name\":\"a.\","
		"\"type\":\"A\",\"rcode\":\"NXDOMAIN\",\"flags\":\"aa rd do\",\"query_bytes\":30,"
		"\"reply_bytes\":36,\"latency_us\":42,\"ede\":15}");
	config.is_json = false;
	config.prefix = (struct tap_prefix){ 32, 128 };
	n = querylog_line(&config, e, &view, line);
	line[n] = '\0';
	assert_string_equal(line,
			    "2023-11-14T22:13:20.123456Z 192.0.2.7 4711 udp worker a. A NXDOMAIN "
			    "[aa rd do] 30 36 42us ede=15 -");
	free(e);
}

static bool judge(void *ctx, const struct tap_event *e, struct querylog_rpz *out)
{
	const struct querylog_rpz *is = ctx;

	assert_int_equal(e->n_reply, sizeof(reply));
	*out = *is;
	return is->action;
}

/* The list is a name, and is written as a name. */
static void test_rpz(void **state)
{
	struct querylog_rpz is = { .list = "\3r\"z", .action = "nxdomain" };
	struct querylog_config config = { .judge = judge, .judge_ctx = &is };
	struct tap_event *e = make_event(TAP_DRIVER);
	char line[QUERYLOG_LINE_MAX];
	struct tap_view view;

	(void)state;
	assert_true(tap_view_read(&view, tap_event_reply(e), e->n_reply));
	line[querylog_line(&config, e, &view, line)] = '\0';
	assert_non_null(strstr(line, " - ede=15 policy=r\\\"z./nxdomain"));
	config.is_json = true;
	line[querylog_line(&config, e, &view, line)] = '\0';
	assert_non_null(
		strstr(line, "\"ede\":15,\"policy\":\"r\\\\\\\"z.\",\"action\":\"nxdomain\"}"));
	is.is_local_data = true;
	line[querylog_line(&config, e, &view, line)] = '\0';
	assert_non_null(strstr(line, ",\"policy\":\"local-data\","));
	is.action = NULL;
	line[querylog_line(&config, e, &view, line)] = '\0';
	assert_null(strstr(line, "policy"));
	free(e);
}

static void test_filters(void **state)
{
	uint8_t zones[1][NAME_FOLDED_BYTES] = { "\1b" };
	struct querylog_net net = { .family = AF_INET, .bits = 29, .address = { 192, 0, 2, 0 } };
	struct querylog_config config = { 0 };
	struct tap_event *e = make_event(TAP_WORKER);
	struct tap_view view;

	(void)state;
	assert_true(tap_view_read(&view, tap_event_reply(e), e->n_reply));
	assert_true(querylog_wants(&config, e, &view));
	config.rcodes = 1 << 3;
	assert_true(querylog_wants(&config, e, &view));
	config.rcodes = 1 << 0 | 1 << 2;
	assert_false(querylog_wants(&config, e, &view));
	config = (struct querylog_config){ .clients = &net, .n_clients = 1 };
	assert_true(querylog_wants(&config, e, &view));
	net.bits = 30;
	assert_false(querylog_wants(&config, e, &view));
	config = (struct querylog_config){ .zones = zones, .n_zones = 1 };
	assert_false(querylog_wants(&config, e, &view));
	zones[0][1] = 'A' | 0x20;
	assert_true(querylog_wants(&config, e, &view));
	free(e);
}

static void test_encode(void **state)
{
	const struct dnstap_config config = { .identity = "ns1", .messages = DNSTAP_ALL };
	struct tap_event *e = make_event(TAP_WORKER);
	uint8_t out[512];
	size_t n = dnstap_encode(&config, e, DNSTAP_AUTH_RESPONSE, out, sizeof(out));
	Dnstap__Dnstap *d = dnstap__dnstap__unpack(NULL, n, out);

	(void)state;
	assert_non_null(d);
	assert_int_equal(d->identity.len, 3);
	assert_false(d->has_version);
	assert_int_equal(d->message->type, DNSTAP__MESSAGE__TYPE__AUTH_RESPONSE);
	assert_int_equal(d->message->query_port, 4711);
	assert_memory_equal(d->message->query_address.data, "\xc0\0\2\7", 4);
	assert_false(d->message->has_response_address); /* all zeros: not known */
	assert_int_equal(d->message->response_time_sec, 1700000000);
	assert_int_equal(d->message->response_time_nsec, 123456789);
	assert_int_equal(d->message->response_message.len, sizeof(reply));
	assert_memory_equal(d->message->response_message.data, reply, sizeof(reply));
	assert_false(d->message->has_query_message);
	dnstap__dnstap__free_unpacked(d, NULL);
	assert_int_equal(dnstap_encode(&config, e, DNSTAP_AUTH_RESPONSE, out, n - 1), 0);
	free(e);
}

static void test_kinds(void **state)
{
	struct tap_event *e = make_event(TAP_WORKER);
	uint8_t *flags = e->octets + e->n_query + 2;

	(void)state;
	assert_int_equal(dnstap_kinds(e), 1 << DNSTAP_AUTH_QUERY | 1 << DNSTAP_AUTH_RESPONSE);
	flags[1] |= 0x80; /* RA and AA: from our zones */
	assert_int_equal(dnstap_kinds(e), 1 << DNSTAP_AUTH_QUERY | 1 << DNSTAP_AUTH_RESPONSE);
	flags[0] &= (uint8_t)~4;
	assert_int_equal(dnstap_kinds(e), 1 << DNSTAP_CLIENT_QUERY | 1 << DNSTAP_CLIENT_RESPONSE);
	flags[0] |= 5 << 3;
	assert_int_equal(dnstap_kinds(e), 1 << DNSTAP_UPDATE_QUERY | 1 << DNSTAP_UPDATE_RESPONSE);
	e->way = TAP_FORWARDER;
	e->n_reply = 0; /* a query to an upstream is an event before its reply */
	assert_int_equal(dnstap_kinds(e), 1 << DNSTAP_FORWARDER_QUERY);
	free(e);
}

/* One in `every`: about 100,000 / every of 100,000; at 1, all of them. */
static void test_draw(void **state)
{
	struct tap_switch is = { .every = 1 };
	static struct tap_producer p = { .seed = 1, .left = 1000 };
	unsigned int n = 0;

	(void)state;
	p.is = &is;
	assert_false(tap_draws(NULL));
	for (int i = 0; i < 1000; i++)
		assert_true(tap_draws(&p) || p.left == 0);
	is.every = 100;
	for (int i = 0; i < 100000; i++)
		n += tap_draws(&p);
	assert_in_range(n, 900, 1100);
	is.every = 0;
	assert_false(tap_draws(&p));
}

/* --- Observers -------------------------------------------------------------------------------- */

static void count(void *ctx, const struct tap_event *e)
{
	unsigned int *n = ctx;

	assert_int_equal(e->n_reply, DNS_HEADER_BYTES);
	*n += 1;
}

static void tell(struct tap_producer *p, unsigned int n)
{
	static const uint8_t empty[DNS_HEADER_BYTES];
	struct tap_event *e;

	while (n--) {
		if (!tap_draws(p))
			continue;
		e = tap_begin(p, empty, sizeof(empty), sizeof(empty));
		assert_non_null(e);
		tap_commit(p, e, empty, sizeof(empty));
	}
}

/* Two observers see the same events at different rates. The source draws at the finer rate, and
 * draws nothing when both have gone. */
static void test_observers(void **state)
{
	unsigned int n_top = 0, n_all = 0;
	struct tap_producer *p;
	struct tap *tap;

	(void)state;
	assert_int_equal(tap_new(&tap), 0);
	p = tap_producer_new(tap);
	assert_non_null(p);
	assert_int_equal(tap_observe(tap, TAP_TOP, 10, count, &n_top), 0);
	assert_int_equal(tap_every(tap), 10);
	assert_false(p->is->wants_queries);
	assert_int_equal(tap_observe(tap, TAP_CAPTURE, 1, count, &n_all), 0);
	assert_int_equal(tap_every(tap), 1);
	assert_true(p->is->wants_queries);
	tell(p, 10000);
	assert_int_equal(tap_observe(tap, TAP_CAPTURE, 0, NULL, NULL), 0);
	assert_int_equal(n_all, 10000);
	assert_in_range(n_top, 800, 1200);
	assert_int_equal(tap_every(tap), 10);
	assert_int_equal(tap_observe(tap, TAP_TOP, 0, NULL, NULL), 0);
	assert_int_equal(tap_every(tap), 0);
	tell(p, 1000);
	assert_int_equal(n_all, 10000);
	tap_producer_free(tap, p);
	tap_free(tap);
}

struct pairs {
	unsigned int n;
	uint32_t open; /* xor of the lots of events whose other half is still to come */
};

static void pair_up(void *ctx, const struct tap_event *e)
{
	struct pairs *pairs = ctx;

	pairs->n++;
	pairs->open ^= e->lot;
}

/* A query to an upstream and its reply are two events. An observer of one in four gets both or
 * none. */
static void test_pairs(void **state)
{
	static const uint8_t empty[DNS_HEADER_BYTES];
	struct pairs some = { 0 }, all = { 0 };
	struct tap_producer *p;
	struct tap *tap;

	(void)state;
	assert_int_equal(tap_new(&tap), 0);
	p = tap_producer_new(tap);
	assert_non_null(p);
	assert_int_equal(tap_observe(tap, TAP_TOP, 4, pair_up, &some), 0);
	assert_int_equal(tap_observe(tap, TAP_CAPTURE, 1, pair_up, &all), 0);
	for (int i = 0; i < 2000; i++) {
		const uint32_t lot = tap_draw_lot(p);

		for (int half = 0; half < 2; half++) {
			struct tap_event *e = tap_begin(p, empty, sizeof(empty), 0);

			assert_non_null(e);
			e->way = TAP_FORWARDER;
			e->lot = lot;
			tap_commit(p, e, NULL, 0);
		}
	}
	assert_int_equal(tap_observe(tap, TAP_CAPTURE, 0, NULL, NULL), 0);
	assert_int_equal(all.n, 4000);
	assert_in_range(some.n, 800, 1200);
	assert_int_equal(some.n % 2, 0);
	assert_int_equal(some.open, 0);
	assert_int_equal(tap_draw_forwarder(p), 0); /* no reader wants these */
	assert_int_equal(tap_observe(tap, TAP_TOP, 0, NULL, NULL), 0);
	tap_producer_free(tap, p);
	tap_free(tap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_in_order), cmocka_unit_test(test_ring_full),
		cmocka_unit_test(test_shorten),       cmocka_unit_test(test_shorten_subnet),
		cmocka_unit_test(test_rebuild),       cmocka_unit_test(test_lines),
		cmocka_unit_test(test_rpz),           cmocka_unit_test(test_filters),
		cmocka_unit_test(test_encode),        cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_draw),          cmocka_unit_test(test_observers),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests_name("tap", tests, NULL, NULL);
}
