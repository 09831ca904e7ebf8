/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/edns.h"
#include "dns/query.h"
#include "tests/lib/bytes.h"

#define WWW "\3www\7example\0"

static const struct forward_text asked = {
	.name = (const uint8_t *)WWW,
	.qtype = DNS_TYPE_A,
	.qclass = DNS_CLASS_IN,
	.id = 0x1234,
	.edns = true,
};

/* A reply with the header's second to sixth words, and the question. */
static struct bytes reply_of(uint16_t flags, const uint16_t counts[3])
{
	struct bytes b = { .n = DNS_HEADER_BYTES };

	wire_store_be16(b.at, asked.id);
	wire_store_be16(b.at + DNS_FLAGS_AT, DNS_FLAG_QR | flags);
	wire_store_be16(b.at + DNS_QDCOUNT_AT, 1);
	for (unsigned int i = 0; i < 3; i++)
		wire_store_be16(b.at + DNS_ANCOUNT_AT + 2 * i, counts[i]);
	add(&b, WWW "\0\1\0\1");
	return b;
}

#define A_RECORD "\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\xc0\0\2\1"
#define OPT      "\0\0\x29\4\xd0\0\0\x80\0\0\0"

static struct bytes plain_reply(void)
{
	struct bytes b = reply_of(DNS_FLAG_RA, (uint16_t[]){ 1, 0, 1 });

	add(&b, A_RECORD OPT);
	return b;
}

static void a_query_is_what_a_server_reads(void **state)
{
	uint8_t out[FORWARD_QUERY_MAX];
	struct query q;
	size_t n = forward_message_write(out, &asked);

	(void)state;
	assert_int_equal(query_parse(&q, out, n), QUERY_OK);
	assert_int_equal(q.end, n);
	assert_int_equal(q.id, asked.id);
	assert_int_equal(q.flags, DNS_FLAG_RD);
	assert_true(name_equal(q.qname, asked.name));
	assert_int_equal(q.qtype, DNS_TYPE_A);
	assert_int_equal(q.qclass, DNS_CLASS_IN);
	assert_true(q.edns.present && q.edns.dnssec_ok);
	assert_int_equal(q.edns.udp_size, FORWARD_UDP_BYTES);
}

static void checking_disabled_and_no_edns(void **state)
{
	struct forward_text text = asked;
	uint8_t out[FORWARD_QUERY_MAX];
	struct query q;
	size_t n;

	(void)state;
	text.checking_disabled = true;
	text.edns = false;
	n = forward_message_write(out, &text);
	assert_int_equal(query_parse(&q, out, n), QUERY_OK);
	assert_true(q.cd && !q.edns.present);
}

static void the_longest_name_has_room(void **state)
{
	uint8_t name[DNS_NAME_MAX] = { 0 }, out[FORWARD_QUERY_MAX];
	uint8_t cookie[UPSTREAM_COOKIE_MAX] = { 0 };
	struct forward_text text = asked;

	(void)state;
	for (unsigned int at = 0; at < DNS_NAME_MAX - 1; at += 2)
		memcpy(name + at, "\1a", 2);
	text.name = name;
	text.cookie = cookie;
	text.cookie_bytes = sizeof(cookie);
	assert_int_equal(forward_message_write(out, &text), FORWARD_QUERY_MAX);
}

static void a_cookie_is_written_and_read(void **state)
{
	static const uint8_t cookie[] = "CLIENT-8server-cookie-16";
	struct forward_text text = asked;
	uint8_t out[FORWARD_QUERY_MAX];
	struct forward_reply reply;
	struct query q;
	size_t n;

	(void)state;
	text.cookie = cookie;
	text.cookie_bytes = 24;
	n = forward_message_write(out, &text);
	assert_int_equal(query_parse(&q, out, n), QUERY_OK);
	assert_int_equal(q.end, n);
	assert_int_equal(forward_message_read(&reply, out, n), 0);
	assert_int_equal(reply.cookie_bytes, 24);
	assert_memory_equal(reply.cookie, cookie, 24);
	for (size_t i = 1; i <= 28; i++) /* the option is cut: the OPT is shorter than it says */
		assert_int_equal(forward_message_read(&reply, out, n - i), ERR_FORMAT);
	text.cookie = NULL;
	n = forward_message_write(out, &text);
	assert_int_equal(forward_message_read(&reply, out, n), 0);
	assert_null(reply.cookie);
}

