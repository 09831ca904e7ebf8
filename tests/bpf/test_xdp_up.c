/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages that the XDP program does not understand go up unchanged, each with its reason; features
 * that change no answer do not prevent an answer. The cache has an answer for the question, so a
 * message that is wrongly accepted would be answered. (UP_MISS to UP_ORPHANED: test_xdp_cache.c;
 * UP_NO_ROOM: test_xdp_growth.c.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "tests/lib/xdpworld.h"

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

static struct xdp_world *take(void **state)
{
	static uint8_t name[PKT_NAME_MAX];

	pkt_name(name, "www.example");
	return xdp_world_take_with(state, name);
}

/* Sends the message over both families; reason is a hit or an up. */
static void expect(struct xdp_world *w, const char *what, const void *message, size_t n, int reason)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		size_t bytes = pkt_build(frame, ipv6 ? &pkt_ipv6 : &pkt_ipv4, message, n);

		if (reason <= VOLLEY_HIT_TRUNCATED)
			xdp_expect_answer(w, what, frame, bytes, reason, &result, &answer);
		else
			xdp_expect_unchanged(w, what, frame, bytes, reason);
	}
}

struct message_row {
	const char *name;
	int reason;
	const char *octets;
	size_t n;
};

#define M(octets)         (octets), sizeof(octets) - 1
#define HEAD(counts)      "\x12\x34\1\0" counts
#define ONE               HEAD("\0\1\0\0\0\0\0\0")
#define ONE_OPT           HEAD("\0\1\0\0\0\0\0\1")
#define WWW               "\3www\7example\0"
#define ASK               WWW "\0\1\0\1"
#define OPT_HEAD          "\0\0\x29\4\xd0"
#define OPT(options, len) OPT_HEAD "\0\0\0\0" len options

