/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Local data and block lists: which rule a question meets, and what it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/rpz_act.h"
#include "tests/unit/engine/world.h"

#define SLOT 7
#define GEN  3

static const char local_text[] = ". 300 SOA localhost. root. 1 3600 600 86400 60\n"
				 ". 300 NS localhost.\n"
				 "router.lan. 60 A 192.0.2.1\n"
				 "router.lan. 60 A 192.0.2.2\n"
				 "*.wild.lan. 60 TXT any\n"
				 "alias.lan. 60 CNAME router.lan.\n"
				 "held.blocked.example. 60 A 192.0.2.3\n";

static const char list_text[] = "@ 300 SOA localhost. root. 1 3600 600 86400 30\n"
				"@ NS localhost.\n"
				"blocked.example CNAME .\n"
				"*.blocked.example CNAME .\n"
				"fine.blocked.example CNAME rpz-passthru.\n"
				"empty.example CNAME *.\n"
				"drop.example CNAME RPZ-Drop.\n"
				"tcp.example CNAME rpz-tcp-only.\n"
				"garden.example A 192.0.2.80\n"
				"garden.example TXT \"no\"\n"
				"elsewhere.example 60 CNAME WWW.example.\n"
				"*.elsewhere.example CNAME *.garden.example.\n"
				"itself.example CNAME itself.example.\n"
				"unknown.example CNAME rpz-future.\n"
				"32.1.2.0.192.rpz-ip CNAME .\n"
				"24.1.2.0.192.rpz-nsip CNAME .\n"
				"ns.example.rpz-nsdname CNAME .\n";

static const char second_text[] = "@ 300 SOA localhost. root. 1 3600 600 86400 30\n"
				  "@ NS localhost.\n"
				  "fine.blocked.example CNAME .\n"
				  "second.example CNAME .\n";

static struct world world;
static struct rpz *rpz;
static struct rpz_alias alias;
static struct render render;

static int setup(void **state)
{
	const char *const texts[] = { local_text, list_text, second_text };

	return world_begin_rpz(&world, state, texts, &rpz, SLOT, GEN);
}

static int teardown(void **state)
{
	rpz_free(rpz);
	return world_end(state);
}

/* By the question's name alone. */
static enum rpz_verdict rpz_answer(const struct rpz *p, struct render *r, const struct query *q,
				   struct rpz_alias *to, struct cache_answer *a)
{
	const struct rpz_question question = { q->folded, q->qname_bytes, q->qtype };
	const struct rpz_client nobody = { 0 };
	struct rpz_hit hit;

	to->n_bytes = 0;
	return rpz_find(p, &nobody, &question, &hit) ? rpz_act(p, r, &question, &hit, NULL, to, a) :
						       RPZ_NONE;
}

struct row {
	const char *name;
	uint16_t type;
	enum rpz_verdict verdict;
	uint16_t rcode;
	uint16_t ancount;
	uint16_t nscount;
};

