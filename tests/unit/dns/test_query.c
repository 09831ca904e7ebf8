/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages are string literals made of macros: header, question, records. In rows with "(all)",
 * knotd 3.2, nsd 4.6 and named 9.18 answered alike; for the others query.h says which of them we
 * follow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "dns/query.h"

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define MSG(s)        (const uint8_t *)(s), sizeof(s) - 1

#define ID                   "\x12\x34"
#define HEAD(qd, an, ns, ar) ID "\0\0\0" qd "\0" an "\0" ns "\0" ar
#define NAME                 "\3wWw\7Example\0"
#define IN_A                 "\0\1\0\1"
#define Q                    NAME IN_A
#define RR_A                 "\xc0\x0c\0\1\0\1\0\0\0\0\0\4\1\2\3\4"
#define TSIG                 "\3key\0\0\xfa\0\xff\0\0\0\0\0\2ab"

/* OPT, 1232 octets: version, the two flag octets, RDLENGTH and options. */
#define OPTV(version, flags, n, options) "\0\0\x29\4\xd0\0" version flags "\0" n options
#define OPT(n, options)                  OPTV("\0", "\0\0", n, options)
#define NO_OPT                           OPT("\0", "")
#define CK8            \
	"\0\x0a\0\x08" \
	"abcdefgh"