static const struct message_row message_rows[] = {
	{ "a query", VOLLEY_HIT_FULL, M(ONE ASK) },
	{ "with OPT", VOLLEY_HIT_FULL, M(ONE_OPT ASK OPT("", "\0\0")) },
	{ "header alone, no question", VOLLEY_UP_COUNTS, M(HEAD("\0\0\0\0\0\0\0\0")) },
	{ "two questions", VOLLEY_UP_COUNTS, M(HEAD("\0\2\0\0\0\0\0\0") ASK ASK) },
	{ "an answer record", VOLLEY_UP_COUNTS, M(HEAD("\0\1\0\1\0\0\0\0") ASK) },
	{ "an authority record", VOLLEY_UP_COUNTS, M(HEAD("\0\1\0\0\0\1\0\0") ASK) },
	{ "two additional records", VOLLEY_UP_COUNTS,
	  M(HEAD("\0\1\0\0\0\0\0\2") ASK OPT("", "\0\0") OPT("", "\0\0")) },
	{ "256 additional records", VOLLEY_UP_COUNTS,
	  M(HEAD("\0\1\0\0\0\0\1\0") ASK OPT("", "\0\0")) },
	{ "256 questions", VOLLEY_UP_COUNTS, M(HEAD("\1\0\0\0\0\0\0\0") ASK) },
	{ "name is a pointer", VOLLEY_UP_NAME, M(ONE "\xc0\x0c\0\1\0\1") },
	{ "name ends in a pointer", VOLLEY_UP_NAME, M(ONE "\3www\xc0\x0c\0\1\0\1") },
	{ "label type 01", VOLLEY_UP_NAME, M(ONE "\x41www\0\0\1\0\1") },
	{ "label type 10", VOLLEY_UP_NAME, M(ONE "\x83www\0\0\1\0\1") },
	{ "class CH", VOLLEY_UP_CLASS, M(ONE WWW "\0\1\0\3") },
	{ "class ANY", VOLLEY_UP_CLASS, M(ONE WWW "\0\1\0\xff") },
	{ "class 257", VOLLEY_UP_CLASS, M(ONE WWW "\0\1\1\1") },
	{ "an octet behind the question", VOLLEY_HIT_FULL, M(ONE ASK "\0") },
	{ "OPT that is not counted", VOLLEY_HIT_FULL, M(ONE ASK OPT("", "\0\0")) },
	{ "OPT counted, not there", VOLLEY_UP_TAIL, M(ONE_OPT ASK) },
	{ "OPT cut short", VOLLEY_UP_TAIL, M(ONE_OPT ASK OPT_HEAD "\0\0\0\0\0") },
	{ "an octet behind OPT", VOLLEY_HIT_FULL, M(ONE_OPT ASK OPT("", "\0\0") "\0") },
	{ "OPT longer than the message", VOLLEY_UP_TAIL, M(ONE_OPT ASK OPT("\0\3\0", "\0\4")) },
	{ "OPT of 65535 octets", VOLLEY_UP_TAIL, M(ONE_OPT ASK OPT("", "\xff\xff")) },
	{ "another owner of OPT", VOLLEY_UP_EDNS, M(ONE_OPT ASK "\1\0\x29\4\xd0\0\0\0\0\0\0") },
	{ "an A record, no OPT", VOLLEY_UP_EDNS, M(ONE_OPT ASK "\0\0\1\0\1\0\0\0\0\0\0") },
	{ "TSIG", VOLLEY_UP_EDNS, M(ONE_OPT ASK "\0\0\xfa\0\xff\0\0\0\0\0\0") },
	{ "EDNS version 1", VOLLEY_UP_EDNS, M(ONE_OPT ASK OPT_HEAD "\0\1\0\0\0\0") },
	{ "EDNS version 255", VOLLEY_UP_EDNS, M(ONE_OPT ASK OPT_HEAD "\0\xff\0\0\0\0") },
	{ "an extended rcode in a query", VOLLEY_HIT_FULL, M(ONE_OPT ASK OPT_HEAD "\1\0\0\0\0\0") },
	{ "COOKIE of the client", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT("\0\x0a\0\x08"
			    "12345678",
			    "\0\x0c")) },
	{ "COOKIE behind others", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT("\0\3\0\0\0\x0c\0\2\0\0\0\x0a\0\x08"
			    "12345678",
			    "\0\x16")) },
	{ "COOKIE, and a malformed one behind it", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT("\0\x0a\0\x08"
			    "12345678"
			    "\0\x0a\0\1x",
			    "\0\x11")) },
	{ "COOKIE malformed", VOLLEY_UP_OPTION, M(ONE_OPT ASK OPT("\0\x0a\0\1x", "\0\5")) },
	{ "an option of one octet", VOLLEY_UP_OPTIONS, M(ONE_OPT ASK OPT("\0", "\0\1")) },
	{ "an option of three octets", VOLLEY_UP_OPTIONS, M(ONE_OPT ASK OPT("\0\3\0", "\0\3")) },
	{ "an option longer than OPT", VOLLEY_UP_OPTIONS,
	  M(ONE_OPT ASK OPT("\0\3\0\5"
			    "1234",
			    "\0\x08")) },
	{ "an option of 65535 octets", VOLLEY_UP_OPTIONS,
	  M(ONE_OPT ASK OPT("\0\3\xff\xff"
			    "1234",
			    "\0\x08")) },
	{ "octets behind the last option", VOLLEY_UP_OPTIONS,
	  M(ONE_OPT ASK OPT("\0\3\0\0\0\3", "\0\6")) },
	{ "nine options", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT(
		  "\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0",
		  "\0\x24")) },
	{ "eight options", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT("\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0\0\3\0\0",
			    "\0\x20")) },
	{ "client subnet", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT("\0\x08\0\7\0\1\x18\0\xc6\x33\x64", "\0\x0b")) },
	{ "padding", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT("\0\x0c\0\x08\0\0\0\0\0\0\0\0", "\0\x0c")) },
	{ "an option for local use", VOLLEY_HIT_FULL,
	  M(ONE_OPT ASK OPT("\xfd\xe9\0\3abc", "\0\7")) },
	{ "an option 64 above COOKIE", VOLLEY_HIT_FULL, M(ONE_OPT ASK OPT("\0\x4a\0\0", "\0\4")) },
	{ "an option 256 above COOKIE", VOLLEY_HIT_FULL, M(ONE_OPT ASK OPT("\1\x0a\0\0", "\0\4")) },
};