static void letters_alone_change_their_case(void **state)
{
	struct forward_text text = asked;
	uint8_t out[FORWARD_QUERY_MAX];

	(void)state;
	text.name = (const uint8_t *)"\4a-1z\3\x7a{`\0";
	text.upper = UINT64_MAX;
	forward_message_write(out, &text);
	assert_memory_equal(out + DNS_HEADER_BYTES, "\4A-1Z\3Z{`\0", 10);
	text.upper = 1 << 4; /* octet 0 is the length of the first label */
	forward_message_write(out, &text);
	assert_memory_equal(out + DNS_HEADER_BYTES, "\4a-1Z\3z{`\0", 10);
}

static void a_reply_to_what_was_asked_matches(void **state)
{
	struct bytes b = plain_reply();
	struct forward_text text = asked;

	(void)state;
	assert_int_equal(forward_message_match(b.at, b.n, &asked), FORWARD_MATCH);
	b.at[DNS_HEADER_BYTES + 1] = 'W';
	assert_int_equal(forward_message_match(b.at, b.n, &asked), FORWARD_OTHER_CASE);
	text.upper = 1 << 1;
	assert_int_equal(forward_message_match(b.at, b.n, &text), FORWARD_MATCH);
	b.at[DNS_HEADER_BYTES + 1] = 'w';
	assert_int_equal(forward_message_match(b.at, b.n, &text), FORWARD_OTHER_CASE);
}

/* Each bit of header and question but those of flags and counts that may be anything. */
static void no_other_reply_matches(void **state)
{
	struct bytes good = plain_reply();
	size_t end = DNS_HEADER_BYTES + sizeof(WWW) - 1 + DNS_QUESTION_FIXED_BYTES;

	(void)state;
	for (size_t bit = 0; bit < 8 * end; bit++) {
		struct bytes b = good;
		size_t at = bit / 8;
		bool is_case, is_free;

		b.at[at] ^= (uint8_t)(1 << bit % 8);
		is_free = (at == 2 && bit % 8 < 3) || at == 3 ||
			  (at >= DNS_ANCOUNT_AT && at < DNS_HEADER_BYTES);
		is_case = at > DNS_HEADER_BYTES && at < end - 5 && at != DNS_HEADER_BYTES + 4 &&
			  bit % 8 == 5;
		assert_int_equal(forward_message_match(b.at, b.n, &asked),
				 is_free ? FORWARD_MATCH :
				 is_case ? FORWARD_OTHER_CASE :
					   FORWARD_OTHER);
	}
	for (size_t n = 0; n < end; n++)
		assert_int_equal(forward_message_match(good.at, n, &asked), FORWARD_OTHER);
}

static void an_error_may_be_a_header_alone(void **state)
{
	struct bytes b = reply_of(DNS_RCODE_FORMERR, (uint16_t[]){ 0, 0, 0 });
	struct forward_reply reply;

	(void)state;
	b.at[DNS_QDCOUNT_AT + 1] = 0;
	b.n = DNS_HEADER_BYTES;
	assert_int_equal(forward_message_match(b.at, b.n, &asked), FORWARD_MATCH_NO_QUESTION);
	assert_int_equal(forward_message_read(&reply, b.at, b.n), 0);
	assert_int_equal(reply.rcode, DNS_RCODE_FORMERR);
	b.at[DNS_FLAGS_AT + 1] = DNS_RCODE_NXDOMAIN;
	assert_int_equal(forward_message_match(b.at, b.n, &asked), FORWARD_OTHER);
	b.at[DNS_FLAGS_AT + 1] = DNS_RCODE_NOERROR;
	assert_int_equal(forward_message_match(b.at, b.n, &asked), FORWARD_OTHER);
}

