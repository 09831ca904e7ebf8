/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader's results for streams that are right, that end too early, and that are wrong. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/xfr/made.h"
#include "tests/unit/xfr/vectors.h"

#include "base/err.h"
#include "xfr/xfr_in.h"

#define ID 0x1234

static const uint8_t apex[] = "\1z";

/* --- A stream as letters --- */

/*
 * "7" is a SOA with this serial number, "A" an address, "a" another one; "|" ends the message.
 * Other letters are records that a primary should not send: see put_letter().
 */
static void put_letter(struct made *m, char c)
{
	struct made_rdata soa = soa_of((uint32_t)(c - '0')), ns = name_rdata("ns.z");
	static const uint8_t address[] = { 192, 0, 2, 1 };
	unsigned an = DNS_ANCOUNT_AT;

	switch (c) {
	case 'A':
	case 'a':
		made_record(m, an, c == 'A' ? "ns.z" : "B.z", DNS_TYPE_A, DNS_CLASS_IN, 60, address,
			    4);
		return;
	case 'N':
		made_record(m, an, "z", DNS_TYPE_NS, DNS_CLASS_IN, 60, ns.bytes, ns.n);
		return;
	case 'o': /* outside the zone */
		made_record(m, an, "ns.y", DNS_TYPE_A, DNS_CLASS_IN, 60, address, 4);
		return;
	case 'c': /* class CH */
		made_record(m, an, "ns.z", DNS_TYPE_A, DNS_CLASS_CH, 60, address, 4);
		return;
	case 't': /* a meta type */
		made_record(m, an, "ns.z", DNS_TYPE_ANY, DNS_CLASS_IN, 60, address, 4);
		return;
	case 'r': /* data that does not fit */
		made_record(m, an, "ns.z", DNS_TYPE_A, DNS_CLASS_IN, 60, address, 3);
		return;
	case 's': /* a SOA below the apex */
		soa = soa_of(7);
		made_record(m, an, "x.z", DNS_TYPE_SOA, DNS_CLASS_IN, 60, soa.bytes, soa.n);
		return;
	case 'd': /* the SOA of 7, but another one */
		soa = soa_of(7);
		soa.bytes[soa.n - 1] ^= 1;
		made_record(m, an, "z", DNS_TYPE_SOA, DNS_CLASS_IN, 60, soa.bytes, soa.n);
		return;
	default:
		made_record(m, an, "z", DNS_TYPE_SOA, DNS_CLASS_IN, 60, soa.bytes, soa.n);
	}
}

struct sink {
	unsigned n_begun, n_records, n_sets, fail_at;
	char sets[64]; /* "5>6 6>7 " */
};

static int on_begin(void *user, uint32_t serial)
{
	struct sink *s = user;

	(void)serial;
	s->n_begun++;
	return 0;
}

static int on_record(void *user, const uint8_t *owner, unsigned owner_bytes, uint16_t type,
		     uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes)
{
	struct sink *s = user;

	(void)rdata;
	(void)ttl;
	(void)rdata_bytes;
	assert_int_equal(name_bytes(owner), owner_bytes);
	assert_int_equal(type == DNS_TYPE_SOA, !s->n_records);
	return ++s->n_records == s->fail_at ? -ENOSPC : 0;
}

static int on_changes(void *user, struct changeset *set)
{
	struct sink *s = user;
	char text[16];

	snprintf(text, sizeof(text), "%u>%u ", set->serial_from, set->serial_to);
	strcat(s->sets, text);
	return ++s->n_sets == s->fail_at ? -ENOSPC : 0;
}

static struct xfr_in_config config_of(struct sink *s, uint16_t type, uint32_t serial)
{
	return (struct xfr_in_config){
		.zone = apex,
		.id = ID,
		.type = type,
		.has_serial = serial,
		.serial = serial,
		.sink = { s, on_begin, on_record, on_changes },
	};
}

static enum xfr_in_result feed(struct xfr_in *in, const struct made *m)
{
	uint8_t *copy = malloc(m->n);
	enum xfr_in_result result;

	assert_non_null(copy);
	memcpy(copy, m->bytes, m->n);
	result = xfr_in_message(in, copy, m->n, 1000);
	free(copy);
	return result;
}

