/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine as a whole: odd queries, cookies, settings, counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/engine_state.h"
#include "tests/unit/engine/world.h"

static const char zone_com[] = "$TTL 3600\n"
			       "@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n"
			       "@ NS ns1\n"
			       "ns1 A 192.0.2.1\n"
			       "www A 192.0.2.80\n";

#define QR   DNS_FLAG_QR
#define AA   DNS_FLAG_AA
#define RD   DNS_FLAG_RD
#define CD   DNS_FLAG_CD
#define T(t) DNS_TYPE_##t
#define R(r) DNS_RCODE_##r

static struct world world;

static const struct engine_config config = {
	.max_udp_bytes = ENGINE_MAX_UDP_BYTES,
};

static struct engine_identity identity = { .version = "Volley 0" };

static struct cookie_secrets cookies = { .n = 1, .keys = { "0123456789abcde" } };

static int setup(void **state)
{
	world_begin(&world, state);
	world_add_zone(&world, "example.com", zone_com);
	world_load_zone(&world, "example.edu", NULL);
	world_open(&world, &config);
	world.zones.cookies = &cookies;
	world.zones.identity = &identity;
	return 0;
}

/* ---- Questions that need no data ------------------------------------------------------------- */

static const struct {
	const char *what;
	struct ask ask;
	uint16_t flags;
	size_t len; /* 0: not looked at */
} kinds[] = {
	{ "RD and CD come back",
	  { .name = "www.example.com", .type = T(A), .flags = RD | CD },
	  QR | AA | RD | CD,
	  0 },
	{ "AD, Z, AA, TC and RA do not",
	  { .name = "www.example.com", .type = T(A), .flags = 0x06e0 },
	  QR | AA,
	  0 },
	{ "class CH",
	  { .name = "www.example.com", .type = T(A), .class = DNS_CLASS_CH },
	  QR | R(REFUSED),
	  12 + 17 + 4 },
	{ "class ANY",
	  { .name = "www.example.com", .type = T(A), .class = DNS_CLASS_ANY },
	  QR | R(REFUSED),
	  12 + 17 + 4 },
	{ "class NONE",
	  { .name = "www.example.com", .type = T(A), .class = DNS_CLASS_NONE },
	  QR | R(REFUSED),
	  12 + 17 + 4 },
	{ "not our zone, with OPT",
	  { .name = "www.example.net", .type = T(A), .udp_size = 1232 },
	  QR | R(REFUSED),
	  12 + 17 + 4 + 11 + 6 }, /* an extended error */
	{ "the root", { .name = ".", .type = T(NS) }, QR | R(REFUSED), 12 + 1 + 4 },
	{ "zone that is not loaded",
	  { .name = "www.example.edu", .type = T(A) },
	  QR | R(SERVFAIL),
	  12 + 17 + 4 },
	{ "AXFR over UDP", { .name = "example.com", .type = T(AXFR) }, QR | R(NOTIMP), 0 },
	{ "AXFR over TCP",
	  { .name = "example.com", .type = T(AXFR), .stream = true },
	  QR | R(REFUSED),
	  0 },
	{ "AXFR of a name in a zone",
	  { .name = "www.example.com", .type = T(AXFR), .stream = true },
	  QR | R(NOTAUTH),
	  0 },
	{ "IXFR of a zone that is not ours",
	  { .name = "example.net", .type = T(IXFR) },
	  QR | R(NOTAUTH),
	  0 },
	{ "IXFR", { .name = "example.com", .type = T(IXFR) }, QR | R(REFUSED), 0 },
	{ "type 0", { .name = "www.example.com", .type = 0 }, QR | AA, 0 },
	{ "type OPT as a question", { .name = "www.example.com", .type = T(OPT) }, QR | AA, 0 },
	{ "opcode STATUS",
	  { .name = "www.example.com", .type = T(A), .flags = 0x1000 | RD },
	  QR | 0x1000 | RD | R(NOTIMP),
	  12 + 17 + 4 },
	{ "opcode UPDATE",
	  { .name = "example.com", .type = T(SOA), .flags = 0x2800 },
	  QR | 0x2800 | R(NOTIMP),
	  12 + 13 + 4 },
	{ "no question", { .name = NULL }, QR | R(FORMERR), 12 },
	{ "no question, with OPT", { .name = NULL, .udp_size = 1232 }, QR | R(FORMERR), 12 + 11 },
};

