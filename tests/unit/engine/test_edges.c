/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ends of the ranges: the root zone, the longest names, any octet, answers that fit nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/engine/world.h"

#define T(t) DNS_TYPE_##t
#define AA   DNS_FLAG_AA
#define TC   DNS_FLAG_TC

#define L59 "23456789012345678901234567890123456789012345678901234567890"
#define L61 "a" L59 "1"
#define L63 L61 "23"

/* 3 * 64 + 62 + 1 octets: the most that there can be, in a zone one label below the root. */
#define LONGEST L63 "." L63 "." L63 "." L61

static const char zone_root[] =
	"$TTL 60\n"
	"@ SOA a.ns. root. 1 2 3 4 5\n@ NS a.ns.\nns. NS a.ns.\na.ns. A 192.0.2.1\n"
	"com. NS a.ns.\nnet. NS ns.net.\nnet. DS 1 13 2 "
	"0011223344556677889900112233445566778899001122"
	"334455667788990011\nns.net. A 192.0.2.2\n" LONGEST ". A 192.0.2.3\n"
	"*." L63 "." L63 "." L63 ".w. TXT \"deep\"\n"
	"\\000\\255\\.\\@.odd. A 192.0.2.4\n*.short. A 192.0.2.5\nUP.odd. A 192.0.2.6\n";

static struct world world;

/* cut: 8 in-domain name servers with 8 AAAA each, more than a UDP reply takes. */
static char *large_zone(void)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	MUST(f);
	fprintf(f, "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n");
	for (unsigned int i = 0; i < 64; i++)
		fprintf(f,
			"cut NS ns%u.cut\nns%u.cut AAAA 2001:db8::%u\nns%u.cut AAAA 2001:db8::%u\n",
			i % 8, i % 8, i, i % 8, i + 100);
	for (unsigned int i = 0; i < 250; i++)
		fprintf(f, "most TXT \"%0230u\"\n", i);
	for (unsigned int i = 0; i < 270; i++)
		fprintf(f, "both TXT \"%0120u\"\nboth TYPE65280 \\# 4 %08x\n", i, i);
	for (unsigned int i = 0; i < 1000; i++)
		fprintf(f, "both NAPTR 1 %u \"%020u\" \"\" \"\" .\n", i, i);
	for (unsigned int i = 0; i < 257; i++)
		fprintf(f, "brim TXT \"%0240u\"\n", i);
	fprintf(f, "brim RRSIG TXT 13 3 60 20380101000000 20260101000000 1 large.test. %0900u\n",
		0);
	for (unsigned int i = 0; i < 300; i++)
		fprintf(f, "never TXT \"%0240u\"\n", i);
	fprintf(f, "never A 192.0.2.1\nalias CNAME never\nmail MX 1 addresses\n");
	for (unsigned int i = 0; i < 5000; i++)
		fprintf(f, "addresses A 10.1.%u.%u\n", i / 256, i % 256);
	fclose(f);
	return text;
}

static int setup(void **state)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	char *large = large_zone();

	world_begin(&world, state);
	config.any = ENGINE_ANY_FULL;
	world_add_zone(&world, ".", zone_root);
	world_add_zone(&world, "large.test", large);
	free(large);
	world_open(&world, &config);
	return 0;
}