/* Feeds messages until the reader ends. */
static enum xfr_in_result feed_letters(struct xfr_in *in, uint16_t qtype, const char *letters)
{
	enum xfr_in_result result = XFR_IN_MORE;

	for (unsigned n = 0; *letters && result == XFR_IN_MORE; n++) {
		static struct made m;

		made_begin(&m, ID, DNS_FLAG_QR | DNS_FLAG_AA, n ? NULL : "Z", qtype, DNS_CLASS_IN);
		for (; *letters && *letters != '|'; letters++)
			put_letter(&m, *letters);
		letters += *letters == '|';
		result = feed(in, &m);
	}
	return result;
}

/* --- Rows --- */

struct row {
	const char *letters;
	uint16_t type;
	uint32_t serial; /* of our version; 0: none */
	enum xfr_in_result result;
	unsigned n_records;
	const char *sets;
};

#define AXFR DNS_TYPE_AXFR
#define IXFR DNS_TYPE_IXFR

static const struct row rows[] = {
	/* Whole zones. */
	{ "7NA7", AXFR, 0, XFR_IN_DONE, 3, "" },
	{ "7|N|A|7", AXFR, 0, XFR_IN_DONE, 3, "" },
	{ "77", AXFR, 0, XFR_IN_DONE, 1, "" },
	{ "7N", AXFR, 0, XFR_IN_MORE, 2, "" },
	{ "7NA7", AXFR, 6, XFR_IN_DONE, 3, "" },
	{ "7NA7", AXFR, 7, XFR_IN_CURRENT, 0, "" },
	{ "7NA7", AXFR, 8, XFR_IN_OLDER, 0, "" },
	{ "NA7", AXFR, 0, XFR_IN_NO_SOA, 0, "" },
	{ "", AXFR, 0, XFR_IN_MORE, 0, "" },
	{ "|7", AXFR, 0, XFR_IN_NO_SOA, 0, "" },
	{ "7N||A7", AXFR, 0, XFR_IN_DONE, 3, "" },
	{ "7NA8", AXFR, 0, XFR_IN_SOA_INSIDE, 3, "" },
	{ "7NAd", AXFR, 0, XFR_IN_SOA_INSIDE, 3, "" },
	{ "7NsA7", AXFR, 0, XFR_IN_DONE, 3, "" },
	{ "7N7A", AXFR, 0, XFR_IN_BEHIND, 2, "" },
	{ "7No7", AXFR, 0, XFR_IN_DONE, 2, "" },
	{ "7Nc7", AXFR, 0, XFR_IN_DONE, 2, "" },
	{ "7Nt7", AXFR, 0, XFR_IN_DONE, 2, "" },
	{ "7NoctsA7", AXFR, 0, XFR_IN_DONE, 3, "" },
	{ "7N7o", AXFR, 0, XFR_IN_BEHIND, 2, "" },
	{ "o", AXFR, 0, XFR_IN_NO_SOA, 0, "" },
	{ "s7NA7", AXFR, 0, XFR_IN_NO_SOA, 0, "" },
	{ "7Nr7", AXFR, 0, XFR_IN_RDATA, 2, "" },
	{ "o7NA7", AXFR, 0, XFR_IN_NO_SOA, 0, "" },
	/* Changes. */
	{ "757", IXFR, 5, XFR_IN_MORE, 0, "" },
	{ "75A7a7", IXFR, 5, XFR_IN_DONE, 0, "5>7 " },
	{ "7577", IXFR, 5, XFR_IN_DONE, 0, "5>7 " },
	{ "75A6a67a7", IXFR, 5, XFR_IN_DONE, 0, "5>6 6>7 " },
	{ "7|5A|6|a|6|7a|7", IXFR, 5, XFR_IN_DONE, 0, "5>6 6>7 " },
	{ "75A6a67a", IXFR, 5, XFR_IN_MORE, 0, "5>6 " },
	{ "75A6a67aa", IXFR, 5, XFR_IN_MORE, 0, "5>6 " },
	{ "75A6a57a7", IXFR, 5, XFR_IN_CHAIN, 0, "5>6 " },
	{ "75A6a7", IXFR, 5, XFR_IN_CHAIN, 0, "5>6 " },
	{ "76A7a7", IXFR, 5, XFR_IN_CHAIN, 0, "" },
	{ "75A4a47a7", IXFR, 5, XFR_IN_CHAIN, 0, "" },
	{ "75A5a57a7", IXFR, 5, XFR_IN_CHAIN, 0, "" },
	{ "75A9a", IXFR, 5, XFR_IN_MORE, 0, "" },
	{ "75A9a97a7", IXFR, 5, XFR_IN_CHAIN, 0, "5>9 " },
	{ "75A7ad", IXFR, 5, XFR_IN_CHAIN, 0, "5>7 " },
	{ "75A7a8", IXFR, 5, XFR_IN_CHAIN, 0, "5>7 " },
	{ "75A7a7A", IXFR, 5, XFR_IN_BEHIND, 0, "5>7 " },
	{ "75o7a7", IXFR, 5, XFR_IN_DONE, 0, "5>7 " },
	{ "75c7a7", IXFR, 5, XFR_IN_DONE, 0, "5>7 " },
	{ "75A7s7", IXFR, 5, XFR_IN_DONE, 0, "5>7 " },
	{ "75sA6sa67ta7", IXFR, 5, XFR_IN_DONE, 0, "5>6 6>7 " },
	{ "7o5A7a7", IXFR, 5, XFR_IN_DONE, 0, "5>7 " },
	{ "A5", IXFR, 5, XFR_IN_NO_SOA, 0, "" },
	/* A whole zone instead of changes. */
	{ "7NA7", IXFR, 5, XFR_IN_DONE, 3, "" },
	{ "7|NA7", IXFR, 5, XFR_IN_DONE, 3, "" },
	{ "77", IXFR, 5, XFR_IN_DONE, 1, "" },
	{ "7NA5A7a7", IXFR, 5, XFR_IN_SOA_INSIDE, 3, "" },
	/* One SOA. */
	{ "7", IXFR, 7, XFR_IN_CURRENT, 0, "" },
	{ "7", IXFR, 8, XFR_IN_OLDER, 0, "" },
	{ "7", IXFR, 5, XFR_IN_MORE, 0, "" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct sink s = { 0 };
		struct xfr_in_config config = config_of(&s, row->type, row->serial);
		enum xfr_in_result result;
		struct xfr_in in;

		xfr_in_init(&in, &config);
		result = feed_letters(&in, row->type, row->letters);
		if (result != row->result || s.n_records != row->n_records ||
		    strcmp(s.sets, row->sets) || s.n_begun != (row->n_records > 0))
			fail_msg("%s: \"%s\", %u records, sets %s", row->letters,
				 xfr_in_text(result), s.n_records, s.sets);
		xfr_in_fini(&in);
	}
}

