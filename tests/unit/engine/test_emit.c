/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of an answer a client gets: every size at which the choice could change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/reply_writer.h"
#include "tests/unit/engine/world.h"

#define MAX_UDP   ENGINE_MAX_UDP_BYTES
#define OPT_BYTES 11
#define TXT_FROM  400 /* octets of the TXT RRsets t400 to t480 */
#define TXT_TO    480

static struct world world;
static struct engine *engine, *minimal;

/* The zone of the 2008 comparison, and answers of many sizes. */
static char *zone_text(void)
{
	static char text[128 * 1024];
	FILE *f = fmemopen(text, sizeof(text), "w");

	fprintf(f, "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n");
	for (int i = 0; i < 11; i++)
		fprintf(f, "www A 192.0.2.%d\n", 10 + i);
	for (int i = 0; i < 10; i++)
		fprintf(f, "www AAAA 2001:db8::%x\n", 10 + i);
	for (int i = 0; i < 40; i++)
		fprintf(f, "large A 192.0.2.%d\n", i);
	for (int i = 0; i < 72; i++)
		fprintf(f, "edge A 192.0.2.%d\n", i);
	for (int i = 0; i < 30; i++)
		fprintf(f, "mail MX %d m%d\nm%d A 192.0.2.%d\n", i, i, i, i);
	for (int i = 0; i < 8; i++)
		fprintf(f,
			"del NS server-with-a-long-name-%d.del\n"
			"server-with-a-long-name-%d.del A 192.0.2.%d\n"
			"server-with-a-long-name-%d.del AAAA 2001:db8::%d\n",
			i, i, i, i, i);
	for (int i = TXT_FROM; i <= TXT_TO; i++)
		fprintf(f, "t%d TXT \"%0*d\" \"%0*d\"\n", i, 230, 0, i - 230 - 2, 0);
	for (int i = 0; i < 140; i++)
		fprintf(f, "huge TXT \"%0250d\"\nhuge SPF \"%0250d\"\n", i, i);
	fclose(f);
	return text;
}

static int setup(void **state)
{
	static struct cookie_secrets cookies = { .n = 1 };
	struct engine_config config = ENGINE_CONFIG_INIT;

	world_begin(&world, state);
	world_add_zone(&world, "example2.jp", zone_text());
	world_publish(&world);
	config.any = ENGINE_ANY_FULL;
	world.zones.cookies = &cookies;
	assert_int_equal(engine_new(&engine, &config, NULL, &world.zones), 0);
	config.minimal_responses = true;
	assert_int_equal(engine_new(&minimal, &config, NULL, &world.zones), 0);
	return 0;
}

static int teardown(void **state)
{
	engine_free(engine);
	engine_free(minimal);
	return world_end(state);
}

static bool is_truncated(const struct reply *r)
{
	return (reply_flags(r) & DNS_FLAG_TC) != 0;
}

/* TC=1 comes with the question and nothing else. */
static void assert_whole_or_empty(const struct reply *r, const struct ask *ask)
{
	size_t question = 12 + strlen(ask->name) + 2 + 4;

	if (!is_truncated(r))
		return;
	assert_int_equal(reply_count(r, DNS_ANCOUNT_AT), 0);
	assert_int_equal(reply_count(r, DNS_NSCOUNT_AT), 0);
	assert_int_equal(reply_count(r, DNS_ARCOUNT_AT), ask->udp_size != NO_EDNS);
	assert_int_equal(r->len, question + (ask->udp_size == NO_EDNS ? 0 : OPT_BYTES) +
					 (ask->cookie ? 28u : 0));
}

static size_t limit_of(unsigned int udp_size)
{
	if (udp_size < 512)
		return 512;
	return udp_size < MAX_UDP ? udp_size : MAX_UDP;
}

/*
 * Over all sizes a client can announce: never longer than that, never less with a larger size, and
 * each form from the first size into which it fits.
 */
static void sweep(struct engine *e, struct ask *ask, unsigned int n_lengths)
{
	unsigned int n_seen = 0;
	size_t last = 0;
	struct reply r;

	for (unsigned int size = 1; size <= 65535; size += size < 1500 ? 1 : 997) {
		ask->udp_size = (uint16_t)size;
		send_ask(e, ask, &r);
		assert_true(r.len <= limit_of(size));
		assert_whole_or_empty(&r, ask);
		assert_true(r.len >= last);
		if (r.len != last) {
			if (!is_truncated(&r) && size > 512)
				assert_int_equal(r.len, size);
			n_seen++;
		}
		last = r.len;
	}
	assert_int_equal(n_seen, n_lengths);
}

