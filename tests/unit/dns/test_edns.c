/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/err.h"
#include "dns/edns.h"

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define COOKIE        (const uint8_t *)"clientxxserverxxserverxx"

static const struct {
	const char *name;
	struct edns_reply reply;
	const char *want;
	size_t n_bytes;
} cases[] = {
	{ "bare", { .udp_size = 1232, .ede_code = EDNS_NO_EDE }, "\0\0\x29\4\xd0\0\0\0\0\0\0", 11 },
	{ "DO",
	  { .udp_size = 1232, .dnssec_ok = true, .ede_code = EDNS_NO_EDE },
	  "\0\0\x29\4\xd0\0\0\x80\0\0\0",
	  11 },
	{ "BADVERS",
	  { .udp_size = 512, .rcode = DNS_RCODE_BADVERS, .ede_code = EDNS_NO_EDE },
	  "\0\0\x29\2\0\1\0\0\0\0\0",
	  11 },
	{ "BADCOOKIE, its low bits are the header's",
	  { .udp_size = 512, .rcode = DNS_RCODE_BADCOOKIE, .ede_code = EDNS_NO_EDE },
	  "\0\0\x29\2\0\1\0\0\0\0\0",
	  11 },
	{ "rcode 4095",
	  { .udp_size = 512, .rcode = 4095, .ede_code = EDNS_NO_EDE },
	  "\0\0\x29\2\0\xff\0\0\0\0\0",
	  11 },
	{ "cookie",
	  { .udp_size = 512, .cookie = COOKIE, .cookie_bytes = 24, .ede_code = EDNS_NO_EDE },
	  "\0\0\x29\2\0\0\0\0\0\0\x1c\0\x0a\0\x18"
	  "clientxxserverxxserverxx",
	  39 },
	{ "NSID",
	  { .udp_size = 512,
	    .nsid = (const uint8_t *)"ns1",
	    .nsid_bytes = 3,
	    .ede_code = EDNS_NO_EDE },
	  "\0\0\x29\2\0\0\0\0\0\0\7\0\3\0\3ns1",
	  18 },
	{ "empty NSID",
	  { .udp_size = 512, .nsid = (const uint8_t *)"", .ede_code = EDNS_NO_EDE },
	  "\0\0\x29\2\0\0\0\0\0\0\4\0\3\0\0",
	  15 },
	{ "EDE 0 without text",
	  { .udp_size = 512, .ede_code = DNS_EDE_OTHER },
	  "\0\0\x29\2\0\0\0\0\0\0\6\0\x0f\0\2\0\0",
	  17 },
	{ "EDE with text",
	  { .udp_size = 512, .ede_code = DNS_EDE_PROHIBITED, .ede_text = "no", .ede_text_bytes = 2 },
	  "\0\0\x29\2\0\0\0\0\0\0\x08\0\x0f\0\4\0\x12no",
	  19 },
	{ "all",
	  { .udp_size = 1232,
	    .rcode = DNS_RCODE_REFUSED,
	    .dnssec_ok = true,
	    .cookie = COOKIE,
	    .cookie_bytes = 16,
	    .nsid = (const uint8_t *)"a",
	    .nsid_bytes = 1,
	    .ede_code = 20 },
	  "\0\0\x29\4\xd0\0\0\x80\0\0\x1f"
	  "\0\x0a\0\x10"
	  "clientxxserverxx"
	  "\0\3\0\1a"
	  "\0\x0f\0\2\0\x14",
	  42 },
};

static void test_size_and_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(cases); i++) {
		struct wire_writer w;
		uint8_t buf[64];

		wire_writer_init(&w, buf, sizeof(buf));
		if (edns_reply_bytes(&cases[i].reply) != cases[i].n_bytes ||
		    edns_reply_write(&w, &cases[i].reply) || w.at != cases[i].n_bytes ||
		    memcmp(buf, cases[i].want, cases[i].n_bytes))
			fail_msg("%s", cases[i].name);
	}
}

static void test_every_capacity_too_small(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(cases); i++) {
		for (size_t cap = 0; cap < cases[i].n_bytes; cap++) {
			uint8_t buf[64] = { 0xee };
			struct wire_writer w;

			wire_writer_init(&w, buf, cap);
			assert_int_equal(edns_reply_write(&w, &cases[i].reply), ERR_SPACE);
			assert_int_equal(w.error, ERR_SPACE);
			assert_int_equal(w.at, 0);
			assert_int_equal(buf[0], 0xee);
		}
	}
}

/* If RDLENGTH cannot hold the length, nothing is written. */
static void test_options_longer_than_rdlength(void **state)
{
	static uint8_t text[65535], buf[200000];
	struct edns_reply reply = { .nsid = text, .ede_code = EDNS_NO_EDE };
	struct wire_writer w;

	(void)state;
	wire_writer_init(&w, buf, sizeof(buf));
	reply.nsid_bytes = 65531;
	assert_int_equal(edns_reply_write(&w, &reply), 0);
	assert_int_equal(w.at, 11 + 65535);
	wire_writer_init(&w, buf, sizeof(buf));
	reply.nsid_bytes = 65532;
	assert_int_equal(edns_reply_write(&w, &reply), ERR_SPACE);
	assert_int_equal(w.at, 0);
}

static void test_init_says_nothing(void **state)
{
	struct edns_reply reply = EDNS_REPLY_INIT;

	(void)state;
	assert_int_equal(edns_reply_bytes(&reply), DNS_OPT_FIXED_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size_and_bytes),
		cmocka_unit_test(test_every_capacity_too_small),
		cmocka_unit_test(test_options_longer_than_rdlength),
		cmocka_unit_test(test_init_says_nothing),
	};

	return cmocka_run_group_tests_name("edns", tests, NULL, NULL);
}