/* With takes_older, a version with any serial number is accepted. */
static void test_older_taken(void **state)
{
	struct sink s = { 0 };
	struct xfr_in_config config = config_of(&s, AXFR, 9);
	struct xfr_in in;

	(void)state;
	config.takes_older = true;
	xfr_in_init(&in, &config);
	assert_int_equal(feed_letters(&in, AXFR, "7NA7"), XFR_IN_DONE);
	xfr_in_fini(&in);
}

static void test_limits(void **state)
{
	static const struct {
		struct xfr_in_limits limits;
		unsigned fail_at;
		const char *letters;
		enum xfr_in_result result;
	} cases[] = {
		{ { .n_records = 4 }, 0, "7NA7", XFR_IN_DONE },
		{ { .n_records = 3 }, 0, "7NA7", XFR_IN_LIMIT_RECORDS },
		{ { .n_records = 3 }, 0, "75A7a7", XFR_IN_LIMIT_RECORDS },
		{ { .n_changes = 4 }, 0, "75A7a7", XFR_IN_DONE },
		{ { .n_changes = 3 }, 0, "75A7a7", XFR_IN_LIMIT_CHANGES },
		{ { .n_changes = 6 }, 0, "75A6a67a7", XFR_IN_LIMIT_CHANGES },
		{ { .n_changes = 1 }, 0, "7NA7", XFR_IN_DONE },
		{ { .n_messages = 4 }, 0, "7|N|A|7", XFR_IN_DONE },
		{ { .n_messages = 3 }, 0, "7|N|A|7", XFR_IN_LIMIT_MESSAGES },
		{ { .n_bytes = 60 }, 0, "7|N|A|7", XFR_IN_LIMIT_BYTES },
		{ { .n_bytes = 65536 }, 0, "7|N|A|7", XFR_IN_DONE },
		{ { 0 }, 1, "7NA7", XFR_IN_SINK },
		{ { 0 }, 3, "7NA7", XFR_IN_SINK },
		{ { 0 }, 2, "75A6a67a7", XFR_IN_SINK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sink s = { .fail_at = cases[i].fail_at };
		struct xfr_in_config config = config_of(&s, IXFR, 5);
		struct xfr_in in;

		config.limits = cases[i].limits;
		xfr_in_init(&in, &config);
		assert_int_equal(feed_letters(&in, IXFR, cases[i].letters), cases[i].result);
		assert_int_equal(in.error, cases[i].fail_at ? -ENOSPC : 0);
		xfr_in_fini(&in);
	}
}

/* --- Headers and questions --- */

struct header_row {
	const char *name;
	const char *qname;
	uint16_t id, flags, qtype, qclass;
	enum xfr_in_result result; /* as the first message, with one SOA */
	enum xfr_in_result later;  /* as the second one, with a NS */
};

static const struct header_row header_rows[] = {
	{ "as it should be", "z", ID, 0x8400, AXFR, 1, XFR_IN_MORE, XFR_IN_MORE },
	{ "without AA", "z", ID, 0x8000, AXFR, 1, XFR_IN_MORE, XFR_IN_MORE },
	{ "no question", NULL, ID, 0x8400, 0, 0, XFR_IN_MORE, XFR_IN_MORE },
	{ "another question", "y", ID, 0x8400, AXFR, 1, XFR_IN_NOT_REPLY, XFR_IN_NOT_REPLY },
	{ "another type", "z", ID, 0x8400, IXFR, 1, XFR_IN_NOT_REPLY, XFR_IN_NOT_REPLY },
	{ "another class", "z", ID, 0x8400, AXFR, 3, XFR_IN_NOT_REPLY, XFR_IN_NOT_REPLY },
	{ "another ID", "z", ID + 1, 0x8400, AXFR, 1, XFR_IN_NOT_REPLY, XFR_IN_NOT_REPLY },
	{ "a query", "z", ID, 0x0400, AXFR, 1, XFR_IN_NOT_REPLY, XFR_IN_NOT_REPLY },
	{ "an UPDATE", "z", ID, 0xa800, AXFR, 1, XFR_IN_NOT_REPLY, XFR_IN_NOT_REPLY },
	{ "REFUSED", "z", ID, 0x8405, AXFR, 1, XFR_IN_RCODE, XFR_IN_RCODE },
	{ "NOTAUTH without a question", NULL, ID, 0x8409, 0, 0, XFR_IN_RCODE, XFR_IN_RCODE },
	{ "TC", "z", ID, 0x8600, AXFR, 1, XFR_IN_MORE, XFR_IN_MORE },
};

static void test_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(header_rows) / sizeof(header_rows[0]); i++) {
		const struct header_row *row = &header_rows[i];
		struct sink s = { 0 };
		struct xfr_in_config config = config_of(&s, AXFR, 0);
		struct xfr_in in;
		struct made m;

		xfr_in_init(&in, &config);
		made_begin(&m, row->id, row->flags, row->qname, row->qtype, row->qclass);
		put_letter(&m, '7');
		if (feed(&in, &m) != row->result)
			fail_msg("%s", row->name);
		xfr_in_fini(&in);
		s = (struct sink){ 0 };
		xfr_in_init(&in, &config);
		assert_int_equal(feed_letters(&in, AXFR, "7"), XFR_IN_MORE);
		made_begin(&m, row->id, row->flags, row->qname, row->qtype, row->qclass);
		put_letter(&m, 'N');
		if (feed(&in, &m) != row->later)
			fail_msg("%s, later", row->name);
		xfr_in_fini(&in);
	}
}

