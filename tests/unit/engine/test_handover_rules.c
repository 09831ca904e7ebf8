/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which messages the transfer thread gets, and how the engine refuses the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/handover_rules.h"
#include "tests/unit/engine/world.h"

#define T(t)   DNS_TYPE_##t
#define R(r)   DNS_RCODE_##r
#define NOTIFY 0x2000
#define UPDATE 0x2800
#define STATUS 0x1000

static const char zone_text[] =
	"@ 300 IN SOA ns hostmaster 1 2 3 4 5\n@ 300 IN NS ns\nns IN A 192.0.2.1\n";

static struct world world;

static struct clients_prefix prefix(uint8_t bits, uint8_t a, uint8_t b, uint8_t c, uint8_t d,
				    uint32_t what)
{
	return (struct clients_prefix){
		.family = AF_INET, .bits = bits, .address = { a, b, c, d }, .views = what
	};
}

static int setup(void **state)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;
	const struct clients_prefix prefixes[] = {
		prefix(24, 192, 0, 2, 0, HANDOVER_TRANSFER),
		prefix(32, 192, 0, 2, 7, HANDOVER_NOTIFY),
		prefix(32, 192, 0, 2, 7, HANDOVER_UPDATE),
		prefix(8, 10, 0, 0, 0, HANDOVER_NOTIFY),
	};
	static const uint8_t one[] = "\3one\4test", two[] = "\3two\4test";
	const uint8_t *const keys[] = { two, one };

	world_begin(&world, state);
	world_add_zone(&world, "example.com", zone_text);
	world_load_zone(&world, "example.edu", NULL);
	world_open(&world, &config);
	return handover_rules_new(&world.zones.handover, prefixes, 4, keys, 2);
}

static int teardown(void **state)
{
	handover_rules_free(world.zones.handover);
	return world_end(state);
}

/* A TSIG whose owner is "xxx.test", or the same by a pointer to the question's last label. */
static size_t add_tsig(uint8_t *msg, size_t len, const char *label)
{
	static const uint8_t rest[] =
		"\0\372\0\377\0\0\0\0\0\35\13hmac-sha256\0\0\0\0\0\0\0\1\54\0\0\22\64\0\0\0\0";
	size_t n = strlen(label);

	msg[len++] = (uint8_t)n;
	memcpy(msg + len, label, n);
	len += n;
	memcpy(msg + len, "\4TEST", 6);
	len += 6;
	memcpy(msg + len, rest, sizeof(rest) - 1);
	msg[DNS_ARCOUNT_AT + 1]++;
	return len + sizeof(rest) - 1;
}

#define HANDED 0xffff

static const uint8_t near[] = { 192, 0, 2, 7 }, far[] = { 198, 51, 100, 1 },
		     ten[] = { 10, 1, 2, 3 };