static void test_sweep_rows(void **state)
{
	static const struct {
		const char *name;
		uint16_t type;
		unsigned int n_lengths; /* TC, short, full: as many as there are */
		unsigned int n_with_cookie;
	} rows[] = {
		{ "www.example2.jp", DNS_TYPE_A, 1, 1 },
		{ "www.example2.jp", DNS_TYPE_ANY, 1, 2 },
		{ "large.example2.jp", DNS_TYPE_A, 3, 3 },
		{ "edge.example2.jp", DNS_TYPE_A, 2, 2 },
		{ "mail.example2.jp", DNS_TYPE_MX, 3, 3 },
		{ "x.del.example2.jp", DNS_TYPE_A, 2, 2 },
		{ "nothere.example2.jp", DNS_TYPE_A, 1, 1 },
		{ "huge.example2.jp", DNS_TYPE_A, 1, 1 },
	};
	uint8_t cookie[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ask ask = { .name = rows[i].name, .type = rows[i].type };

		sweep(engine, &ask, rows[i].n_lengths);
		ask.cookie = cookie;
		ask.cookie_bytes = sizeof(cookie);
		sweep(engine, &ask, rows[i].n_with_cookie);
	}
}

/* Sizes around 512 octets: a client without EDNS gets the whole answer to the last octet. */
static void test_sweep_without_edns(void **state)
{
	unsigned int n_whole = 0, n_truncated = 0;

	(void)state;
	for (int i = TXT_FROM; i <= TXT_TO; i++) {
		char name[32];
		struct ask ask = { .name = name, .type = DNS_TYPE_TXT };
		size_t whole = 12 + 18 + 4 + 12 + (size_t)i; /* header, question, record */
		struct reply r;

		snprintf(name, sizeof(name), "t%d.example2.jp", i);
		send_ask(engine, &ask, &r);
		assert_whole_or_empty(&r, &ask);
		assert_int_equal(is_truncated(&r), whole > 512);
		assert_true(r.len <= 512);
		assert_true(is_truncated(&r) || r.len >= whole);
		n_whole += r.len == 512;
		n_truncated += is_truncated(&r);
		ask.stream = true;
		send_ask(engine, &ask, &r);
		assert_false(is_truncated(&r));
		assert_true(r.len >= whole);
	}
	assert_true(n_whole >= 1);
	assert_true(n_truncated >= 1);
}

/* The NS RRset of a positive answer costs no client of 512 octets its answer, with OPT or without:
 * RFC 2181 section 9. */