/* --- Compression, cut messages --- */

/* A stream of dnspython, with pointers in owners and in the data of MX and SOA. */
static void test_of_others(void **state)
{
	static const struct {
		const uint8_t *bytes;
		size_t n;
	} messages[] = {
		{ vector_reply0, sizeof(vector_reply0) },
		{ vector_reply1, sizeof(vector_reply1) },
		{ vector_reply2, sizeof(vector_reply2) },
		{ vector_reply3, sizeof(vector_reply3) },
	};
	struct sink s = { 0 };
	struct xfr_in_config config = config_of(&s, AXFR, 0);
	struct xfr_in in;

	(void)state;
	config.zone = (const uint8_t *)"\7example";
	xfr_in_init(&in, &config);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(xfr_in_message(&in, messages[i].bytes, messages[i].n, 0),
				 i < 3 ? XFR_IN_MORE : XFR_IN_DONE);
	assert_int_equal(s.n_records, 4);
	xfr_in_fini(&in);
	for (size_t n = 0; n < sizeof(vector_reply0); n++) {
		uint8_t *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, vector_reply0, n);
		memset(&s, 0, sizeof(s));
		xfr_in_init(&in, &config);
		assert_int_equal(xfr_in_message(&in, copy, n, 0), XFR_IN_FORMAT);
		xfr_in_fini(&in);
		free(copy);
	}
}