static void a_reply_is_read_to_its_end_and_no_shorter_one(void **state)
{
	struct bytes b = plain_reply();
	struct forward_reply reply;
	size_t end = b.n;

	(void)state;
	add(&b, "rest");
	assert_int_equal(forward_message_read(&reply, b.at, b.n), 0);
	assert_int_equal(reply.end, end);
	assert_int_equal(reply.rcode, DNS_RCODE_NOERROR);
	assert_true(reply.has_opt && !reply.is_referral);
	assert_int_equal(reply.ede_code, EDNS_NO_EDE);
	for (size_t n = DNS_HEADER_BYTES; n < end; n++)
		assert_int_equal(forward_message_read(&reply, b.at, n), ERR_FORMAT);
}

static const struct {
	const char *what;
	uint16_t flags;
	uint16_t counts[3];
	const char *records;
	size_t n_bytes;
	int code;
	uint16_t rcode;
	int ede_code;
	bool is_referral;
} replies[] = {
#define RECORDS(text) text, sizeof(text) - 1
#define FIXED         "\0\1\0\1\0\0\0\0\0\0"
#define ZEROS         "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define NS            "\xc0\x10\0\2\0\1\0\0\0\1\0\2\xc0\x0c"
#define SOA           "\xc0\x10\0\6\0\1\0\0\0\1\0\0"
	{ "no record", 3, { 0, 0, 0 }, RECORDS(""), 0, 3, -1, false },
	{ "a pointer to itself",
	  0,
	  { 1, 0, 0 },
	  RECORDS("\xc0\x1d" FIXED),
	  ERR_FORMAT,
	  0,
	  -1,
	  false },
	{ "a pointer ahead", 0, { 1, 0, 0 }, RECORDS("\xc0\x1f" FIXED), ERR_FORMAT, 0, -1, false },
	{ "a pointer into the header",
	  0,
	  { 1, 0, 0 },
	  RECORDS("\xc0\x0b" FIXED),
	  ERR_FORMAT,
	  0,
	  -1,
	  false },
	{ "a pointer to a label that leads back",
	  0,
	  { 1, 0, 0 },
	  RECORDS("\1a\xc0\x1d" FIXED),
	  ERR_FORMAT,
	  0,
	  -1,
	  false },
	{ "a pointer to a name that is not over here",
	  0,
	  { 1, 0, 0 },
	  RECORDS("\xc0\x1a" FIXED ZEROS ZEROS),
	  ERR_FORMAT,
	  0,
	  -1,
	  false },
	{ "labels before a pointer", 0, { 1, 0, 0 }, RECORDS("\1a\xc0\x10" FIXED), 0, 0, -1, false },
	{ "another label type", 0, { 1, 0, 0 }, RECORDS("\x41" FIXED), ERR_FORMAT, 0, -1, false },
	{ "rdata too short",
	  0,
	  { 1, 0, 0 },
	  RECORDS("\0\0\1\0\1\0\0\0\0\0\5abcd"),
	  ERR_FORMAT,
	  0,
	  -1,
	  false },
	{ "more records than there are", 0, { 0, 0, 3 }, RECORDS(OPT NS), ERR_FORMAT, 0, -1, false },
	{ "two OPT", 0, { 0, 0, 2 }, RECORDS(OPT OPT), ERR_FORMAT, 0, -1, false },
	{ "an rcode of 12 bits",
	  7,
	  { 0, 0, 1 },
	  RECORDS("\0\0\x29\4\xd0\1\0\0\0\0\0"),
	  0,
	  23,
	  -1,
	  false },
	{ "an extended error",
	  2,
	  { 0, 0, 1 },
	  RECORDS("\0\0\x29\4\xd0\0\0\0\0\0\x0d\0\3\0\1x\0\x0f\0\4\0\6no"),
	  0,
	  2,
	  6,
	  false },
	{ "the first of two",
	  2,
	  { 0, 0, 1 },
	  RECORDS("\0\0\x29\4\xd0\0\0\0\0\0\x0c\0\x0f\0\2\0\x16\0\x0f\0\2\0\x17"),
	  0,
	  2,
	  22,
	  false },
	{ "an option longer than OPT",
	  2,
	  { 0, 0, 1 },
	  RECORDS("\0\0\x29\4\xd0\0\0\0\0\0\5\0\x0f\0\2\0\6"),
	  ERR_FORMAT,
	  0,
	  -1,
	  false },
	{ "a referral", 0, { 0, 1, 0 }, RECORDS(NS), 0, 0, -1, true },
	{ "with authority", DNS_FLAG_AA, { 0, 1, 0 }, RECORDS(NS), 0, 0, -1, false },
	{ "by a recursive server", DNS_FLAG_RA, { 0, 1, 0 }, RECORDS(NS), 0, 0, -1, false },
	{ "no data", 0, { 0, 2, 0 }, RECORDS(NS SOA), 0, 0, -1, false },
	{ "an answer beside it", 0, { 1, 1, 0 }, RECORDS(A_RECORD NS), 0, 0, -1, false },
	{ "NS in the additional section", 0, { 0, 0, 1 }, RECORDS(NS), 0, 0, -1, false },
};