static void test_authority_truncates_nothing(void **state)
{
	static const uint8_t cookie[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const struct {
		const char *name;
		uint16_t udp_size;
		const uint8_t *cookie;
	} clients[] = {
		{ "without EDNS", NO_EDNS, NULL },
		{ "512 octets", 512, NULL },
		{ "fewer", 1, NULL },
		{ "512 octets, with a cookie", 512, cookie },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(clients) / sizeof(clients[0]); c++) {
		unsigned int n_with = 0, n_without = 0;

		print_message("  %s\n", clients[c].name);
		for (int i = TXT_FROM; i <= TXT_TO; i++) {
			char name[32];
			struct ask ask = { .name = name,
					   .type = DNS_TYPE_TXT,
					   .udp_size = clients[c].udp_size,
					   .cookie = clients[c].cookie,
					   .cookie_bytes = sizeof(cookie) };
			struct reply r, small;

			snprintf(name, sizeof(name), "t%d.example2.jp", i);
			send_ask(engine, &ask, &r);
			send_ask(minimal, &ask, &small);
			assert_int_equal(is_truncated(&r), is_truncated(&small));
			if (reply_count(&r, DNS_NSCOUNT_AT))
				n_with++;
			else if (!is_truncated(&r))
				n_without++;
		}
		assert_true(n_with && n_without);
	}
}

/*
 * One server, 11 A and 10 AAAA: knotd, nsd and named were compared with this in 2008. The NS RRset
 * would make 506 octets of 489, which leave a client of 512 no room for OPT.
 */
static void test_comparison_of_2008(void **state)
{
	struct ask ask = { .name = "www.example2.jp", .type = DNS_TYPE_ANY, .udp_size = 4096 };
	struct reply r;

	(void)state;
	for (size_t opt = OPT_BYTES;; opt = 0) {
		send_ask(engine, &ask, &r);
		assert_int_equal(r.len, 489 + opt);
		assert_int_equal(reply_count(&r, DNS_ANCOUNT_AT), 21);
		assert_int_equal(reply_count(&r, DNS_NSCOUNT_AT), 0);
		assert_int_equal(reply_count(&r, DNS_ARCOUNT_AT), opt != 0);
		assert_false(is_truncated(&r));
		if (!opt)
			break;
		ask.udp_size = NO_EDNS;
	}
	ask.stream = true;
	send_ask(engine, &ask, &r);
	assert_int_equal(r.len, 522);
	assert_int_equal(reply_count(&r, DNS_NSCOUNT_AT), 1);
	assert_int_equal(reply_count(&r, DNS_ARCOUNT_AT), 1); /* its address */
}

/* Glue in the delegated zone is never left out: RFC 9471 section 3.1. */
static void test_required_glue(void **state)
{
	struct ask ask = { .name = "x.del.example2.jp", .type = DNS_TYPE_A };
	struct reply r;

	(void)state;
	send_ask(minimal, &ask, &r);
	assert_true(is_truncated(&r));
	ask.udp_size = MAX_UDP;
	send_ask(minimal, &ask, &r);
	assert_false(is_truncated(&r));
	assert_int_equal(reply_count(&r, DNS_ARCOUNT_AT), 16 + 1);
}

static void test_too_large_for_any_message(void **state)
{
	struct ask ask = { .name = "huge.example2.jp", .type = DNS_TYPE_ANY, .stream = true };
	struct engine_counters before, after;
	struct reply r;

	(void)state;
	engine_counters_read(engine, &before);
	send_ask(engine, &ask, &r);
	engine_counters_read(engine, &after);
	assert_int_equal(reply_rcode(&r), DNS_RCODE_SERVFAIL);
	assert_int_equal(r.len, 12 + 18 + 4);
	assert_int_equal(after.too_large, before.too_large + 1);
	assert_int_equal(after.servfail, before.servfail + 1);
}

/* A port may have less room than the client takes. */
static void test_small_buffer(void **state)
{
	struct ask ask = { .name = "large.example2.jp", .type = DNS_TYPE_A, .udp_size = MAX_UDP };
	uint8_t msg[512], out[MAX_UDP];
	struct engine_request rq = {
		.msg = msg,
		.len = ask_bytes(&ask, msg),
		.family = AF_INET,
		.client = world_client,
	};
	const size_t least = 12 + 23 + OPT_BYTES;

	(void)state;
	for (size_t cap = 0; cap <= sizeof(out); cap++) {
		size_t len = engine_answer(engine, &rq, out, cap);

		assert_true(len <= cap);
		assert_int_equal(len == 0, cap < least);
	}
}

/* ---- What ages, and who hears of AD ---------------------------------------------------------- */

#define AGED_FULL  60u
#define AGED_SHORT 40u

static const uint16_t aged_at[] = { 6, 36, 50 }; /* two of them in the short form */
static const uint32_t aged_ttl[] = { 300, 20, 86400 };

static const struct cache_answer *aged_answer(uint32_t age_s, uint32_t stale_ttl_s, uint16_t flags)
{
	static struct cache_answer a;
	static uint8_t body[AGED_FULL];

	memset(body, 0xaa, sizeof(body));
	for (size_t i = 0; i < 3; i++)
		wire_store_be32(body + aged_at[i], aged_ttl[i]);
	a = (struct cache_answer){
		.body = body,
		.full_bytes = AGED_FULL,
		.short_bytes = AGED_SHORT,
		.ancount = 3,
		.flags = (uint16_t)(DNS_FLAG_QR | flags),
		.ttls = aged_at,
		.n_ttls = 3,
		.age_s = age_s,
		.stale_ttl_s = stale_ttl_s,
	};
	return &a;
}

/* The reply's body behind the question, and its form; in the query's own place. */
static const uint8_t *emit(const struct ask *ask, const struct cache_answer *a, size_t limit,
			   enum emit_form *form)
{
	static uint8_t msg[512 + AGED_FULL];
	struct query q;
	size_t len = ask_bytes(ask, msg);

	assert_int_equal(query_parse(&q, msg, len), QUERY_OK);
	assert_true(emit_reply(msg, limit, msg, &q, a, NULL, form) > 0);
	return msg + q.question_end;
}

static uint16_t flags_of(const struct ask *ask, const struct cache_answer *a)
{
	enum emit_form form;
	const uint8_t *body = emit(ask, a, 512, &form);

	return wire_load_be16(body - (12 + strlen(ask->name) + 2 + 4) + DNS_FLAGS_AT);
}

static void test_ttls_age_in_the_reply(void **state)
{
	static const struct {
		const char *name;
		uint32_t age_s, stale_ttl_s, want[3];
	} rows[] = {
		{ "fresh", 0, 0, { 300, 20, 86400 } },
		{ "older", 19, 0, { 281, 1, 86381 } },
		{ "as old as the least", 20, 0, { 280, 0, 86380 } },
		{ "older than the least", 21, 0, { 279, 0, 86379 } },
		{ "older than all", UINT32_MAX, 0, { 0, 0, 0 } },
		{ "stale", 500, 30, { 30, 30, 30 } },
	};
	const struct ask ask = { .name = "www.example2.jp", .type = DNS_TYPE_A };
	enum emit_form form;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct cache_answer *a = aged_answer(rows[i].age_s, rows[i].stale_ttl_s, 0);
		const uint8_t *body = emit(&ask, a, 512, &form);

		print_message("%s\n", rows[i].name);
		assert_int_equal(form, EMIT_FULL);
		for (size_t j = 0; j < 3; j++) {
			assert_int_equal(wire_load_be32(body + aged_at[j]), rows[i].want[j]);
			assert_int_equal(wire_load_be32(a->body + aged_at[j]), aged_ttl[j]);
			assert_int_equal(body[aged_at[j] - 1], 0xaa);
			assert_int_equal(body[aged_at[j] + 4], 0xaa);
		}
	}
}