static void test_kinds(void **state)
{
	struct reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		send_ask(world.engine, &kinds[i].ask, &r);
		if (reply_flags(&r) != kinds[i].flags || (kinds[i].len && r.len != kinds[i].len))
			fail_msg("%s: flags %04x, %zu octets", kinds[i].what, reply_flags(&r),
				 r.len);
		assert_int_equal(wire_load_be16(r.bytes), 0x1234);
	}
}

static const struct {
	const char *what;
	const char *bytes;
	size_t len;
	const char *reply;
	size_t reply_len;
} odd[] = {
	{ "nothing", "", 0, "", 0 },
	{ "11 octets", "\1\2\0\0\0\1\0\0\0\0\0", 11, "", 0 },
	{ "a response", "\1\2\200\0\0\1\0\0\0\0\0\0\0\0\1\0\1", 17, "", 0 },
	{ "question cut off", "\1\2\0\0\0\1\0\0\0\0\0\0\3www", 16, "\1\2\200\1\0\0\0\0\0\0\0\0",
	  12 },
	{ "octets behind the question", "\1\2\1\0\0\1\0\0\0\0\0\0\0\0\1\0\1\377", 18,
	  "\1\2\201\5\0\1\0\0\0\0\0\0\0\0\1\0\1", 17 },
	{ "EDNS version 1: BADVERS with our version",
	  "\1\2\0\0\0\1\0\0\0\0\0\1\0\0\1\0\1\0\0\51\4\320\0\1\200\0\0\0", 28,
	  "\1\2\200\0\0\1\0\0\0\0\0\1\0\0\1\0\1\0\0\51\4\320\1\0\200\0\0\0", 28 },
	{ "COOKIE of 7 octets: FORMERR",
	  "\1\2\0\0\0\1\0\0\0\0\0\1\0\0\1\0\1\0\0\51\4\320\0\0\0\0\0\13\0\12\0\7aaaaaaa", 39,
	  "\1\2\200\1\0\1\0\0\0\0\0\1\0\0\1\0\1\0\0\51\4\320\0\0\0\0\0\0", 28 },
	{ "unknown option",
	  "\1\2\0\0\0\1\0\0\0\0\0\1\0\0\1\0\1\0\0\51\4\320\0\0\0\0\0\5\377\1\0\1a", 33,
	  "\1\2\200\5\0\1\0\0\0\0\0\1\0\0\1\0\1\0\0\51\4\320\0\0\0\0\0\6\0\17\0\2\0\24", 34 },
	{ "TSIG: its key is not ours",
	  "\1\2\0\0\0\1\0\0\0\0\0\1\0\0\1\0\1"
	  "\1k\0\0\372\0\377\0\0\0\0\0\27\5hmac1\0\0\0\1\2\3\4\1\54\0\0\1\2\0\0\0\0",
	  53,
	  "\1\2\200\11\0\1\0\0\0\0\0\1\0\0\1\0\1"
	  "\1k\0\0\372\0\377\0\0\0\0\0\27\5hmac1\0\0\0\1\2\3\4\1\54\0\0\1\2\0\21\0\0",
	  53 },
	{ "TSIG: the key's name is compressed, a MAC goes",
	  "\1\2\0\0\0\1\0\0\0\0\0\1\1k\0\0\1\0\1"
	  "\300\14\0\372\0\377\0\0\0\0\0\30\5hmac1\0\0\0\1\2\3\4\1\54\0\1M\1\2\0\0\0\0",
	  55,
	  "\1\2\200\11\0\1\0\0\0\0\0\1\1k\0\0\1\0\1"
	  "\1k\0\0\372\0\377\0\0\0\0\0\27\5hmac1\0\0\0\1\2\3\4\1\54\0\0\1\2\0\21\0\0",
	  55 },
	{ "TSIG: no record of this type",
	  "\1\2\0\0\0\1\0\0\0\0\0\1\0\0\1\0\1"
	  "\1k\0\0\372\0\377\0\0\0\0\0\5\5hmac",
	  35, "\1\2\200\1\0\1\0\0\0\0\0\0\0\0\1\0\1", 17 },
};

static void test_odd_messages(void **state)
{
	struct reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		send_bytes(world.engine, (const uint8_t *)odd[i].bytes, odd[i].len, false, &r);
		if (r.len != odd[i].reply_len || memcmp(r.bytes, odd[i].reply, r.len) != 0)
			fail_msg("%s: %zu octets, flags %04x", odd[i].what, r.len, reply_flags(&r));
	}
}

