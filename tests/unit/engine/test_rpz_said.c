/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rule has made a reply, by its octets: what the policy makes is found again, and nothing
 * else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/rpz_act.h"
#include "engine/reply_writer.h"
#include "rpz/rpz.h"
#include "tests/unit/engine/world.h"

#define HEAD "@ 300 SOA localhost. root. 1 3600 600 86400 30\n@ NS localhost.\n"

static const char local_text[] =
	". 300 SOA localhost. root. 1 3600 600 86400 60\n. 300 NS localhost.\n"
	"router.lan. 60 A 192.0.2.1\n";

static const char list_text[] = HEAD "blocked.example CNAME .\n"
				     "empty.example CNAME *.\n"
				     "pass.example CNAME rpz-passthru.\n"
				     "tcp.example CNAME rpz-tcp-only.\n"
				     "garden.example A 192.0.2.80\n"
				     "elsewhere.example CNAME www.example.\n"
				     "32.9.2.0.192.rpz-client-ip A 192.0.2.81\n";

static const char second_text[] = HEAD "second.example CNAME .\n";

static struct world world;
static struct rpz *rpz;
static struct render render;

static int setup(void **state)
{
	const char *const texts[] = { local_text, list_text, second_text };

	return world_begin_rpz(&world, state, texts, &rpz, 7, 3);
}

static int teardown(void **state)
{
	rpz_free(rpz);
	return world_end(state);
}

static const uint8_t somebody[4] = { 192, 0, 2, 7 };
static const uint8_t named[4] = { 192, 0, 2, 9 };

/* The reply that the policy makes, or, where it makes none, one of upstream with these flags and no
 * record. */
static size_t reply_to(uint8_t out[512], const char *name, uint16_t type, const uint8_t *client,
		       uint16_t flags)
{
	const struct ask ask = { .name = name, .type = type };
	const struct rpz_client who = { AF_INET, client };
	struct cache_answer a = { 0 };
	struct rpz_question question;
	struct rpz_alias alias;
	struct rpz_hit hit;
	uint8_t msg[512];
	enum emit_form form;
	struct query q;

	assert_int_equal(query_parse(&q, msg, ask_bytes(&ask, msg)), QUERY_OK);
	question = (struct rpz_question){ q.folded, q.qname_bytes, q.qtype };
	if (!rpz_find(rpz, &who, &question, &hit) ||
	    rpz_act(rpz, &render, &question, &hit, NULL, &alias, &a) == RPZ_TCP_ONLY || !a.flags)
		a.flags = flags;
	return emit_reply(out, 512, msg, &q, &a, NULL, &form);
}

static const uint16_t of_upstream = DNS_FLAG_QR | DNS_FLAG_RA;

static void test_rules(void **state)
{
	static const struct {
		const char *name;
		uint16_t type;
		const uint8_t *client;
		uint16_t flags;   /* beside QR and RA, where the rule makes no message */
		const char *list; /* its first label; "": local data; NULL: no rule */
		const char *action;
	} rows[] = {
		{ "blocked.example.", DNS_TYPE_A, somebody, 0, "\4list", "nxdomain" },
		{ "BLOCKED.example.", DNS_TYPE_MX, somebody, 0, "\4list", "nxdomain" },
		{ "empty.example.", DNS_TYPE_A, somebody, 0, "\4list", "nodata" },
		{ "second.example.", DNS_TYPE_A, somebody, 0, "\6second", "nxdomain" },
		{ "garden.example.", DNS_TYPE_A, somebody, 0, "\4list", "data" },
		{ "garden.example.", DNS_TYPE_AAAA, somebody, 0, "\4list", "nodata" },
		{ "elsewhere.example.", DNS_TYPE_A, somebody, 0, "\4list", "cname" },
		{ "tcp.example.", DNS_TYPE_A, somebody, DNS_FLAG_TC, "\4list", "tcp-only" },
		{ "tcp.example.", DNS_TYPE_A, somebody, 0, NULL, NULL },
		{ "pass.example.", DNS_TYPE_A, somebody, 0, NULL, NULL },
		{ "other.example.", DNS_TYPE_A, somebody, 0, NULL, NULL },
		{ "other.example.", DNS_TYPE_A, named, 0, "\4list", "data" },
		{ "router.lan.", DNS_TYPE_A, somebody, 0, "", "data" },
		{ "router.lan.", DNS_TYPE_AAAA, somebody, 0, "", "nodata" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rpz_client client = { AF_INET, rows[i].client };
		struct rpz_said said;
		uint8_t reply[512];
		size_t n = reply_to(reply, rows[i].name, rows[i].type, rows[i].client,
				    of_upstream | rows[i].flags);
		bool is_said = rpz_said(rpz, &client, reply, n, &said);

		if (is_said != (rows[i].list != NULL))
			fail_msg("row %zu: %d", i, is_said);
		if (!is_said)
			continue;
		assert_string_equal(said.action, rows[i].action);
		assert_int_equal(said.is_local_data, !*rows[i].list);
		if (*rows[i].list)
			assert_memory_equal(said.list, rows[i].list, strlen(rows[i].list));
	}
}

/* What our zones say has AA; what upstream says of a name with a rule, before the rule came, has
 * not the rule's form. */
static void test_others(void **state)
{
	const struct rpz_client client = { AF_INET, somebody };
	struct rpz_said said;
	uint8_t reply[512];
	size_t n;

	(void)state;
	n = reply_to(reply, "blocked.example.", DNS_TYPE_A, somebody, 0);
	reply[DNS_FLAGS_AT] |= DNS_FLAG_AA >> 8;
	assert_false(rpz_said(rpz, &client, reply, n, &said));
	n = reply_to(reply, "garden.example.", DNS_TYPE_A, somebody, 0);
	reply[DNS_ANCOUNT_AT + 1] = 0;
	assert_false(rpz_said(rpz, &client, reply, n - 16, &said));
	n = reply_to(reply, "garden.example.", DNS_TYPE_A, somebody, 0);
	reply[DNS_FLAGS_AT + 1] |= DNS_RCODE_SERVFAIL;
	assert_false(rpz_said(rpz, &client, reply, n, &said));
}

/* Whatever is cut off, nothing is read behind it. */
static void test_damaged(void **state)
{
	const struct rpz_client client = { AF_INET, somebody };
	struct rpz_said said;
	uint8_t reply[512];
	size_t n = reply_to(reply, "blocked.example.", DNS_TYPE_A, somebody, 0);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		uint8_t *copy = malloc(i ? i : 1);

		memcpy(copy, reply, i);
		(void)rpz_said(rpz, &client, copy, i, &said);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