static const struct {
	const char *what;
	struct ask ask;
	uint16_t flags;
	uint16_t answer, authority, additional; /* records, OPT too */
} rows[] = {
	{ "the root itself", { .name = ".", .type = T(NS) }, AA, 1, 0, 1 },
	{ "SOA of the root", { .name = ".", .type = T(SOA) }, AA, 1, 1, 1 },
	{ "NODATA at the root", { .name = ".", .type = T(A) }, AA, 0, 1, 0 },
	{ "DS of the root", { .name = ".", .type = T(DS) }, AA, 0, 1, 0 },
	{ "no such TLD", { .name = "nothere", .type = T(A) }, AA | DNS_RCODE_NXDOMAIN, 0, 1, 0 },
	{ "referral without glue below", { .name = "www.com", .type = T(A) }, 0, 0, 1, 1 },
	{ "referral with glue", { .name = "www.net", .type = T(A) }, 0, 0, 1, 1 },
	{ "DS of a TLD", { .name = "net", .type = T(DS) }, AA, 1, 0, 0 },
	{ "a zone below the root", { .name = "ns.large.test", .type = T(A) }, AA, 1, 1, 0 },
	{ "255 octets", { .name = LONGEST, .type = T(A) }, AA, 1, 1, 1 },
	{ "255 octets, NODATA", { .name = LONGEST, .type = T(TXT) }, AA, 0, 1, 0 },
	{ "255 octets, not there",
	  { .name = L63 "." L63 "." L63 ".b" L59 "1", .type = T(A) },
	  AA | DNS_RCODE_NXDOMAIN,
	  0,
	  1,
	  0 },
	{ "255 octets from a wildcard",
	  { .name = L59 "." L63 "." L63 "." L63 ".w", .type = T(TXT) },
	  AA,
	  1,
	  1,
	  1 },
	{ "any octet", { .name = "\\000\\255\\.\\@.odd", .type = T(A) }, AA, 1, 1, 1 },
	{ "any octet from a wildcard", { .name = "\\000\\200.short", .type = T(A) }, AA, 1, 1, 1 },
	{ "letter case on both sides", { .name = "uP.oDD", .type = T(A) }, AA, 1, 1, 1 },
	{ "required glue over UDP",
	  { .name = "www.cut.large.test", .type = T(A), .udp_size = 4096 },
	  TC,
	  0,
	  0,
	  1 },
	{ "required glue over TCP",
	  { .name = "www.cut.large.test", .type = T(A), .stream = true },
	  0,
	  0,
	  8,
	  128 },
	{ "60 KiB over UDP", { .name = "most.large.test", .type = T(TXT) }, AA | TC, 0, 0, 0 },
	{ "60 KiB over TCP",
	  { .name = "most.large.test", .type = T(TXT), .stream = true, .udp_size = 1232 },
	  AA,
	  250,
	  1,
	  2 },
	{ "64 KiB but for some octets",
	  { .name = "brim.large.test", .type = T(TXT), .stream = true, .udp_size = 1232 },
	  AA,
	  257,
	  1,
	  2 },
	{ "64 KiB but for some octets, for which the signature is too large",
	  { .name = "brim.large.test",
	    .type = T(TXT),
	    .stream = true,
	    .udp_size = 1232,
	    .dnssec_ok = true },
	  DNS_RCODE_SERVFAIL,
	  0,
	  0,
	  1 },
	{ "more than 64 KiB over UDP",
	  { .name = "both.large.test", .type = T(ANY), .udp_size = 4096 },
	  AA | TC,
	  0,
	  0,
	  1 },
	{ "an RRset of more than 64 KiB over UDP",
	  { .name = "never.large.test", .type = T(TXT) },
	  AA | TC,
	  0,
	  0,
	  0 },
	{ "an RRset of more than 64 KiB over TCP",
	  { .name = "never.large.test", .type = T(TXT), .stream = true },
	  DNS_RCODE_SERVFAIL,
	  0,
	  0,
	  0 },
	{ "beside an RRset of more than 64 KiB",
	  { .name = "never.large.test", .type = T(A) },
	  AA,
	  1,
	  1,
	  1 },
	{ "an alias to an RRset of more than 64 KiB",
	  { .name = "alias.large.test", .type = T(TXT) },
	  AA | TC,
	  0,
	  0,
	  0 },
	{ "more than 64 KiB of optional addresses",
	  { .name = "mail.large.test", .type = T(MX), .stream = true },
	  AA,
	  1,
	  1,
	  0 },
	{ "more than 64 KiB",
	  { .name = "both.large.test", .type = T(ANY), .stream = true },
	  DNS_RCODE_SERVFAIL,
	  0,
	  0,
	  0 },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static struct reply r, hit;

		send_ask(world.uncached, &rows[i].ask, &r);
		if (reply_flags(&r) != (DNS_FLAG_QR | rows[i].flags) ||
		    reply_count(&r, DNS_ANCOUNT_AT) != rows[i].answer ||
		    reply_count(&r, DNS_NSCOUNT_AT) != rows[i].authority ||
		    reply_count(&r, DNS_ARCOUNT_AT) != rows[i].additional)
			fail_msg("%s: flags %04x, %u %u %u\n", rows[i].what, reply_flags(&r),
				 reply_count(&r, DNS_ANCOUNT_AT), reply_count(&r, DNS_NSCOUNT_AT),
				 reply_count(&r, DNS_ARCOUNT_AT));
		for (unsigned int n = 0; n < 2; n++) {
			send_ask(world.engine, &rows[i].ask, &hit);
			assert_true(same_reply(&r, &hit));
		}
	}
}

static void test_too_large_is_counted(void **state)
{
	struct ask ask = { .name = "both.large.test", .type = T(ANY), .udp_size = 1232 };
	struct engine_counters before, after;
	struct reply r;

	(void)state;
	engine_counters_read(world.engine, &before);
	send_ask(world.engine, &ask, &r);
	engine_counters_read(world.engine, &after);
	assert_true(reply_flags(&r) & TC);
	assert_int_equal(after.too_large, before.too_large + 1);
	assert_int_equal(after.published, before.published);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_too_large_is_counted),
	};

	return cmocka_run_group_tests(tests, setup, world_end);
}