static void test_version(void **state)
{
	static const char text[] = "\300\14\0\20\0\3\0\0\0\0\0\11\10Volley 0";
	struct ask ask = { .name = "VERSION.bind", .type = T(TXT), .class = DNS_CLASS_CH };
	struct engine_counters before, after;
	struct reply r;

	(void)state;
	engine_counters_read(world.engine, &before);
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR);
	assert_int_equal(r.len, 12 + 14 + 4 + sizeof(text) - 1);
	assert_memory_equal(r.bytes + 30, text, sizeof(text) - 1);
	ask.name = "version.server";
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR);
	ask.name = "authors.bind";
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR | R(REFUSED));
	ask.name = "id.server"; /* not configured here */
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR | R(REFUSED));
	engine_counters_read(world.engine, &after);
	assert_int_equal(after.chaos - before.chaos, 4);
}

/* Octets of the NSID option in the answer, which is the same answer from the cache each time; 0:
 * there is none. */
static size_t ask_nsid(const char *want)
{
	const struct ask ask = { .name = "www.example.com", .type = T(A), .udp_size = 1232 };
	uint8_t msg[512];
	struct reply r, bare;
	size_t len = ask_bytes(&ask, msg), n = strlen(want);

	send_bytes(world.engine, msg, len, false, &bare);
	memcpy(msg + len - 2, "\0\4\0\3\0", 6); /* the option, empty: asked */
	send_bytes(world.engine, msg, len + 4, false, &r);
	if (r.len > bare.len) {
		assert_memory_equal(r.bytes + r.len - n, want, n);
		assert_int_equal(r.bytes[r.len - n - 3], DNS_OPTION_NSID);
	}
	return r.len - bare.len;
}

/* Another one takes the place of what is published, between two answers of the same engine. */
static void test_identity_and_nsid(void **state)
{
	const uint64_t others = 1u << DNS_OPTION_COOKIE | 1u << DNS_OPTION_EXPIRE;
	static struct engine_identity one = { .name = "ns1", .nsid = "ns", .nsid_bytes = 2 };
	static struct engine_identity two = { .name = "b", .nsid = "other", .nsid_bytes = 5 };
	struct ask ask = { .name = "ID.server", .type = T(TXT), .class = DNS_CLASS_CH };
	struct reply r;

	(void)state;
	assert_int_equal(engine_option_mask(&one), others | 1u << DNS_OPTION_NSID);
	assert_int_equal(engine_option_mask(&identity), others);
	assert_int_equal(engine_option_mask(NULL), others);
	world.zones.identity = &one;
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR);
	assert_memory_equal(r.bytes + r.len - 4, "\3ns1", 4);
	assert_int_equal(ask_nsid("ns"), 6);

	world.zones.identity = &two;
	send_ask(world.engine, &ask, &r);
	assert_memory_equal(r.bytes + r.len - 2, "\1b", 2);
	assert_int_equal(ask_nsid("other"), 9);

	world.zones.identity = NULL;
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR | R(REFUSED));
	assert_int_equal(ask_nsid(""), 0);
	world.zones.identity = &identity;
}

/* ---- Cookies --------------------------------------------------------------------------------- */

#define OPT_COOKIE_BYTES (11 + 4 + COOKIE_BYTES)

static const uint8_t *reply_cookie(const struct reply *r)
{
	static const uint8_t head[] = { 0, DNS_OPTION_COOKIE, 0, COOKIE_BYTES };
	const uint8_t *option = r->bytes + r->len - COOKIE_BYTES - sizeof(head);

	assert_true(r->len > 12 + OPT_COOKIE_BYTES);
	assert_memory_equal(option, head, sizeof(head));
	return option + sizeof(head);
}

static void test_cookie_is_made_and_taken(void **state)
{
	uint8_t cookie[COOKIE_BYTES] = "client-8";
	struct ask ask = { .name = "www.example.com", .type = T(A), .udp_size = 1232 };
	struct engine_counters before, after;
	struct reply r;

	(void)state;
	engine_counters_read(world.engine, &before);
	ask.cookie = cookie;
	ask.cookie_bytes = COOKIE_CLIENT_BYTES;
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR | AA);
	assert_memory_equal(reply_cookie(&r), "client-8", 8);
	assert_false(world.engine->now.cookie_good);
	assert_int_equal(cookie_check(&cookies, cookie, reply_cookie(&r) + 8, 16, world_client, 4,
				      WORLD_WALL_S),
			 COOKIE_GOOD);

	memcpy(cookie, reply_cookie(&r), COOKIE_BYTES);
	ask.cookie_bytes = COOKIE_BYTES;
	send_ask(world.engine, &ask, &r);
	assert_memory_equal(reply_cookie(&r), cookie, COOKIE_BYTES);
	assert_true(world.engine->now.cookie_good);

	cookie[COOKIE_BYTES - 1] ^= 1;
	send_ask(world.engine, &ask, &r);
	assert_false(world.engine->now.cookie_good);
	assert_int_equal(reply_flags(&r), QR | AA);
	assert_int_equal(reply_count(&r, DNS_ANCOUNT_AT), 1);
	cookie[COOKIE_BYTES - 1] ^= 1;
	assert_memory_equal(reply_cookie(&r), cookie, COOKIE_BYTES);
	engine_counters_read(world.engine, &after);
	assert_int_equal(after.cookies_new, before.cookies_new + 1);
	assert_int_equal(after.cookies_good, before.cookies_good + 1);
	assert_int_equal(after.cookies_bad, before.cookies_bad + 1);
}