/* Very many options: the last of them counts, too. */
static void test_many_options(void **state)
{
	static const struct {
		const char *what, *last;
		size_t bytes;
		int reason;
	} rows[] = {
		{ "padding", "\0\x0c\0\1x", 5, VOLLEY_HIT_FULL },
		{ "COOKIE",
		  "\0\x0a\0\x08"
		  "12345678",
		  12, VOLLEY_HIT_FULL },
		{ "a malformed COOKIE", "\0\x0a\0\1x", 5, VOLLEY_UP_OPTION },
		{ "an option longer than OPT", "\0\3\0\2x", 5, VOLLEY_UP_OPTIONS },
		{ "three octets", "\0\3\0", 3, VOLLEY_UP_OPTIONS },
	};
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	static uint8_t options[2048];
	struct pkt_ask ask = { .name = (const uint8_t *)WWW, .edns = true, .options = options };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 0; n <= 500; n++) {
			memset(options, 0, sizeof(options));
			for (size_t k = 0; k < n; k++)
				options[4 * k + 1] = 3; /* empty */
			memcpy(options + 4 * n, rows[i].last, rows[i].bytes);
			ask.n_options = 4 * n + rows[i].bytes;
			expect(w, rows[i].what, dns, pkt_ask(dns, &ask),
			       12 + sizeof(WWW) - 1 + 4 + 11 + ask.n_options > 2047 ?
				       VOLLEY_UP_LONG_QUERY :
				       rows[i].reason);
		}
}

static void test_messages(void **state)
{
	struct xdp_world *w = take(state);

	for (size_t i = 0; i < sizeof(message_rows) / sizeof(message_rows[0]); i++) {
		const struct message_row *row = &message_rows[i];

		expect(w, row->name, row->octets, row->n, row->reason);
	}
}

static void expect_cut(struct xdp_world *w, const char *what, size_t n, size_t bytes)
{
	int reason = n < PKT_DNS_HEADER ? VOLLEY_PASS_DNS_SHORT : VOLLEY_UP_TAIL;

	xdp_world_run(w, frame, bytes, &result);
	if (result.action != XDP_PASS || result.bytes != bytes ||
	    memcmp(result.frame, frame, bytes))
		fail_msg("%zu octets, %s: action %d", n, what, result.action);
	if (n >= PKT_DNS_HEADER && n < PKT_DNS_HEADER + 13 && result.reason == VOLLEY_UP_NAME)
		return; /* where the frame ends, too */
	if (result.reason != reason)
		fail_msg("%zu octets, %s: %s", n, what, xdp_reason_name(result.reason));
}

/*
 * No prefix of a query is accepted as a query, even if the frame has the rest behind the end by IP
 * and UDP.
 */
static void test_every_message_length(void **state)
{
	struct xdp_world *w = take(state);
	const char message[] = ONE_OPT ASK OPT("\0\3\0\0\0\x0c\0\2\0\0", "\0\x0a");
	size_t whole = sizeof(message) - 1;

	expect(w, "whole", message, whole, VOLLEY_HIT_FULL);
	for (size_t n = 0; n < whole; n++) {
		size_t bytes = pkt_build(frame, &pkt_ipv4, message, n);

		expect_cut(w, "the end of the frame", n, bytes);
		memcpy(frame + bytes, message + n, whole - n);
		expect_cut(w, "the rest behind the end", n, bytes + whole - n);
	}
}

/* All 65,536 second words of the header. */
static void test_every_flags_word(void **state)
{
	struct xdp_world *w = take(state);
	uint8_t message[] = ONE ASK;
	size_t n = sizeof(message) - 1;

	for (unsigned int flags = 0; flags < 65536; flags++) {
		int reason = flags & PKT_QR  ? VOLLEY_PASS_RESPONSE :
			     flags & 0x7800u ? VOLLEY_UP_OPCODE :
			     flags & PKT_CD  ? VOLLEY_UP_MISS :
					       VOLLEY_HIT_FULL;
		char what[32];

		snprintf(what, sizeof(what), "flags %04x", flags);
		message[2] = (uint8_t)(flags >> 8);
		message[3] = (uint8_t)flags;
		expect(w, what, message, n, reason);
	}
}

/* All types and all classes; the entry is for A and IN. */
static void test_every_type_and_class(void **state)
{
	struct xdp_world *w = take(state);
	uint8_t message[] = ONE ASK;
	size_t n = sizeof(message) - 1;

	for (unsigned int i = 0; i < 2 * 65536; i++) {
		uint8_t *at = message + n - (i & 1 ? 2 : 4);
		char what[32];

		snprintf(what, sizeof(what), "%s %u", i & 1 ? "class" : "type", i / 2);
		at[0] = (uint8_t)(i / 2 >> 8);
		at[1] = (uint8_t)(i / 2);
		xdp_world_run(w, frame, pkt_build(frame, &pkt_ipv4, message, n), &result);
		if (result.reason != (i / 2 == 1 ? VOLLEY_HIT_FULL :
				      i & 1      ? VOLLEY_UP_CLASS :
						   VOLLEY_UP_MISS))
			fail_msg("%s: %s", what, xdp_reason_name(result.reason));
		at[0] = 0;
		at[1] = 1;
	}
}