/* What lies behind the short form, or behind TC=1, is not written to. */
static void test_ttls_age_in_what_is_sent(void **state)
{
	static const struct {
		enum emit_form form;
		size_t body_bytes;
	} rows[] = { { EMIT_FULL, AGED_FULL }, { EMIT_SHORT, AGED_SHORT }, { EMIT_TRUNCATED, 0 } };
	const struct ask ask = { .name = "www.example2.jp", .type = DNS_TYPE_A };
	const size_t question_end = 12 + 17 + 4;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t limit = question_end + rows[i].body_bytes, len;
		uint8_t msg[512], out[512];
		enum emit_form form;
		struct query q;

		len = ask_bytes(&ask, msg);
		assert_int_equal(query_parse(&q, msg, len), QUERY_OK);
		memset(out, 0x55, sizeof(out));
		assert_int_equal(emit_reply(out, limit, msg, &q, aged_answer(7, 0, 0), NULL, &form),
				 limit);
		assert_int_equal(form, rows[i].form);
		for (size_t j = limit; j < sizeof(out); j++)
			assert_int_equal(out[j], 0x55);
		for (size_t j = 0; j < 3 && aged_at[j] < rows[i].body_bytes; j++)
			assert_int_equal(wire_load_be32(out + question_end + aged_at[j]),
					 aged_ttl[j] - 7);
	}
}

/* RFC 6840 section 5.8; RA is the answer's, whoever asks. */
static void test_ad_for_who_asks_for_it(void **state)
{
	static const struct {
		const char *name;
		uint16_t flags; /* of the query */
		bool dnssec_ok;
		uint16_t answer, want;
	} rows[] = {
		{ "neither AD nor DO", 0, false, DNS_FLAG_AD | DNS_FLAG_RA, DNS_FLAG_RA },
		{ "AD", DNS_FLAG_AD, false, DNS_FLAG_AD | DNS_FLAG_RA, DNS_FLAG_AD | DNS_FLAG_RA },
		{ "DO", 0, true, DNS_FLAG_AD | DNS_FLAG_RA, DNS_FLAG_AD | DNS_FLAG_RA },
		{ "both", DNS_FLAG_AD, true, DNS_FLAG_AD | DNS_FLAG_RA, DNS_FLAG_AD | DNS_FLAG_RA },
		{ "AD of what is not secure", DNS_FLAG_AD, true, DNS_FLAG_RA, DNS_FLAG_RA },
		{ "AD of what is ours", DNS_FLAG_AD, true, DNS_FLAG_AA, DNS_FLAG_AA },
		{ "CD", DNS_FLAG_CD, false, DNS_FLAG_AD, DNS_FLAG_CD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ask ask = { .name = "www.example2.jp",
					 .type = DNS_TYPE_A,
					 .flags = rows[i].flags,
					 .udp_size = rows[i].dnssec_ok ? 1232 : NO_EDNS,
					 .dnssec_ok = rows[i].dnssec_ok };

		print_message("%s\n", rows[i].name);
		assert_int_equal(flags_of(&ask, aged_answer(0, 0, rows[i].answer)),
				 DNS_FLAG_QR | rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sweep_rows),
		cmocka_unit_test(test_sweep_without_edns),
		cmocka_unit_test(test_authority_truncates_nothing),
		cmocka_unit_test(test_comparison_of_2008),
		cmocka_unit_test(test_required_glue),
		cmocka_unit_test(test_too_large_for_any_message),
		cmocka_unit_test(test_small_buffer),
		cmocka_unit_test(test_ttls_age_in_the_reply),
		cmocka_unit_test(test_ttls_age_in_what_is_sent),
		cmocka_unit_test(test_ad_for_who_asks_for_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