static const struct {
	const char *name;
	const uint8_t *msg;
	size_t len;
	enum query_verdict verdict;
	bool has_question, has_opt;
} cases[] = {
	{ "plain", MSG(HEAD("\1", "\0", "\0", "\0") Q), QUERY_OK, true, false },
	{ "root", MSG(HEAD("\1", "\0", "\0", "\0") "\0\0\2\0\1"), QUERY_OK, true, false },
	{ "with OPT", MSG(HEAD("\1", "\0", "\0", "\1") Q NO_OPT), QUERY_OK, true, true },

	/* Nothing to answer (all). */
	{ "no octet", MSG(""), QUERY_IGNORE, false, false },
	{ "11 octets", MSG(ID "\0\0\0\1\0\0\0\0\0"), QUERY_IGNORE, false, false },
	{ "QR", MSG(ID "\x80\0\0\1\0\0\0\0\0\0" Q), QUERY_IGNORE, false, false },

	/* The number of questions: RFC 9619. */
	{ "no question", MSG(HEAD("\0", "\0", "\0", "\0")), QUERY_FORMERR, false, false },
	{ "no question, OPT", MSG(HEAD("\0", "\0", "\0", "\1") NO_OPT), QUERY_FORMERR, false,
	  true },
	{ "no question, COOKIE", MSG(HEAD("\0", "\0", "\0", "\1") OPT("\x0c", CK8)),
	  QUERY_COOKIE_ONLY, false, true },
	{ "no question, short COOKIE", MSG(HEAD("\0", "\0", "\0", "\1") OPT("\5", "\0\x0a\0\1a")),
	  QUERY_FORMERR, false, true },
	{ "two questions", MSG(HEAD("\2", "\0", "\0", "\0") Q Q), QUERY_FORMERR, false, false },
	{ "256 questions", MSG(ID "\0\0\1\0\0\0\0\0\0\0" Q), QUERY_FORMERR, false, false },
	{ "question missing", MSG(HEAD("\1", "\0", "\0", "\0")), QUERY_FORMERR, false, false },

	/* The question's name. */
	{ "qname a pointer to itself", MSG(HEAD("\1", "\0", "\0", "\0") "\xc0\x0c" IN_A),
	  QUERY_FORMERR, false, false },
	{ "qname a pointer into the header", MSG(HEAD("\1", "\0", "\0", "\0") "\3www\xc0\4" IN_A),
	  QUERY_FORMERR, false, false },
	{ "qname with a bit label", MSG(HEAD("\1", "\0", "\0", "\0") "\x41\1\0" IN_A),
	  QUERY_FORMERR, false, false },
	{ "class missing", MSG(HEAD("\1", "\0", "\0", "\0") NAME "\0\1"), QUERY_FORMERR, false,
	  false },

	/* Other opcodes. */
	{ "STATUS", MSG(ID "\x10\0\0\1\0\0\0\0\0\0" Q), QUERY_NOTIMP, true, false },
	{ "NOTIFY", MSG(ID "\x20\0\0\1\0\0\0\0\0\0" Q), QUERY_NOTIMP, true, false },
	{ "UPDATE", MSG(ID "\x28\0\0\1\0\0\0\0\0\1" Q NO_OPT), QUERY_NOTIMP, true, true },
	{ "opcode 15, header only", MSG(ID "\x78\0\0\0\0\0\0\0\0\0"), QUERY_NOTIMP, false, false },
	{ "opcode 2, nonsense", MSG(ID "\x10\0\0\1\0\0\0\0\0\0\xff\xff"), QUERY_NOTIMP, false,
	  false },

	/* Header bits that mean nothing in a query. */
	{ "all flags and an rcode", MSG(ID "\7\xff\0\1\0\0\0\0\0\0" Q), QUERY_OK, true, false },

	/* Other records are skipped (knotd, named). */
	{ "answer record", MSG(HEAD("\1", "\1", "\0", "\0") Q RR_A), QUERY_OK, true, false },
	{ "authority record", MSG(HEAD("\1", "\0", "\1", "\0") Q RR_A), QUERY_OK, true, false },
	{ "additional record", MSG(HEAD("\1", "\0", "\0", "\1") Q RR_A), QUERY_OK, true, false },
	{ "one before OPT", MSG(HEAD("\1", "\0", "\0", "\2") Q RR_A NO_OPT), QUERY_OK, true, true },
	{ "one behind OPT", MSG(HEAD("\1", "\0", "\0", "\2") Q NO_OPT RR_A), QUERY_OK, true, true },
	{ "one in each section", MSG(HEAD("\1", "\1", "\1", "\2") Q RR_A RR_A RR_A NO_OPT),
	  QUERY_OK, true, true },
	{ "owner a pointer to a name that ends in one",
	  MSG(HEAD("\1", "\2", "\0", "\1") Q
	      "\1a\xc0\x0c\0\1\0\1\0\0\0\0\0\0\1b\xc0\x1d\0\1\0\1\0\0\0\0\0\0" NO_OPT),
	  QUERY_OK, true, true },
	{ "answer record missing", MSG(HEAD("\1", "\1", "\0", "\0") Q), QUERY_FORMERR, true,
	  false },
	{ "additional record missing", MSG(HEAD("\1", "\0", "\0", "\1") Q), QUERY_FORMERR, true,
	  false },
	{ "65535 records missing", MSG(ID "\0\0\0\1\xff\xff\0\0\0\0" Q RR_A), QUERY_FORMERR, true,
	  false },
	{ "owner a pointer to itself",
	  MSG(HEAD("\1", "\1", "\0", "\0") Q "\xc0\x1d\0\1\0\1\0\0\0\0\0\0"), QUERY_FORMERR, true,
	  false },
	{ "owner a pointer ahead",
	  MSG(HEAD("\1", "\1", "\0", "\0") Q "\xc0\x1e\0\1\0\1\0\0\0\0\0\0"), QUERY_FORMERR, true,
	  false },
	{ "owner a pointer into the header",
	  MSG(HEAD("\1", "\1", "\0", "\0") Q "\xc0\4\0\1\0\1\0\0\0\0\0\0"), QUERY_FORMERR, true,
	  false },
	{ "owner a label and a pointer to it",
	  MSG(HEAD("\1", "\1", "\0", "\0") Q "\1a\xc0\x1d\0\1\0\1\0\0\0\0\0\0"), QUERY_FORMERR,
	  true, false },
	{ "owner a pointer to labels that go on behind it",
	  MSG(HEAD("\1", "\1", "\0", "\0") NAME "\0\1\4\1"
						"\xc0\x1b\0\1\0\1\0\0\0\0\0\0"),
	  QUERY_FORMERR, true, false },
	{ "owner half a pointer", MSG(HEAD("\1", "\1", "\0", "\0") Q "\xc0"), QUERY_FORMERR, true,
	  false },
	{ "data longer than the message",
	  MSG(HEAD("\1", "\1", "\0", "\0") Q "\xc0\x0c\0\1\0\1\0\0\0\0\0\5\1\2\3\4"), QUERY_FORMERR,
	  true, false },

	/* Octets after the last record are ignored (nsd, named). */
	{ "an octet behind", MSG(HEAD("\1", "\0", "\0", "\0") Q "x"), QUERY_OK, true, false },
	{ "an octet behind OPT", MSG(HEAD("\1", "\0", "\0", "\1") Q NO_OPT "x"), QUERY_OK, true,
	  true },
	{ "an OPT that is not counted", MSG(HEAD("\1", "\0", "\0", "\0") Q NO_OPT), QUERY_OK, true,
	  false },

	/* OPT: RFC 6891. */
	{ "two OPTs (all)", MSG(HEAD("\1", "\0", "\0", "\2") Q NO_OPT NO_OPT), QUERY_FORMERR, true,
	  false },
	{ "three OPTs", MSG(HEAD("\1", "\0", "\0", "\3") Q NO_OPT NO_OPT NO_OPT), QUERY_FORMERR,
	  true, false },
	{ "OPT as an answer (all)", MSG(HEAD("\1", "\1", "\0", "\0") Q NO_OPT), QUERY_FORMERR, true,
	  false },
	{ "OPT as authority (all)", MSG(HEAD("\1", "\0", "\1", "\0") Q NO_OPT), QUERY_FORMERR, true,
	  false },
	{ "OPT of a name", MSG(HEAD("\1", "\0", "\0", "\1") Q "\1a" NO_OPT), QUERY_FORMERR, true,
	  false },
	{ "OPT of a pointer to a root",
	  MSG(HEAD("\1", "\0", "\0", "\1") Q "\xc0\x18\0\x29\4\xd0\0\0\0\0\0\0"), QUERY_FORMERR,
	  true, false },
	{ "RDLENGTH beyond the message (all)", MSG(HEAD("\1", "\0", "\0", "\1") Q OPT("\1", "")),
	  QUERY_FORMERR, true, false },
	{ "option beyond RDLENGTH (all)",
	  MSG(HEAD("\1", "\0", "\0", "\1") Q OPT("\6", "\0\3\0\3ab") "c"), QUERY_FORMERR, true,
	  false },
	{ "three octets of an option (all)",
	  MSG(HEAD("\1", "\0", "\0", "\1") Q OPT("\3", "\0\3\0")), QUERY_FORMERR, true, false },
	{ "unknown option", MSG(HEAD("\1", "\0", "\0", "\1") Q OPT("\5", "\xff\xf0\0\1x")),
	  QUERY_OK, true, true },
	{ "all flags but DO", MSG(HEAD("\1", "\0", "\0", "\1") Q OPTV("\0", "\x7f\xff", "\0", "")),
	  QUERY_OK, true, true },
	{ "version 1 (all)", MSG(HEAD("\1", "\0", "\0", "\1") Q OPTV("\1", "\0\0", "\0", "")),
	  QUERY_BADVERS, true, true },
	{ "version 1, its options are not read",
	  MSG(HEAD("\1", "\0", "\0", "\1") Q OPTV("\1", "\0\0", "\1", "x")), QUERY_BADVERS, true,
	  true },
	{ "version 255, no question",
	  MSG(HEAD("\0", "\0", "\0", "\1") OPTV("\xff", "\0\0", "\0", "")), QUERY_BADVERS, false,
	  true },

	/* TSIG: RFC 8945. */
	{ "TSIG", MSG(HEAD("\1", "\0", "\0", "\1") Q TSIG), QUERY_OK, true, false },
	{ "OPT, TSIG", MSG(HEAD("\1", "\0", "\0", "\2") Q NO_OPT TSIG), QUERY_OK, true, true },
	{ "TSIG, OPT (all)", MSG(HEAD("\1", "\0", "\0", "\2") Q TSIG NO_OPT), QUERY_FORMERR, true,
	  false },
	{ "two TSIGs", MSG(HEAD("\1", "\0", "\0", "\2") Q TSIG TSIG), QUERY_FORMERR, true, false },
	{ "TSIG as an answer (all)", MSG(HEAD("\1", "\1", "\0", "\0") Q TSIG), QUERY_FORMERR, true,
	  false },
};