static const struct {
	uint16_t target, type;
	enum xfr_in_result result;
	unsigned n_before; /* octets before the name */
} pointers[] = {
	{ 12, DNS_TYPE_NS, XFR_IN_MORE, 0 },
	{ 0, DNS_TYPE_NS, XFR_IN_RDATA, 0 },
	{ 11, DNS_TYPE_NS, XFR_IN_RDATA, 0 },
	{ 0x3fff, DNS_TYPE_NS, XFR_IN_RDATA, 0 },
	{ 12, 65280, XFR_IN_MORE, 0 },
	{ 12, DNS_TYPE_DNAME, XFR_IN_MORE, 0 },
	{ 12, DNS_TYPE_NSEC, XFR_IN_MORE, 0 },
	{ 12, DNS_TYPE_MX, XFR_IN_MORE, 2 },
	{ 12, DNS_TYPE_SRV, XFR_IN_MORE, 6 },
	{ 12, DNS_TYPE_KX, XFR_IN_MORE, 2 },
	{ 12, DNS_TYPE_SVCB, XFR_IN_MORE, 2 },
	{ 12, DNS_TYPE_LP, XFR_IN_MORE, 2 },
	{ 12, DNS_TYPE_NSAP_PTR, XFR_IN_MORE, 0 },
	{ 0x3fff, DNS_TYPE_DNAME, XFR_IN_RDATA, 0 },
};

/*
 * Pointers into the header, forward, to themselves. In data, pointers are followed for all types
 * whose names are known. The data of an unknown type is not changed.
 */
static void test_pointers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
		for (unsigned in_owner = 0; in_owner < 2; in_owner++) {
			uint8_t pointer[2] = { (uint8_t)(0xc0 | pointers[i].target >> 8),
					       (uint8_t)pointers[i].target };
			struct sink s = { 0 };
			struct xfr_in_config config = config_of(&s, AXFR, 0);
			struct xfr_in in;
			struct made m;

			xfr_in_init(&in, &config);
			made_begin(&m, ID, 0x8400, "z", AXFR, DNS_CLASS_IN);
			put_letter(&m, '7');
			if (in_owner) {
				/* The first owner of the message: no earlier owner is known. */
				assert_int_equal(feed(&in, &m), XFR_IN_MORE);
				made_begin(&m, ID, 0x8400, "z", AXFR, DNS_CLASS_IN);
				made_count(&m, DNS_ANCOUNT_AT);
				memcpy(m.bytes + m.n, pointer, 2);
				memcpy(m.bytes + m.n + 2, "\0\1\0\1\0\0\0\1\0\4abcd", 14);
				m.n += 16;
				assert_int_equal(feed(&in, &m), pointers[i].target == 12 ?
									XFR_IN_MORE :
									XFR_IN_FORMAT);
			} else {
				uint8_t rdata[8] = { 0 };

				memcpy(rdata + pointers[i].n_before, pointer, 2);
				made_record(&m, DNS_ANCOUNT_AT, "b.z", pointers[i].type,
					    DNS_CLASS_IN, 1, rdata, pointers[i].n_before + 2);
				assert_int_equal(feed(&in, &m), pointers[i].result);
			}
			xfr_in_fini(&in);
		}
}

