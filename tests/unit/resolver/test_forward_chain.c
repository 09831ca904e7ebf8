/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aliases whose target an upstream left out: which answers are whole, which target is asked for,
 * and what the chain has in the end. ldns makes the messages and reads the chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dns/proto.h"
#include "resolver/forward_chain.h"
#include "tests/unit/engine/upstream.h"
#include "tests/unit/engine/world.h"

#define T(type) DNS_TYPE_##type
#define SIXTY   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SOA     "SOA ns.x. root.x. 1 2 3 4 60\n"
#define SIG(type, signer) \
	"RRSIG " type " 13 2 300 20380101000000 20260101000000 7 " signer " AAAA\n"

struct row {
	const char *label;
	struct upstream upstream;
	enum forward_chain_state state;
	const char *target; /* if OPEN */
	const char *chain;  /* its answer section; NULL: there is none */
	bool is_all;
};

static const struct row rows[] = {
	{ .label = "an alias with its target",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.y.\nb.y. 9 IN A 192.0.2.1\n", NULL,
			NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "the target before its alias",
	  .upstream = { "a.x.", T(A), 0, "b.y. 9 IN A 192.0.2.1\na.x. 9 IN CNAME b.y.\n", NULL,
			NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "an alias alone",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME B.y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "b.y.",
	  .chain = "a.x. 9 IN CNAME B.y.\n" },
	{ .label = "an alias alone, signed",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.y.\na.x. 9 IN " SIG("CNAME", "x."),
			NULL, NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "b.y.",
	  .chain = "a.x. 9 IN CNAME b.y.\na.x. 9 IN " SIG("CNAME", "x.") },
	{ .label = "two aliases, out of order",
	  .upstream = { "a.x.", T(A), 0, "b.y. 8 IN CNAME c.z.\na.x. 9 IN CNAME b.y.\n", NULL,
			NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "c.z.",
	  .chain = "a.x. 9 IN CNAME b.y.\nb.y. 8 IN CNAME c.z.\n" },
	{ .label = "an address of another name is not the target's",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.y.\nc.y. 9 IN A 192.0.2.1\n", NULL,
			NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "b.y.",
	  .chain = "a.x. 9 IN CNAME b.y.\n" },
	{ .label = "a SOA says that the target has no such type",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.y.\n", "y. 9 IN " SOA, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "a SOA of the alias's zone says nothing about the target",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.y.\n", "x. 9 IN " SOA, NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "b.y.",
	  .chain = "a.x. 9 IN CNAME b.y.\n" },
	{ .label = "NXDOMAIN is about the target",
	  .upstream = { "a.x.", T(A), 3, "a.x. 9 IN CNAME b.y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "NXDOMAIN with the target's address: the target is asked for",
	  .upstream = { "a.x.", T(A), 3, "a.x. 9 IN CNAME b.y.\nb.y. 9 IN A 192.0.2.1\n", NULL,
			NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "b.y.",
	  .chain = "a.x. 9 IN CNAME b.y.\n" },
	{ .label = "the same, with a SOA",
	  .upstream = { "a.x.", T(A), 3, "a.x. 9 IN CNAME b.y.\nb.y. 9 IN A 192.0.2.1\n",
			"y. 9 IN " SOA, NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "b.y.",
	  .chain = "a.x. 9 IN CNAME b.y.\n" },
	{ .label = "NXDOMAIN with the address of the name itself",
	  .upstream = { "a.x.", T(A), 3, "a.x. 9 IN A 192.0.2.1\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "NXDOMAIN, and the alias itself was asked for",
	  .upstream = { "a.x.", T(CNAME), 3, "a.x. 9 IN CNAME b.y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "NXDOMAIN with a DNAME alone, and its CNAME was asked for",
	  .upstream = { "a.x.", T(CNAME), 3, "x. 9 IN DNAME y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE,
	  .chain = "x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\n",
	  .is_all = true },
	{ .label = "the alias itself was asked for",
	  .upstream = { "a.x.", T(CNAME), 0, "a.x. 9 IN CNAME b.y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "a DNAME alone",
	  .upstream = { "a.b.x.", T(A), 0, "x. 9 IN DNAME y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_OPEN,
	  .target = "a.b.y.",
	  .chain = "x. 9 IN DNAME y.\na.b.x. 9 IN CNAME a.b.y.\n" },
	{ .label = "a DNAME without its CNAME, and the target",
	  .upstream = { "a.x.", T(A), 0, "x. 9 IN DNAME y.\na.y. 9 IN A 192.0.2.1\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE,
	  .chain = "x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\n" },
	{ .label = "a DNAME alone, and its CNAME was asked for",
	  .upstream = { "a.x.", T(CNAME), 0, "x. 9 IN DNAME y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE,
	  .chain = "x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\n",
	  .is_all = true },
	{ .label = "a DNAME at the name itself is no alias of it",
	  .upstream = { "x.", T(A), 0, "x. 9 IN DNAME y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "a DNAME that was asked for",
	  .upstream = { "x.", T(DNAME), 0, "x. 9 IN DNAME y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "a DNAME whose CNAME would be too long",
	  .upstream = { "a.x.", T(A), 6, "x. 9 IN DNAME y.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE,
	  .chain = "x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\n" },
	{ .label = "an alias of itself",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME a.x.\n", NULL, NULL },
	  .state = FORWARD_CHAIN_WHOLE },
	{ .label = "a loop of two",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.x.\nb.x. 9 IN CNAME a.x.\n", NULL,
			NULL },
	  .state = FORWARD_CHAIN_WHOLE },
};

static enum forward_chain_state add(struct forward_chain **c, const struct upstream *u)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	enum forward_chain_state state;
	size_t n;
	uint8_t *wire = upstream_wire(u, &n);
	int len = name_from_text(folded, sizeof(folded), u->name, strlen(u->name));

	MUST(len > 0);
	state = forward_chain_add(c, wire, n, folded, u->qtype);
	free(wire);
	return state;
}

static void check_answers(const char *label, const struct forward_chain *c, const char *expected)
{
	ldns_pkt *pkt;
	char *text;

	if (ldns_wire2pkt(&pkt, c->bytes, c->n) != LDNS_STATUS_OK)
		fail_msg("%s: the chain cannot be read", label);
	text = section_text(pkt, LDNS_SECTION_ANSWER);
	if (strcmp(text, expected) != 0)
		fail_msg("%s:\n%s--- is not\n%s", label, text, expected);
	free(text);
	ldns_pkt_free(pkt);
}

static void check_row(const struct row *row)
{
	struct forward_chain *c = NULL;
	uint8_t target[NAME_FOLDED_BYTES];

	if (add(&c, &row->upstream) != row->state || !c != !row->chain)
		fail_msg("%s", row->label);
	if (row->target) {
		MUST(name_from_text(target, sizeof(target), row->target, strlen(row->target)) > 0);
		if (!name_equal(c->target, target))
			fail_msg("%s: another target", row->label);
	}
	if (c) {
		check_answers(row->label, c, row->chain);
		assert_int_equal(c->is_all, row->is_all);
	}
	forward_chain_free(c);
}

static void answers_are_whole_or_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

static void parts_are_joined_with_their_proofs(void **state)
{
	const struct upstream parts[] = {
		{ "a.x.", T(A), 0, "a.x. 9 IN CNAME b.y.\n",
		  "x. 9 IN NSEC z.x. A\nx. 9 IN " SIG("NSEC", "x.") "x. 9 IN NS ns.x.\n", NULL },
		{ "b.y.", T(A), 0, "b.y. 9 IN CNAME c.z.\n", NULL, NULL },
		{ "c.z.", T(A), 0, "c.z. 9 IN A 192.0.2.1\n", NULL, NULL },
	};
	struct forward_chain *c = NULL;

	(void)state;
	assert_int_equal(add(&c, &parts[0]), FORWARD_CHAIN_OPEN);
	assert_int_equal(add(&c, &parts[1]), FORWARD_CHAIN_OPEN);
	assert_int_equal(add(&c, &parts[2]), FORWARD_CHAIN_WHOLE);
	check_answers("joined", c, "a.x. 9 IN CNAME b.y.\nb.y. 9 IN CNAME c.z.\n");
	assert_int_equal(wire_load_be16(c->bytes + DNS_NSCOUNT_AT), 2); /* without the NS */
	forward_chain_free(c);
}

static void a_loop_over_several_messages_fails(void **state)
{
	const struct upstream parts[] = {
		{ "a.x.", T(A), 0, "a.x. 9 IN CNAME b.y.\n", NULL, NULL },
		{ "b.y.", T(A), 0, "b.y. 9 IN CNAME a.x.\n", NULL, NULL },
	};
	struct forward_chain *c = NULL;

	(void)state;
	assert_int_equal(add(&c, &parts[0]), FORWARD_CHAIN_OPEN);
	assert_int_equal(add(&c, &parts[1]), FORWARD_CHAIN_FAILED);
	forward_chain_free(c);
}

static void aliases_without_end_fail(void **state)
{
	struct forward_chain *c = NULL;
	char name[16], answer[64];
	struct upstream u = { name, T(A), 0, answer, NULL, NULL };

	(void)state;
	for (unsigned int i = 0; i <= FORWARD_CHAIN_ASKED; i++) {
		snprintf(name, sizeof(name), "n%u.x.", i);
		snprintf(answer, sizeof(answer), "n%u.x. 9 IN CNAME n%u.x.\n", i, i + 1);
		assert_int_equal(add(&c, &u), i < FORWARD_CHAIN_ASKED ? FORWARD_CHAIN_OPEN :
									FORWARD_CHAIN_FAILED);
	}
	forward_chain_free(c);
}

/* Adds the alias of this number with n NSEC records, whose owners are long. */
static enum forward_chain_state add_with_proofs(struct forward_chain **c, unsigned int number,
						unsigned int n)
{
	char name[16], answer[64], *authority;
	struct upstream u = { name, T(A), 0, answer, NULL, NULL };
	enum forward_chain_state state;
	size_t n_bytes;
	FILE *f = open_memstream(&authority, &n_bytes);

	for (unsigned int i = 0; i < n; i++)
		fprintf(f, "%.60s.%.60s.%.60s.p%u.x. 9 IN NSEC z.x. A\n", SIXTY, SIXTY, SIXTY, i);
	fclose(f);
	snprintf(name, sizeof(name), "n%u.x.", number);
	snprintf(answer, sizeof(answer), "n%u.x. 9 IN CNAME n%u.x.\n", number, number + 1);
	u.authority = authority;
	state = add(c, &u);
	free(authority);
	return state;
}

/* Each alias takes a walk over all records. */
static void aliases_among_many_records_are_not_followed(void **state)
{
	struct forward_chain *c = NULL;

	(void)state;
	assert_int_equal(add_with_proofs(&c, 0, FORWARD_CHAIN_RECORDS), FORWARD_CHAIN_WHOLE);
	assert_null(c);
	assert_int_equal(add_with_proofs(&c, 0, 9), FORWARD_CHAIN_OPEN);
	assert_int_equal(add_with_proofs(&c, 1, FORWARD_CHAIN_RECORDS), FORWARD_CHAIN_WHOLE);
	forward_chain_free(c);
}

static void a_chain_is_no_longer_than_a_message(void **state)
{
	struct forward_chain *c = NULL;

	(void)state;
	assert_int_equal(add_with_proofs(&c, 0, FORWARD_CHAIN_RECORDS - 1), FORWARD_CHAIN_OPEN);
	assert_int_equal(add_with_proofs(&c, 1, FORWARD_CHAIN_RECORDS - 1), FORWARD_CHAIN_FAILED);
	assert_true(c->n <= DNS_MESSAGE_MAX);
	forward_chain_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_whole_or_not),
		cmocka_unit_test(parts_are_joined_with_their_proofs),
		cmocka_unit_test(a_loop_over_several_messages_fails),
		cmocka_unit_test(aliases_without_end_fail),
		cmocka_unit_test(aliases_among_many_records_are_not_followed),
		cmocka_unit_test(a_chain_is_no_longer_than_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