static const struct row {
	const char *name;
	const uint8_t *client;
	struct ask ask;
	const char *key; /* label of its key, NULL: not signed */
	uint16_t rcode;  /* or HANDED */
} rows[] = {
	{ "AXFR", near, { .name = "example.com", .type = T(AXFR), .stream = true }, NULL, HANDED },
	{ "AXFR of a stranger",
	  far,
	  { .name = "example.com", .type = T(AXFR), .stream = true },
	  NULL,
	  R(REFUSED) },
	{ "AXFR of one who may notify",
	  ten,
	  { .name = "example.com", .type = T(AXFR), .stream = true },
	  NULL,
	  R(REFUSED) },
	{ "AXFR of a zone that is not loaded",
	  near,
	  { .name = "example.edu", .type = T(AXFR), .stream = true },
	  NULL,
	  HANDED },
	{ "AXFR of a zone that is not ours",
	  near,
	  { .name = "example.org", .type = T(AXFR), .stream = true },
	  NULL,
	  R(NOTAUTH) },
	{ "AXFR over UDP", near, { .name = "example.com", .type = T(AXFR) }, NULL, R(NOTIMP) },
	{ "IXFR over UDP", near, { .name = "example.com", .type = T(IXFR) }, NULL, HANDED },
	{ "IXFR of a stranger", far, { .name = "example.com", .type = T(IXFR) }, NULL, R(REFUSED) },
	{ "NOTIFY", near, { .name = "example.com", .type = T(SOA), .flags = NOTIFY }, NULL, HANDED },
	{ "NOTIFY for any zone",
	  ten,
	  { .name = "example.org", .type = T(SOA), .flags = NOTIFY },
	  NULL,
	  HANDED },
	{ "NOTIFY of a stranger",
	  far,
	  { .name = "example.com", .type = T(SOA), .flags = NOTIFY },
	  NULL,
	  R(REFUSED) },
	{ "NOTIFY of a stranger for a zone that is not ours",
	  far,
	  { .name = "example.org", .type = T(SOA), .flags = NOTIFY },
	  NULL,
	  R(NOTAUTH) },
	{ "NOTIFY of a stranger for a zone that is not loaded",
	  far,
	  { .name = "example.edu", .type = T(SOA), .flags = NOTIFY },
	  NULL,
	  R(REFUSED) },
	{ "UPDATE of a stranger for a zone that is not ours",
	  far,
	  { .name = "example.org", .type = T(SOA), .flags = UPDATE },
	  NULL,
	  R(NOTAUTH) },
	{ "UPDATE of a stranger for a name below a zone of ours",
	  far,
	  { .name = "www.example.com", .type = T(SOA), .flags = UPDATE },
	  NULL,
	  R(NOTAUTH) },
	{ "UPDATE", near, { .name = "example.com", .type = T(SOA), .flags = UPDATE }, NULL, HANDED },
	{ "UPDATE of one who may notify",
	  ten,
	  { .name = "example.com", .type = T(SOA), .flags = UPDATE },
	  NULL,
	  R(REFUSED) },
	{ "STATUS",
	  near,
	  { .name = "example.com", .type = T(SOA), .flags = STATUS },
	  NULL,
	  R(NOTIMP) },
	{ "a question", near, { .name = "example.com", .type = T(SOA) }, NULL, R(NOERROR) },
	{ "a signed question", far, { .name = "example.com", .type = T(SOA) }, "one", HANDED },
	{ "in another letter case", far, { .name = "example.com", .type = T(SOA) }, "TWO", HANDED },
	{ "signed by nobody's key",
	  near,
	  { .name = "example.com", .type = T(SOA) },
	  "six",
	  R(NOTAUTH) },
	{ "signed AXFR of a stranger",
	  far,
	  { .name = "example.com", .type = T(AXFR), .stream = true },
	  "one",
	  HANDED },
	{ "NOTIFY by nobody's key",
	  near,
	  { .name = "example.com", .type = T(SOA), .flags = NOTIFY },
	  "six",
	  R(NOTAUTH) },
	{ "UPDATE by a key",
	  far,
	  { .name = "example.com", .type = T(SOA), .flags = UPDATE },
	  "two",
	  HANDED },
	{ "STATUS by a key",
	  near,
	  { .name = "example.com", .type = T(SOA), .flags = STATUS },
	  "one",
	  R(NOTIMP) },
};

static size_t answer(const struct row *row, bool hands_over, struct reply *r)
{
	uint8_t msg[1024];
	size_t len = ask_bytes(&row->ask, msg);
	struct engine_request rq = {
		.msg = msg,
		.stream = row->ask.stream,
		.family = AF_INET,
		.client = row->client,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
		.hands_over = hands_over,
	};

	rq.len = row->key ? add_tsig(msg, len, row->key) : len;
	len = engine_answer(world.engine, &rq, r->bytes, sizeof(r->bytes));
	rcu_quiescent_state();
	return len;
}

static void test_rows(void **state)
{
	struct engine_counters before, after;
	unsigned int n_handed = 0;
	struct reply r;

	(void)state;
	engine_counters_read(world.engine, &before);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = answer(&rows[i], true, &r);

		print_message("  %s\n", rows[i].name);
		n_handed += len == ENGINE_HANDOVER;
		if (rows[i].rcode == HANDED) {
			assert_true(len == ENGINE_HANDOVER);
			continue;
		}
		assert_true(len >= DNS_HEADER_BYTES && len <= sizeof(r.bytes));
		assert_int_equal(reply_rcode(&r), rows[i].rcode);
	}
	engine_counters_read(world.engine, &after);
	assert_int_equal(after.handed_over - before.handed_over, n_handed);
}