static void test_cookie_without_question(void **state)
{
	struct ask ask = {
		.udp_size = 1232,
		.cookie = (const uint8_t *)"client-8",
		.cookie_bytes = 8,
	};
	struct reply r;

	(void)state;
	send_ask(world.engine, &ask, &r);
	assert_int_equal(reply_flags(&r), QR);
	assert_int_equal(r.len, 12 + OPT_COOKIE_BYTES);
	assert_int_equal(reply_count(&r, DNS_QDCOUNT_AT), 0);
}

/* The same client over an IPv6 socket has the same cookie. */
static void test_cookie_of_mapped_address(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 200 };
	struct ask ask = { .name = "www.example.com", .type = T(A), .udp_size = 1232 };
	uint8_t msg[512];
	struct engine_request rq = {
		.msg = msg,
		.family = AF_INET6,
		.client = mapped,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
	};
	struct reply four, six;

	(void)state;
	ask.cookie = (const uint8_t *)"client-8";
	ask.cookie_bytes = 8;
	send_ask(world.engine, &ask, &four);
	rq.len = ask_bytes(&ask, msg);
	six.len = engine_answer(world.engine, &rq, six.bytes, sizeof(six.bytes));
	assert_true(same_reply(&four, &six));
}

static void test_cookies_switched_off(void **state)
{
	struct engine_data without = { .set = world.zones.set };
	struct engine_config off = ENGINE_CONFIG_INIT;
	struct ask ask = { .name = "www.example.com", .type = T(A), .udp_size = 1232 };
	struct reply plain, r;
	struct engine *e;

	(void)state;
	assert_int_equal(engine_new(&e, &off, NULL, &without), 0);
	send_ask(e, &ask, &plain);
	ask.cookie = (const uint8_t *)"client-8";
	ask.cookie_bytes = 8;
	send_ask(e, &ask, &r);
	assert_true(same_reply(&plain, &r));
	ask.name = NULL;
	send_ask(e, &ask, &r);
	assert_int_equal(reply_rcode(&r), R(FORMERR));
	engine_free(e);
}

/* ---- Reading ahead --------------------------------------------------------------------------- */

struct burst {
	uint8_t bytes[ENGINE_AHEAD][512];
	struct engine_message msgs[ENGINE_AHEAD];
	bool stream[ENGINE_AHEAD];
};

/* Kinds from `first` on, and round. */
static void fill_burst(struct burst *b, size_t first)
{
	for (size_t i = 0; i < ENGINE_AHEAD; i++) {
		const struct ask *ask = &kinds[(first + i) % (sizeof(kinds) / sizeof(*kinds))].ask;

		b->msgs[i] = (struct engine_message){ b->bytes[i], ask_bytes(ask, b->bytes[i]) };
		b->stream[i] = ask->stream;
	}
}

/* The last one first, each in place. */
static void assert_burst_is_answered(struct burst *b, unsigned int n)
{
	struct engine_request rq = {
		.family = AF_INET,
		.client = world_client,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
	};
	struct reply alone;
	size_t len;

	engine_read_ahead(world.engine, b->msgs, n);
	for (unsigned int i = n; i--;) {
		rq.msg = b->msgs[i].bytes;
		rq.len = b->msgs[i].len;
		rq.stream = b->stream[i];
		rq.ahead = 1 + i;
		send_bytes(world.uncached, rq.msg, rq.len, rq.stream, &alone);
		len = engine_answer(world.engine, &rq, b->bytes[i], sizeof(b->bytes[i]));
		assert_int_equal(len, alone.len);
		assert_memory_equal(b->bytes[i], alone.bytes, len);
	}
}