/* Parses a copy in a block of its own length, so that a sanitizer sees a read beyond it. */
static enum query_verdict parse(struct query *q, const uint8_t *msg, size_t len, uint8_t **copy)
{
	*copy = malloc(len + !len);
	assert_non_null(*copy);
	memcpy(*copy, msg, len);
	memset(q, 0xee, sizeof(*q));
	return query_parse(q, *copy, len);
}

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(cases); i++) {
		struct query q;
		uint8_t *copy;
		enum query_verdict got = parse(&q, cases[i].msg, cases[i].len, &copy);

		free(copy);
		if (got != cases[i].verdict)
			fail_msg("%s: verdict %d", cases[i].name, (int)got);
		if (got == QUERY_IGNORE)
			continue;
		if (q.has_question != cases[i].has_question)
			fail_msg("%s: question", cases[i].name);
		if (q.edns.present != cases[i].has_opt)
			fail_msg("%s: OPT", cases[i].name);
	}
}

/* The cookie's length: RFC 7873 section 5.2.2. */
static void test_every_cookie_length(void **state)
{
	static const uint8_t head[] = HEAD("\1", "\0", "\0", "\1") Q "\0\0\x29\4\xd0\0\0\0\0";
	uint8_t msg[256];
	const size_t rdata_at = sizeof(head) - 1;

	(void)state;
	memcpy(msg, head, rdata_at);
	for (uint8_t n = 0; n <= 60; n++) {
		bool valid = n == 8 || (n >= 16 && n <= 40);
		uint8_t *p = msg + rdata_at;
		struct query q;

		memcpy(p, (uint8_t[]){ 0, (uint8_t)(n + 4), 0, DNS_OPTION_COOKIE, 0, n }, 6);
		for (uint8_t i = 0; i < n; i++)
			p[6 + i] = i;
		assert_int_equal(query_parse(&q, msg, rdata_at + 6 + n),
				 valid ? QUERY_OK : QUERY_FORMERR);
		assert_true(q.edns.present);
		assert_int_equal(q.edns.has_cookie, valid);
		if (!valid)
			continue;
		assert_int_equal(q.edns.cookie_server_bytes, n - 8);
		assert_memory_equal(q.edns.cookie_client, p + 6, 8);
		assert_memory_equal(q.edns.cookie_server, p + 14, n - 8u);
	}
}