static void replies_of_every_kind(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(replies) / sizeof(*replies); i++) {
		struct bytes b = reply_of(replies[i].flags, replies[i].counts);
		struct forward_reply reply;
		int code;

		add_bytes(&b, replies[i].records, replies[i].n_bytes);
		code = forward_message_read(&reply, b.at, b.n);
		if (code != replies[i].code)
			fail_msg("%s: %d", replies[i].what, code);
		if (!code &&
		    (reply.rcode != replies[i].rcode || reply.ede_code != replies[i].ede_code ||
		     reply.end != b.n || reply.is_referral != replies[i].is_referral))
			fail_msg("%s: rcode %u, EDE %d, %zu octets", replies[i].what, reply.rcode,
				 reply.ede_code, reply.end);
	}
}

/* A name of 256 octets: four labels of 63 before the pointer to one more. */
static void a_name_too_long_by_its_pointer(void **state)
{
	struct bytes b = reply_of(0, (uint16_t[]){ 1, 0, 0 });
	struct forward_reply reply;
	char label[64] = { 63 };

	(void)state;
	memset(label + 1, 'a', 63);
	for (unsigned int i = 0; i < 3; i++)
		add_bytes(&b, label, 64);
	label[0] = 53; /* 192 + 54 + 9 = 255 with \7example */
	add_bytes(&b, label, 54);
	add(&b, "\xc0\x10" FIXED);
	assert_int_equal(forward_message_read(&reply, b.at, b.n), 0);
	b = reply_of(0, (uint16_t[]){ 1, 0, 0 });
	label[0] = 63;
	for (unsigned int i = 0; i < 3; i++)
		add_bytes(&b, label, 64);
	label[0] = 54;
	add_bytes(&b, label, 55);
	add(&b, "\xc0\x10" FIXED);
	assert_int_equal(forward_message_read(&reply, b.at, b.n), ERR_FORMAT);
}

static void an_answer_is_ours(void **state)
{
	struct bytes b = plain_reply();

	(void)state;
	wire_store_be16(b.at + DNS_FLAGS_AT, 0xffff & ~DNS_OPCODE_MASK & ~DNS_RCODE_MASK);
	b.at[DNS_FLAGS_AT + 1] |= DNS_RCODE_NXDOMAIN;
	b.at[DNS_HEADER_BYTES + 1] = 'W';
	forward_message_finish(b.at, asked.name);
	assert_int_equal(wire_load_be16(b.at), 0);
	assert_int_equal(wire_load_be16(b.at + DNS_FLAGS_AT),
			 DNS_FLAG_QR | DNS_FLAG_RD | DNS_FLAG_RA | DNS_RCODE_NXDOMAIN);
	assert_memory_equal(b.at + DNS_HEADER_BYTES, WWW, sizeof(WWW) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_is_what_a_server_reads),
		cmocka_unit_test(checking_disabled_and_no_edns),
		cmocka_unit_test(the_longest_name_has_room),
		cmocka_unit_test(a_cookie_is_written_and_read),
		cmocka_unit_test(letters_alone_change_their_case),
		cmocka_unit_test(a_reply_to_what_was_asked_matches),
		cmocka_unit_test(no_other_reply_matches),
		cmocka_unit_test(an_error_may_be_a_header_alone),
		cmocka_unit_test(a_reply_is_read_to_its_end_and_no_shorter_one),
		cmocka_unit_test(replies_of_every_kind),
		cmocka_unit_test(a_name_too_long_by_its_pointer),
		cmocka_unit_test(an_answer_is_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