/* All option codes: only those of the mask go up. */
static void test_every_option(void **state)
{
	struct xdp_world *w = take(state);
	uint8_t message[] = ONE_OPT ASK OPT("\0\0\0\0", "\0\4");
	size_t n = sizeof(message) - 1;

	w->maps.memory.state->option_up_mask = 1ull << 10 | 1ull << 63 | 1;
	for (unsigned int code = 0; code < 65536; code++) {
		bool up = code == 0 || code == 10 || code == 63;

		message[n - 4] = (uint8_t)(code >> 8);
		message[n - 3] = (uint8_t)code;
		xdp_world_run(w, frame, pkt_build(frame, &pkt_ipv4, message, n), &result);
		if (result.reason != (up ? VOLLEY_UP_OPTION : VOLLEY_HIT_FULL))
			fail_msg("option %u: %s", code, xdp_reason_name(result.reason));
	}
}

/* Padding options that make the query up to 2,063 octets long: up to 2,047 are accepted. */
static void test_long_queries(void **state)
{
	struct xdp_world *w = take(state);
	uint8_t options[2100] = { 0, 12 };
	struct pkt_ask ask = { .name = (const uint8_t *)WWW, .edns = true, .options = options };
	char what[32];

	for (size_t n = 1900; n < 2020; n++) {
		size_t bytes;

		options[2] = (uint8_t)(n >> 8);
		options[3] = (uint8_t)n;
		ask.n_options = 4 + n;
		bytes = pkt_ask(dns, &ask);
		snprintf(what, sizeof(what), "query of %zu octets", bytes);
		expect(w, what, dns, bytes, bytes <= 2047 ? VOLLEY_HIT_FULL : VOLLEY_UP_LONG_QUERY);
	}
	assert_true(pkt_ask(dns, &ask) > 2050);
}

/* Names that are too long, in octets and in labels. */
static void test_long_names(void **state)
{
	struct xdp_world *w = take(state);
	char what[32];

	for (size_t n = 254; n < 300; n++) {
		uint8_t *at = dns;

		memcpy(at, ONE, PKT_DNS_HEADER);
		at += PKT_DNS_HEADER;
		for (size_t left = n - 1; left;) {
			size_t label = left > 64 ? (left == 65 ? 32 : 63) : left - 1;

			*at++ = (uint8_t)label;
			memset(at, 'a', label);
			at += label;
			left -= 1 + label;
		}
		memcpy(at, "\0\0\1\0\1", 5);
		snprintf(what, sizeof(what), "name of %zu octets", n);
		expect(w, what, dns, (size_t)(at + 5 - dns),
		       n <= PKT_NAME_MAX ? VOLLEY_UP_MISS : VOLLEY_UP_NAME);
	}
	memset(dns, 'a', 200);
	memcpy(dns, ONE, PKT_DNS_HEADER);
	dns[PKT_DNS_HEADER] = 64;
	memcpy(dns + PKT_DNS_HEADER + 65, "\0\0\1\0\1", 5);
	expect(w, "a label of 64 octets", dns, PKT_DNS_HEADER + 70, VOLLEY_UP_NAME);
	dns[PKT_DNS_HEADER] = 63;
	memcpy(dns + PKT_DNS_HEADER + 64, "\0\0\1\0\1", 5);
	expect(w, "a label of 63 octets", dns, PKT_DNS_HEADER + 69, VOLLEY_UP_MISS);
	memcpy(dns, ONE, PKT_DNS_HEADER);
	for (size_t i = 0; i < 128; i++)
		memcpy(dns + PKT_DNS_HEADER + 2 * i, "\1a", 2);
	memcpy(dns + PKT_DNS_HEADER + 256, "\0\0\1\0\1", 5);
	expect(w, "128 labels", dns, PKT_DNS_HEADER + 261, VOLLEY_UP_NAME);
	memcpy(dns + PKT_DNS_HEADER + 254, "\0\0\1\0\1", 5);
	expect(w, "127 labels", dns, PKT_DNS_HEADER + 259, VOLLEY_UP_MISS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_many_options),
		cmocka_unit_test(test_every_message_length),
		cmocka_unit_test(test_every_flags_word),
		cmocka_unit_test(test_every_type_and_class),
		cmocka_unit_test(test_every_option),
		cmocka_unit_test(test_long_queries),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