static void test_reading_ahead_changes_no_answer(void **state)
{
	struct engine_counters before, after;
	struct burst b;

	(void)state;
	for (size_t first = 0; first < sizeof(kinds) / sizeof(kinds[0]); first++) {
		fill_burst(&b, first);
		assert_burst_is_answered(&b, 1 + (unsigned int)first % ENGINE_AHEAD);
	}
	fill_burst(&b, 0);
	engine_counters_read(world.engine, &before);
	assert_burst_is_answered(&b, 2);
	engine_counters_read(world.engine, &after);
	assert_int_equal(after.cache_hit - before.cache_hit, 2);
}

/* ---- Padding --------------------------------------------------------------------------------- */

/* Over TLS those are padded whose query has the option (RFC 7830), read ahead or not, though the
 * reply is written over it. */
static void test_who_is_padded(void **state)
{
	static const uint8_t header[12] = { 0x12, 0x34, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 1 };
	static const uint8_t question[] = "\3www\7example\3com\0\0\1\0";
	static const uint8_t opt[] = { 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 6, 0, 12, 0, 2, 0, 0 };
	struct engine_request rq = {
		.family = AF_INET,
		.client = world_client,
		.stream = true,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
	};
	uint8_t query[512];

	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		size_t n = sizeof(header) + sizeof(question) + sizeof(opt);
		bool is_whole = i & 1, has_option = i & 2;
		struct engine_message ahead = { query, 0 };

		memcpy(query, header, sizeof(header));
		memcpy(query + sizeof(header), question, sizeof(question));
		query[sizeof(header) + sizeof(question) - 1] = 1;
		memcpy(query + sizeof(header) + sizeof(question), opt, sizeof(opt));
		query[n - 5] = has_option ? 12 : 65;
		rq.msg = query;
		rq.len = ahead.len = is_whole ? n : 5;
		rq.is_tls = i & 4;
		rq.ahead = i & 8 ? 1 : 0;
		if (rq.ahead)
			engine_read_ahead(world.engine, &ahead, 1);
		(void)engine_answer(world.engine, &rq, query, sizeof(query));
		assert_int_equal(engine_pads(world.engine, &rq),
				 is_whole && has_option && rq.is_tls);
	}
}

/* ---- Settings and counters ------------------------------------------------------------------- */

static void test_no_zones(void **state)
{
	struct engine_data none = { NULL };
	struct ask ask = { .name = "www.example.com", .type = T(A) };
	struct engine *e;
	struct reply r;

	(void)state;
	assert_int_equal(engine_new(&e, &config, NULL, &none), 0);
	send_ask(e, &ask, &r);
	assert_int_equal(reply_rcode(&r), R(REFUSED));
	engine_free(e);
}

static void test_settings(void **state)
{
	struct engine_config other = config;
	struct engine *e;

	(void)state;
	assert_true(engine_config_digest(&other) == engine_config_digest(&config));
	other.minimal_responses = true;
	assert_true(engine_config_digest(&other) != engine_config_digest(&config));
	other = config;
	other.any = ENGINE_ANY_FULL;
	assert_true(engine_config_digest(&other) != engine_config_digest(&config));
	other = config;
	other.max_udp_bytes = 1400;
	assert_true(engine_config_digest(&other) != engine_config_digest(&config));
	other.max_udp_bytes = 511;
	assert_int_equal(engine_new(&e, &other, NULL, &world.zones), -EINVAL);
	other.max_udp_bytes = VOLLEY_UDP_MAX + 1;
	assert_int_equal(engine_new(&e, &other, NULL, &world.zones), -EINVAL);
}

/* After all the tests above: each message was counted once. */
static void test_counters_balance(void **state)
{
	struct engine_counters c;

	(void)state;
	engine_counters_read(world.engine, &c);
	assert_true(c.queries > 0 && c.noerror > 0 && c.formerr > 0 && c.servfail > 0);
	assert_true(c.notimp > 0 && c.refused > 0 && c.badvers > 0);
	assert_int_equal(c.queries, c.ignored + c.no_room + c.noerror + c.formerr + c.servfail +
					    c.nxdomain + c.notimp + c.refused + c.badvers +
					    c.other_rcode);
	assert_int_equal(c.not_published, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_odd_messages),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_identity_and_nsid),
		cmocka_unit_test(test_cookie_is_made_and_taken),
		cmocka_unit_test(test_cookie_without_question),
		cmocka_unit_test(test_cookie_of_mapped_address),
		cmocka_unit_test(test_cookies_switched_off),
		cmocka_unit_test(test_reading_ahead_changes_no_answer),
		cmocka_unit_test(test_who_is_padded),
		cmocka_unit_test(test_no_zones),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_counters_balance),
	};

	return cmocka_run_group_tests(tests, setup, world_end);
}