static const struct row rows[] = {
	{ "router.lan.", DNS_TYPE_A, RPZ_LOCAL, DNS_RCODE_NOERROR, 2, 0 },
	{ "ROUTER.lan.", DNS_TYPE_AAAA, RPZ_LOCAL, DNS_RCODE_NOERROR, 0, 1 },
	{ "router.lan.", DNS_TYPE_ANY, RPZ_LOCAL, DNS_RCODE_NOERROR, 2, 0 },
	{ "a.b.wild.lan.", DNS_TYPE_TXT, RPZ_LOCAL, DNS_RCODE_NOERROR, 1, 0 },
	{ "a.wild.lan.", DNS_TYPE_A, RPZ_LOCAL, DNS_RCODE_NOERROR, 0, 1 },
	{ "alias.lan.", DNS_TYPE_A, RPZ_ALIAS, DNS_RCODE_NOERROR, 1, 0 },
	{ "alias.lan.", DNS_TYPE_CNAME, RPZ_LOCAL, DNS_RCODE_NOERROR, 1, 0 },
	{ "held.blocked.example.", DNS_TYPE_A, RPZ_LOCAL, DNS_RCODE_NOERROR, 1, 0 },
	{ "lan.", DNS_TYPE_A, RPZ_NONE, 0, 0, 0 },
	{ "x.lan.", DNS_TYPE_A, RPZ_NONE, 0, 0, 0 },
	{ ".", DNS_TYPE_NS, RPZ_NONE, 0, 0, 0 },
	{ "blocked.example.", DNS_TYPE_A, RPZ_FILTERED, DNS_RCODE_NXDOMAIN, 0, 1 },
	{ "x.y.Blocked.example.", DNS_TYPE_MX, RPZ_FILTERED, DNS_RCODE_NXDOMAIN, 0, 1 },
	{ "fine.blocked.example.", DNS_TYPE_A, RPZ_NONE, 0, 0, 0 },
	{ "empty.example.", DNS_TYPE_A, RPZ_FILTERED, DNS_RCODE_NOERROR, 0, 1 },
	{ "drop.example.", DNS_TYPE_A, RPZ_DROP, 0, 0, 0 },
	{ "tcp.example.", DNS_TYPE_A, RPZ_TCP_ONLY, 0, 0, 0 },
	{ "garden.example.", DNS_TYPE_A, RPZ_FILTERED, DNS_RCODE_NOERROR, 1, 0 },
	{ "garden.example.", DNS_TYPE_AAAA, RPZ_FILTERED, DNS_RCODE_NOERROR, 0, 1 },
	{ "elsewhere.example.", DNS_TYPE_A, RPZ_REWRITE, 0, 1, 0 },
	{ "elsewhere.example.", DNS_TYPE_CNAME, RPZ_FILTERED, DNS_RCODE_NOERROR, 1, 0 },
	{ "a.elsewhere.example.", DNS_TYPE_MX, RPZ_REWRITE, 0, 1, 0 },
	{ "itself.example.", DNS_TYPE_A, RPZ_NONE, 0, 0, 0 },
	{ "unknown.example.", DNS_TYPE_A, RPZ_NONE, 0, 0, 0 },
	{ "second.example.", DNS_TYPE_A, RPZ_FILTERED, DNS_RCODE_NXDOMAIN, 0, 1 },
	{ "32.1.2.0.192.rpz-ip.", DNS_TYPE_A, RPZ_NONE, 0, 0, 0 },
	{ "other.example.", DNS_TYPE_A, RPZ_NONE, 0, 0, 0 },
};

static void parse(struct query *q, uint8_t msg[512], const char *name, uint16_t type)
{
	const struct ask ask = { .name = name, .type = type };

	assert_int_equal(query_parse(q, msg, ask_bytes(&ask, msg)), QUERY_OK);
}

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct cache_answer a = { 0 };
		uint8_t msg[512];
		struct query q;

		print_message("%s %u\n", row->name, row->type);
		parse(&q, msg, row->name, row->type);
		assert_int_equal(rpz_answer(rpz, &render, &q, &alias, &a), row->verdict);
		if (row->verdict != RPZ_LOCAL && row->verdict != RPZ_FILTERED)
			continue;
		assert_int_equal(a.flags & DNS_RCODE_MASK, row->rcode);
		assert_int_equal(a.flags & (DNS_FLAG_RA | DNS_FLAG_AA), DNS_FLAG_RA);
		assert_int_equal(a.ancount, row->ancount);
		assert_int_equal(a.nscount, row->nscount);
		assert_int_equal(a.zone_slot, SLOT);
		assert_int_equal(a.zone_gen, GEN);
		assert_int_equal(a.short_bytes, a.full_bytes);
	}
}