/* Who cannot hand over, and who has no rules, hears what a server without keys says. */
static void test_nobody_to_hand_over_to(void **state)
{
	struct handover_rules *rules = world.zones.handover;
	struct reply without, with_none;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = answer(&rows[i], false, &without), n_none;

		world.zones.handover = NULL;
		n_none = answer(&rows[i], true, &with_none);
		world.zones.handover = rules;
		print_message("  %s\n", rows[i].name);
		assert_true(n && n < ENGINE_HANDOVER);
		assert_int_equal(n, n_none);
		assert_memory_equal(without.bytes, with_none.bytes, n);
		if (rows[i].ask.flags)
			assert_int_equal(reply_rcode(&without), R(NOTIMP));
	}
}

/* What a prefix lets through it lets through for those within it, too. */
static void test_prefixes_nest(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 7 };
	static const uint8_t outside[] = { 192, 0, 3, 7 };

	(void)state;
	assert_true(handover_allows(world.zones.handover, AF_INET, near, false, HANDOVER_TRANSFER));
	assert_true(handover_allows(world.zones.handover, AF_INET, near, false, HANDOVER_NOTIFY));
	assert_true(
		handover_allows(world.zones.handover, AF_INET6, mapped, false, HANDOVER_UPDATE));
	assert_false(handover_allows(world.zones.handover, AF_INET, outside, false,
				     HANDOVER_TRANSFER | HANDOVER_NOTIFY | HANDOVER_UPDATE));
}

/* A rule that asks for TLS is for who comes over it alone; one that does not is for both. */
static void test_rules_that_ask_for_tls(void **state)
{
	const struct clients_prefix prefixes[] = {
		{ .family = AF_INET,
		  .bits = 24,
		  .address = { 192, 0, 2 },
		  .views = HANDOVER_TRANSFER << HANDOVER_TLS_SHIFT | HANDOVER_NOTIFY },
	};
	struct handover_rules *rules;

	(void)state;
	assert_int_equal(handover_rules_new(&rules, prefixes, 1, NULL, 0), 0);
	assert_true(handover_allows(rules, AF_INET, near, true, HANDOVER_TRANSFER));
	assert_false(handover_allows(rules, AF_INET, near, false, HANDOVER_TRANSFER));
	assert_true(handover_allows(rules, AF_INET, near, true, HANDOVER_NOTIFY));
	assert_true(handover_allows(rules, AF_INET, near, false, HANDOVER_NOTIFY));
	assert_false(handover_allows(rules, AF_INET, near, true, HANDOVER_UPDATE));
	handover_rules_free(rules);
}

/* NOTIFY and UPDATE without a zone, by a stranger too: the header alone. */
static void test_without_a_question(void **state)
{
	static const uint16_t flags[] = { NOTIFY, UPDATE };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		uint8_t msg[DNS_HEADER_BYTES] = { 0x12, 0x34 };
		struct engine_request rq = {
			.msg = msg,
			.len = sizeof(msg),
			.family = AF_INET,
			.client = rows[0].client,
			.now_s = WORLD_NOW_S,
			.wall_s = WORLD_WALL_S,
			.hands_over = true,
		};
		struct reply r;
		size_t len;

		wire_store_be16(msg + DNS_FLAGS_AT, flags[i]);
		len = engine_answer(world.engine, &rq, r.bytes, sizeof(r.bytes));
		rcu_quiescent_state();
		assert_int_equal(len, DNS_HEADER_BYTES);
		assert_int_equal(reply_rcode(&r), DNS_RCODE_FORMERR);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_question),     cmocka_unit_test(test_rows),
		cmocka_unit_test(test_nobody_to_hand_over_to), cmocka_unit_test(test_prefixes_nest),
		cmocka_unit_test(test_rules_that_ask_for_tls),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