/* --- Signatures --- */

static struct tsig asked(struct tsig_keys *keys)
{
	uint8_t msg[512];
	struct tsig t;

	tsig_init(&t, tsig_keys_find(keys, (const uint8_t *)"\3key\4test"));
	memcpy(msg, vector_query, sizeof(vector_query));
	assert_true(tsig_sign(&t, msg, sizeof(vector_query), sizeof(msg), VECTOR_NOW) > 0);
	return t;
}

static void begin_signed(struct xfr_in *in, const struct xfr_in_config *config, struct tsig *t,
			 struct tsig_keys *keys)
{
	*t = asked(keys);
	xfr_in_init(in, config);
}

static void end_signed(struct xfr_in *in, struct tsig *t)
{
	xfr_in_fini(in);
	tsig_fini(t);
}

static void test_signatures(void **state)
{
	const struct tsig_key_source source = { .name = (const uint8_t *)"\3key\4test",
						.secret = vector_secret,
						.secret_bytes = sizeof(vector_secret) };
	struct sink s = { 0 };
	struct xfr_in_config config = config_of(&s, AXFR, 0);
	struct tsig_keys *keys;
	struct xfr_in in;
	struct tsig t;

	(void)state;
	assert_int_equal(tsig_keys_new(&keys, &source, 1), 0);
	config.zone = (const uint8_t *)"\7example";
	config.tsig = &t;
#define FEED(v) xfr_in_message(&in, v, sizeof(v), VECTOR_NOW)
	begin_signed(&in, &config, &t, keys);
	assert_int_equal(FEED(vector_reply0_sha256), XFR_IN_MORE);
	assert_int_equal(FEED(vector_reply1_sha256), XFR_IN_MORE);
	assert_int_equal(FEED(vector_reply2), XFR_IN_MORE);
	assert_int_equal(FEED(vector_reply3_sha256), XFR_IN_DONE);
	end_signed(&in, &t);
	/* The last message is not signed. */
	memset(&s, 0, sizeof(s));
	begin_signed(&in, &config, &t, keys);
	assert_int_equal(FEED(vector_reply0_sha256), XFR_IN_MORE);
	assert_int_equal(FEED(vector_reply3), XFR_IN_TSIG);
	assert_int_equal(in.verdict, TSIG_UNSIGNED);
	end_signed(&in, &t);
	/* No message is signed. */
	begin_signed(&in, &config, &t, keys);
	assert_int_equal(FEED(vector_reply0), XFR_IN_TSIG);
	assert_int_equal(in.verdict, TSIG_NONE);
	end_signed(&in, &t);
	/* The signatures hold, but have a wrong time: of the first message, then of a later one. */
	for (int i = 0; i < 2; i++) {
		memset(&s, 0, sizeof(s));
		begin_signed(&in, &config, &t, keys);
		if (i)
			assert_int_equal(FEED(vector_reply0_sha256), XFR_IN_MORE);
		assert_int_equal(
			i ? xfr_in_message(&in, vector_reply1_sha256, sizeof(vector_reply1_sha256),
					   VECTOR_NOW + 1000) :
			    xfr_in_message(&in, vector_reply0_sha256, sizeof(vector_reply0_sha256),
					   VECTOR_NOW - 1000),
			XFR_IN_TSIG);
		assert_int_equal(in.verdict, TSIG_BADTIME);
		end_signed(&in, &t);
	}
#undef FEED
	tsig_keys_free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),       cmocka_unit_test(test_older_taken),
		cmocka_unit_test(test_limits),     cmocka_unit_test(test_headers),
		cmocka_unit_test(test_of_others),  cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_signatures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