/* Ignored: a prefix with bits behind its length, and a CNAME to another name. */
static void test_rules_are_counted(void **state)
{
	static const struct {
		const char *name;
		bool is_list;
		uint32_t n_rules, n_ignored;
	} counted[] = { { "local data", false, 4, 0 },
			{ "the list", true, 12, 2 },
			{ "the second list", true, 2, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		struct rpz_counts counts = rpz_count(world.members[i].zone, counted[i].is_list);

		print_message("%s\n", counted[i].name);
		assert_int_equal(counts.n_rules, counted[i].n_rules);
		assert_int_equal(counts.n_ignored, counted[i].n_ignored);
	}
}

/* Where the question goes on; a wildcard stands for the whole name of the question. */
static void test_aliases(void **state)
{
	static const struct {
		const char *name;
		const char *target; /* NULL: it has no room */
		uint32_t ttl_s;
	} aliases[] = {
		{ "elsewhere.example.", "www.example.", 60 },
		{ "a.B.elsewhere.example.", "a.b.elsewhere.example.garden.example.", 60 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		char text[NAME_TEXT_MAX];
		struct cache_answer a;
		uint8_t msg[512];
		struct query q;

		print_message("%s\n", aliases[i].name);
		parse(&q, msg, aliases[i].name, DNS_TYPE_A);
		assert_int_equal(rpz_answer(rpz, &render, &q, &alias, &a), RPZ_REWRITE);
		name_to_text(text, sizeof(text), alias.target);
		assert_string_equal(text, aliases[i].target);
		assert_int_equal(alias.n_bytes, name_bytes(alias.target));
		assert_int_equal(alias.ttl_s, aliases[i].ttl_s);
	}
}

/* The name of the question has no room before the rest of the target. */
static void test_alias_too_long(void **state)
{
	char name[256];
	struct cache_answer a;
	uint8_t msg[512];
	struct query q;

	(void)state;
	for (int n = 0; n < 2; n++) { /* 239 octets, then 244 */
		snprintf(name, sizeof(name), "%063d.%063d.%063d.%0*d.elsewhere.example.", 0, 0, 0,
			 n ? 31 : 26, 0);
		parse(&q, msg, name, DNS_TYPE_A);
		assert_int_equal(rpz_answer(rpz, &render, &q, &alias, &a),
				 n ? RPZ_FILTERED : RPZ_REWRITE);
		if (n)
			assert_int_equal(a.flags & DNS_RCODE_MASK, DNS_RCODE_NXDOMAIN);
	}
}

/* c0 0c, type, class, TTL, length, address: the owner is the question, whatever its letters. */
static void test_bytes(void **state)
{
	static const uint8_t wanted[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 80 };
	struct cache_answer a;
	uint8_t msg[512];
	struct query q;

	(void)state;
	parse(&q, msg, "GARDEN.example.", DNS_TYPE_A);
	assert_int_equal(rpz_answer(rpz, &render, &q, &alias, &a), RPZ_FILTERED);
	assert_int_equal(a.full_bytes, sizeof(wanted));
	assert_memory_equal(a.body, wanted, sizeof(wanted));
}

/* NAME.ORIGIN would have more than 255 octets: no rule can be there. */
static void test_long_name(void **state)
{
	char name[256] = "";
	struct cache_answer a;
	uint8_t msg[512];
	struct query q;

	(void)state;
	for (int i = 0; i < 3; i++) {
		memset(name + strlen(name), 'a', 60);
		strcat(name, ".");
	}
	memset(name + strlen(name), 'a', 50);
	strcat(name, ".blocked.example.");
	parse(&q, msg, name, DNS_TYPE_A);
	assert_true(q.qname_bytes + sizeof("list.rpz") > DNS_NAME_MAX);
	assert_int_equal(rpz_answer(rpz, &render, &q, &alias, &a), RPZ_NONE);
}

static void test_nothing(void **state)
{
	struct rpz *none;
	struct cache_answer a;
	uint8_t msg[512];
	struct query q;

	(void)state;
	assert_int_equal(rpz_new(&none, NULL, NULL, 0, SLOT, GEN), 0);
	parse(&q, msg, "blocked.example.", DNS_TYPE_A);
	assert_int_equal(rpz_answer(none, &render, &q, &alias, &a), RPZ_NONE);
	rpz_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),   cmocka_unit_test(test_rules_are_counted),
		cmocka_unit_test(test_aliases), cmocka_unit_test(test_alias_too_long),
		cmocka_unit_test(test_bytes),   cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