/* Only the first of several counts: RFC 7873 section 5.2. */
static void test_several_cookies(void **state)
{
	struct query q;

	(void)state;
	assert_int_equal(query_parse(&q,
				     MSG(HEAD("\1", "\0", "\0", "\1") Q OPT("\x15", CK8 "\0\x0a\0\5"
											"ABCDE"))),
			 QUERY_OK);
	assert_int_equal(q.edns.n_options, 2);
	assert_memory_equal(q.edns.cookie_client, "abcdefgh", 8);
	assert_int_equal(query_parse(&q,
				     MSG(HEAD("\1", "\0", "\0", "\1") Q OPT("\x15", "\0\x0a\0\5"
										    "ABCDE" CK8))),
			 QUERY_FORMERR);
}

/* RD AD CD, CH TYPE65280, DO, 512 octets, NSID, keepalive, COOKIE of both parts, TSIG. */
#define FULL                                               \
	"\xab\xcd\1\x30\0\1\0\0\0\0\0\2" NAME "\xff\0\0\3" \
	"\0\0\x29\2\0\0\0\x80\0\0\x1c"                     \
	"\0\3\0\0"                                         \
	"\0\x0b\0\0"                                       \
	"\0\x0a\0\x10"                                     \
	"abcdefgh"                                         \
	"ABCDEFGH" TSIG

static void test_all_fields(void **state)
{
	static const uint8_t msg[] = FULL "behind";
	struct query q;

	(void)state;
	assert_int_equal(query_parse(&q, msg, sizeof(msg) - 1), QUERY_OK);
	assert_int_equal(q.id, 0xabcd);
	assert_int_equal(q.flags, DNS_FLAG_RD | DNS_FLAG_AD | DNS_FLAG_CD);
	assert_int_equal(q.opcode, DNS_OPCODE_QUERY);
	assert_true(q.rd && q.ad && q.cd);
	assert_ptr_equal(q.qname, msg + 12);
	assert_int_equal(q.qname_bytes, 13);
	assert_memory_equal(q.folded, "\3www\7example\0\0\0\0", 16);
	assert_int_equal(q.qtype, 65280);
	assert_int_equal(q.qclass, DNS_CLASS_CH);
	assert_int_equal(q.question_end, 29);
	assert_int_equal(q.edns.udp_size, 512);
	assert_int_equal(q.edns.version, 0);
	assert_true(q.edns.dnssec_ok && (q.edns.asks & QUERY_ASKS_NSID) &&
		    (q.edns.asks & QUERY_ASKS_KEEPALIVE));
	assert_int_equal(q.edns.n_options, 3);
	assert_int_equal(q.edns.cookie_server_bytes, 8);
	assert_memory_equal(q.edns.cookie_server, "ABCDEFGH", 8);
	assert_true(q.has_tsig);
	assert_int_equal(q.tsig_at, sizeof(FULL) - sizeof(TSIG));
	assert_int_equal(q.end, sizeof(FULL) - 1);
}

static void test_plain_has_nothing_else(void **state)
{
	static const uint8_t msg[] = HEAD("\1", "\0", "\0", "\0") Q;
	struct query q;

	(void)state;
	memset(&q, 0xff, sizeof(q));
	assert_int_equal(query_parse(&q, msg, sizeof(msg) - 1), QUERY_OK);
	assert_int_equal(q.id, 0x1234);
	assert_false(q.rd || q.ad || q.cd || q.has_tsig);
	assert_false(q.edns.present || q.edns.dnssec_ok || (q.edns.asks & QUERY_ASKS_NSID) ||
		     q.edns.has_cookie);
	assert_int_equal(query_udp_size(&q), 512);
}

static void test_every_truncation(void **state)
{
	static const uint8_t msg[] = FULL;
	const size_t n_header = 12, n_question = 29, n_all = sizeof(msg) - 1;

	(void)state;
	for (size_t n = 0; n <= n_all; n++) {
		struct query q;
		uint8_t *copy;
		enum query_verdict got = parse(&q, msg, n, &copy);

		free(copy);
		assert_int_equal(got, n < n_header ? QUERY_IGNORE :
				      n < n_all    ? QUERY_FORMERR :
						     QUERY_OK);
		if (n >= n_header)
			assert_int_equal(q.has_question, n >= n_question);
	}
}

/* All 2^16 flag words: QR decides first, then the opcode. */
static void test_every_flag_word(void **state)
{
	uint8_t msg[] = HEAD("\1", "\0", "\0", "\0") Q;
	struct query q;

	(void)state;
	for (unsigned int flags = 0; flags <= 0xffff; flags++) {
		enum query_verdict want = flags & DNS_FLAG_QR     ? QUERY_IGNORE :
					  flags & DNS_OPCODE_MASK ? QUERY_NOTIMP :
								    QUERY_OK;

		msg[2] = (uint8_t)(flags >> 8);
		msg[3] = (uint8_t)flags;
		assert_int_equal(query_parse(&q, msg, sizeof(msg) - 1), want);
	}
}

static void test_udp_size(void **state)
{
	struct query q = { .edns.present = true };

	(void)state;
	for (unsigned int size = 0; size <= 0xffff; size++) {
		q.edns.udp_size = (uint16_t)size;
		assert_int_equal(query_udp_size(&q), size < 512 ? 512 : size);
	}
}

/* RFC 1035 section 2.3.4 counts a name without its pointers: 253 octets by one, and 2 or 3 more. */
static void test_longest_compressed_owner(void **state)
{
	uint8_t msg[512];
	size_t at = 12;
	struct query q;

	(void)state;
	memcpy(msg, HEAD("\1", "\1", "\0", "\0"), 12);
	for (int i = 0; i < 126; i++, at += 2)
		memcpy(msg + at, "\1A", 2);
	memcpy(msg + at, "\0\0\1\0\1", 5);
	memcpy(msg + at + 5, "\1b\xc0\x0c\0\1\0\1\0\0\0\0\0\0", 14);
	assert_int_equal(query_parse(&q, msg, at + 19), QUERY_OK);
	memcpy(msg + at + 5, "\2bc\xc0\x0c\0\1\0\1\0\0\0\0\0\0", 15);
	assert_int_equal(query_parse(&q, msg, at + 20), QUERY_FORMERR);
}

/* The longest name, and a message of 64 KiB: offsets do not wrap. */
static void test_largest_message(void **state)
{
	static uint8_t msg[70000];
	size_t at = 12;
	struct query q;

	(void)state;
	memcpy(msg, HEAD("\1", "\1", "\0", "\0"), 12);
	for (int i = 0; i < 127; i++, at += 2)
		memcpy(msg + at, "\1A", 2);
	memcpy(msg + at,
	       "\0\0\1\0\1"
	       "\0\0\1\0\1\0\0\0\0\xfe\xe5",
	       16);
	assert_int_equal(query_parse(&q, msg, sizeof(msg)), QUERY_OK);
	assert_int_equal(q.qname_bytes, 255);
	assert_int_equal(name_n_labels(q.qname), 127);
	assert_int_equal(q.folded[1], 'a');
	assert_int_equal(q.folded[255], 0);
	assert_int_equal(q.end, 65535);
	msg[at + 15]++;
	assert_int_equal(query_parse(&q, msg, sizeof(msg)), QUERY_FORMERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_every_cookie_length),
		cmocka_unit_test(test_several_cookies),
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_plain_has_nothing_else),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_flag_word),
		cmocka_unit_test(test_udp_size),
		cmocka_unit_test(test_longest_compressed_owner),
		cmocka_unit_test(test_largest_message),
	};

	return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
