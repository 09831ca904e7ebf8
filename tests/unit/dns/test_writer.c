/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output is compared byte for byte where compression matters; else ldns, which is independent
 * of our writer, reads it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/writer.h"

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define NAME(s)       ((const uint8_t *)(s))
#define DATA(s)       (const uint8_t *)(s), sizeof(s) - 1

/* header, "example" A IN: records begin at 25. */
#define QNAME "\7example\0"
#define BASE  25

struct message {
	struct writer w;
	uint8_t bytes[65535];
};

static struct message m;

static void begin(uint32_t limit)
{
	memset(&m, 0xee, sizeof(m));
	memset(m.bytes, 0, DNS_HEADER_BYTES);
	memcpy(m.bytes + DNS_HEADER_BYTES, QNAME "\0\1\0\1", BASE - DNS_HEADER_BYTES);
	writer_init(&m.w, m.bytes + BASE, BASE, limit, NAME(QNAME));
}

/* --- Names ------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	const char *names[4]; /* written one after the other */
	const char *want;
	size_t n_bytes;
} names[] = {
	{ "the question's", { QNAME }, "\xc0\x0c", 2 },
	{ "the question's in other case", { "\7EXAMPLE\0" }, "\xc0\x0c", 2 },
	{ "below it", { "\3www\7example\0" }, "\3www\xc0\x0c", 6 },
	{ "below it, twice",
	  { "\3www\7example\0", "\3WWW\7Example\0" },
	  "\3www\xc0\x0c\xc0\x19",
	  8 },
	{ "below a name that ends in a pointer",
	  { "\3www\7example\0", "\1a\3www\7example\0" },
	  "\3www\xc0\x0c\1a\xc0\x19",
	  10 },
	{ "sibling", { "\3www\7example\0", "\3ftp\7example\0" }, "\3www\xc0\x0c\3ftp\xc0\x0c", 12 },
	{ "another", { "\2de\0", "\1x\2de\0" }, "\2de\0\1x\xc0\x19", 8 },
	{ "the longest suffix",
	  { "\1b\2de\0", "\1a\1b\2de\0", "\1c\1a\1b\2de\0" },
	  "\1b\2de\0\1a\xc0\x19\1c\xc0\x1f",
	  14 },
	/* Found by search: FNV-1a gives both 0xcc61980f. */
	{ "another name of the same hash", { "\4jphn\0", "\5ncdaa\0" }, "\4jphn\0\5ncdaa\0", 13 },
	{ "the root is one octet", { "\0", "\0" }, "\0\0", 2 },
	{ "a name that only begins alike",
	  { "\7exampl\1\0", "\7examplf\0" },
	  "\7exampl\1\0\7examplf\0",
	  18 },
	{ "octets that only look like labels", { "\4a\2de\0", "\2de\0" }, "\4a\2de\0\2de\0", 10 },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(names); i++) {
		begin(512);
		for (size_t k = 0; k < 4 && names[i].names[k]; k++)
			assert_int_equal(writer_add_name(&m.w, NAME(names[i].names[k])), 0);
		if (writer_bytes(&m.w) != names[i].n_bytes ||
		    memcmp(m.bytes + BASE, names[i].want, names[i].n_bytes))
			fail_msg("%s", names[i].name);
	}
}

static void test_without_question(void **state)
{
	static struct writer w;
	uint8_t buf[32], header[DNS_HEADER_BYTES];

	(void)state;
	writer_init(&w, buf, DNS_HEADER_BYTES, DNS_HEADER_BYTES + sizeof(buf), NULL);
	assert_int_equal(writer_add_name(&w, NAME("\2de\0")), 0);
	assert_int_equal(writer_add_name(&w, NAME("\2de\0")), 0);
	assert_memory_equal(buf, "\2de\0\xc0\x0c", 6);
	writer_put_header(&w, header, 1, DNS_FLAG_QR, 1);
	assert_memory_equal(header, "\0\1\x80\0\0\0\0\0\0\0\0\1", 12);
}

/* A pointer has 14 bits: a name at 0x3fff is a target, one at 0x4000 is not. */
static void test_targets_end_at_0x3fff(void **state)
{
	(void)state;
	for (uint32_t at = 0x3ffe; at <= 0x4001; at++) {
		static struct writer w;
		uint8_t buf[16];

		writer_init(&w, buf, at, at + sizeof(buf), NAME(QNAME));
		assert_int_equal(writer_add_name(&w, NAME("\2de\0")), 0);
		assert_int_equal(writer_add_name(&w, NAME("\2de\0")), 0);
		assert_int_equal(writer_bytes(&w), at <= 0x3fff ? 6 : 8);
		if (at <= 0x3fff)
			assert_int_equal(wire_load_be16(buf + 4), 0xc000 | at);
	}
}

/* --- Records ---------------------------------------------------------------------------------- */

#define SOA_TAIL "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5"

static const struct {
	const char *name;
	uint16_t type;
	const uint8_t *rdata;
	size_t rdata_bytes;
	const char *want; /* RDLENGTH and data */
	size_t n_bytes;
} records[] = {
	{ "A", DNS_TYPE_A, DATA("\1\2\3\4"), "\0\4\1\2\3\4", 6 },
	{ "no data", DNS_TYPE_APL, DATA(""), "\0\0", 2 },
	{ "NS", DNS_TYPE_NS, DATA("\2ns\7example\0"), "\0\5\2ns\xc0\x0c", 7 },
	{ "CNAME to the question", DNS_TYPE_CNAME, DATA(QNAME), "\0\2\xc0\x0c", 4 },
	{ "PTR", DNS_TYPE_PTR, DATA("\0"), "\0\1\0", 3 },
	{ "MB", DNS_TYPE_MB, DATA(QNAME), "\0\2\xc0\x0c", 4 },
	{ "MD", DNS_TYPE_MD, DATA(QNAME), "\0\2\xc0\x0c", 4 },
	{ "MF", DNS_TYPE_MF, DATA(QNAME), "\0\2\xc0\x0c", 4 },
	{ "MG", DNS_TYPE_MG, DATA(QNAME), "\0\2\xc0\x0c", 4 },
	{ "MR", DNS_TYPE_MR, DATA(QNAME), "\0\2\xc0\x0c", 4 },
	{ "MX", DNS_TYPE_MX, DATA("\0\x0a\2mx" QNAME), "\0\7\0\x0a\2mx\xc0\x0c", 9 },
	{ "MINFO", DNS_TYPE_MINFO, DATA("\1a" QNAME "\1a" QNAME), "\0\6\1a\xc0\x0c\xc0\x25", 8 },
	{ "SOA", DNS_TYPE_SOA, DATA("\2ns" QNAME QNAME SOA_TAIL),
	  "\0\x1b\2ns\xc0\x0c\xc0\x0c" SOA_TAIL, 29 },
	{ "SRV is not compressed", DNS_TYPE_SRV, DATA("\0\1\0\1\0\x35" QNAME),
	  "\0\x0f\0\1\0\1\0\x35" QNAME, 17 },
	{ "DNAME is not", DNS_TYPE_DNAME, DATA(QNAME), "\0\x09" QNAME, 11 },
	{ "an unknown type is not", 65280, DATA(QNAME), "\0\x09" QNAME, 11 },
};

static void test_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(records); i++) {
		const uint8_t *got = m.bytes + BASE;

		begin(512);
		assert_int_equal(writer_add_rr(&m.w, NAME(QNAME), records[i].type, DNS_CLASS_IN,
					       0x01020304, records[i].rdata,
					       records[i].rdata_bytes),
				 0);
		assert_memory_equal(got, "\xc0\x0c", 2);
		assert_int_equal(wire_load_be16(got + 2), records[i].type);
		assert_memory_equal(got + 4, "\0\1\1\2\3\4", 6);
		assert_int_equal(m.w.ttl_at, BASE + 6);
		if (writer_bytes(&m.w) != 10 + records[i].n_bytes ||
		    memcmp(got + 10, records[i].want, records[i].n_bytes))
			fail_msg("%s", records[i].name);
	}
}

static const struct {
	const char *name;
	uint16_t type;
	const uint8_t *rdata;
	size_t rdata_bytes;
} bad_records[] = {
	{ "NS without a name", DNS_TYPE_NS, DATA("") },
	{ "NS cut", DNS_TYPE_NS, DATA("\2ns") },
	{ "NS with a pointer", DNS_TYPE_NS, DATA("\xc0\x0c") },
	{ "NS with an octet behind", DNS_TYPE_NS, DATA("\2ns\0x") },
	{ "MX of one octet", DNS_TYPE_MX, DATA("\0") },
	{ "MX without a name", DNS_TYPE_MX, DATA("\0\1") },
	{ "MINFO with one name", DNS_TYPE_MINFO, DATA("\0") },
	{ "SOA without numbers", DNS_TYPE_SOA, DATA("\0\0") },
	{ "SOA with 19 octets of numbers", DNS_TYPE_SOA,
	  DATA("\0\0"
	       "1234567890123456789") },
	{ "SOA with 21", DNS_TYPE_SOA,
	  DATA("\0\0"
	       "123456789012345678901") },
};

static void test_bad_records_leave_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(bad_records); i++) {
		uint16_t n_suffixes;

		begin(512);
		n_suffixes = m.w.n_suffixes;
		if (writer_add_rr(&m.w, NAME("\3new\0"), bad_records[i].type, DNS_CLASS_IN, 0,
				  bad_records[i].rdata, bad_records[i].rdata_bytes) != ERR_RDATA)
			fail_msg("%s", bad_records[i].name);
		assert_int_equal(writer_bytes(&m.w), 0);
		assert_int_equal(m.w.n_suffixes, n_suffixes);
		assert_int_equal(m.w.n_records[WRITER_ANSWER], 0);
	}
}

/* The record has 39 octets: two of owner, ten of fixed fields, 27 of data. */
static void test_every_limit(void **state)
{
	static const uint8_t soa[] = "\2ns" QNAME QNAME SOA_TAIL;
	const uint32_t n_whole = 10 + 29;

	(void)state;
	for (uint32_t room = 0; room <= n_whole; room++) {
		int want = room < n_whole ? ERR_SPACE : 0;

		begin(BASE + room);
		assert_int_equal(writer_add_rr(&m.w, NAME(QNAME), DNS_TYPE_SOA, DNS_CLASS_IN, 0,
					       soa, sizeof(soa) - 1),
				 want);
		assert_int_equal(writer_bytes(&m.w), want ? 0 : n_whole);
		assert_int_equal(m.bytes[BASE + room], 0xee);
	}
}

static void test_limit_is_moved(void **state)
{
	(void)state;
	begin(512);
	writer_set_limit(&m.w, BASE + 15);
	assert_int_equal(writer_left(&m.w), 15);
	assert_int_equal(writer_add_rr(&m.w, NAME(QNAME), DNS_TYPE_A, 1, 0, DATA("1234")),
			 ERR_SPACE);
	writer_set_limit(&m.w, BASE + 16);
	assert_int_equal(writer_add_rr(&m.w, NAME(QNAME), DNS_TYPE_A, 1, 0, DATA("1234")), 0);
	assert_int_equal(writer_left(&m.w), 0);
}

/* An RRset that does not fit is removed as a whole, and its names are no longer targets. */
static void test_rollback(void **state)
{
	struct writer_mark mark;

	(void)state;
	begin(512);
	assert_int_equal(writer_add_rr(&m.w, NAME(QNAME), DNS_TYPE_A, 1, 0, DATA("1234")), 0);
	mark = writer_get_mark(&m.w);
	writer_set_section(&m.w, WRITER_AUTHORITY);
	assert_int_equal(writer_add_rr(&m.w, NAME("\2de\0"), DNS_TYPE_NS, 1, 0, DATA("\1a\2de\0")),
			 0);
	assert_int_equal(m.w.n_records[WRITER_AUTHORITY], 1);
	writer_rollback(&m.w, &mark);
	assert_int_equal(writer_bytes(&m.w), 16);
	assert_int_equal(m.w.n_records[WRITER_ANSWER], 1);
	assert_int_equal(m.w.n_records[WRITER_AUTHORITY], 0);
	assert_int_equal(m.w.section, WRITER_ANSWER);
	assert_int_equal(writer_add_name(&m.w, NAME("\1a\2de\0")), 0);
	assert_memory_equal(m.bytes + BASE + 16, "\1a\2de\0", 6);
}

static void test_header(void **state)
{
	uint8_t header[DNS_HEADER_BYTES];

	(void)state;
	begin(512);
	for (enum writer_section s = WRITER_ANSWER; s < WRITER_N_SECTIONS; s++) {
		writer_set_section(&m.w, s);
		for (int i = 0; i <= (int)s; i++)
			assert_int_equal(writer_add_rr(&m.w, NAME(QNAME), DNS_TYPE_A, 1, 0,
						       DATA("1234")),
					 0);
	}
	writer_put_header(&m.w, header, 0xabcd, DNS_FLAG_QR | DNS_FLAG_AA | DNS_RCODE_NXDOMAIN, 2);
	assert_memory_equal(header, "\xab\xcd\x84\3\0\1\0\1\0\2\0\5", 12);
}

/* --- Read back by ldns ------------------------------------------------------------------------ */

/* A name of a few labels of a small alphabet in random case: many shared suffixes. */
static void draw_name(uint8_t *dst)
{
	int n_labels = rand() % 6;

	while (n_labels--) {
		int n = 1 + rand() % 2;

		*dst++ = (uint8_t)n;
		while (n--)
			*dst++ = (uint8_t)("abAB"[rand() % 4]);
	}
	*dst = 0;
}

struct drawn {
	uint8_t owner[64];
	uint8_t rdata[160];
	size_t rdata_bytes;
	uint16_t type;
};

static void draw_record(struct drawn *d)
{
	static const uint16_t types[] = { DNS_TYPE_NS, DNS_TYPE_MX, DNS_TYPE_SOA, DNS_TYPE_SRV,
					  DNS_TYPE_A };
	uint8_t *p = d->rdata;

	draw_name(d->owner);
	d->type = types[(size_t)rand() % N_ROWS(types)];
	memset(d->rdata, 0, sizeof(d->rdata));
	if (d->type == DNS_TYPE_MX || d->type == DNS_TYPE_SRV)
		p += d->type == DNS_TYPE_MX ? 2 : 6;
	if (d->type == DNS_TYPE_A) {
		p += 4;
	} else {
		draw_name(p);
		p += name_bytes(p);
	}
	if (d->type == DNS_TYPE_SOA) {
		draw_name(p);
		p += name_bytes(p) + 20;
	}
	d->rdata_bytes = (size_t)(p - d->rdata);
}

/* ldns's wire form of a record, uncompressed and in lower case, equals ours. */
static void compare(const ldns_rr *rr, const struct drawn *d)
{
	uint8_t want[512], got[512], *wire;
	size_t n_owner = name_bytes(d->owner), n_want = n_owner + 10 + d->rdata_bytes, n_got;

	memcpy(want, d->owner, n_owner);
	memset(want + n_owner, 0, 10);
	wire_store_be16(want + n_owner, d->type);
	want[n_owner + 3] = DNS_CLASS_IN;
	wire_store_be16(want + n_owner + 8, (uint16_t)d->rdata_bytes);
	memcpy(want + n_owner + 10, d->rdata, d->rdata_bytes);
	assert_int_equal(ldns_rr2wire(&wire, rr, LDNS_SECTION_ANSWER, &n_got), LDNS_STATUS_OK);
	assert_int_equal(n_got, n_want);
	name_fold(want, want, n_want);
	name_fold(got, wire, n_got);
	assert_memory_equal(got, want, n_want);
	free(wire);
}

#define N_DRAWN 1500

static void write_and_read_back(uint32_t limit)
{
	static struct drawn drawn[N_DRAWN];
	size_t n = 0;
	ldns_pkt *pkt;

	begin(limit);
	for (int i = 0; i < N_DRAWN; i++) {
		struct writer_mark mark = writer_get_mark(&m.w);

		draw_record(&drawn[n]);
		if (writer_add_rr(&m.w, drawn[n].owner, drawn[n].type, DNS_CLASS_IN, 0,
				  drawn[n].rdata, drawn[n].rdata_bytes))
			continue;
		if (rand() % 4)
			n++;
		else
			writer_rollback(&m.w, &mark);
	}
	writer_put_header(&m.w, m.bytes, 1, DNS_FLAG_QR, 0);
	assert_int_equal(m.w.n_records[WRITER_ANSWER], n);
	assert_int_equal(ldns_wire2pkt(&pkt, m.bytes, m.w.at), LDNS_STATUS_OK);
	assert_int_equal(ldns_rr_list_rr_count(ldns_pkt_answer(pkt)), n);
	for (size_t i = 0; i < n; i++)
		compare(ldns_rr_list_rr(ldns_pkt_answer(pkt), i), &drawn[i]);
	ldns_pkt_free(pkt);
}

static void test_ldns_reads_the_same(void **state)
{
	(void)state;
	srand(20);
	for (uint32_t limit = 100; limit <= 65535; limit = limit * 5 / 4)
		write_and_read_back(limit);
	write_and_read_back(65535);
}

/* More suffixes than the table holds: names get longer, but stay correct. */
static void test_table_full(void **state)
{
	ldns_pkt *pkt;

	(void)state;
	begin(65535);
	for (unsigned int i = 0; i < 2 * WRITER_SUFFIX_CAP; i++) {
		char text[16];
		uint8_t owner[16];
		int n = snprintf(text, sizeof(text), "n%u.example", i);

		assert_true(name_from_text(owner, sizeof(owner), text, (size_t)n) > 0);
		assert_int_equal(writer_add_rr(&m.w, owner, DNS_TYPE_A, 1, 0, DATA("1234")), 0);
	}
	assert_int_equal(m.w.n_suffixes, WRITER_SUFFIX_CAP);
	writer_put_header(&m.w, m.bytes, 1, DNS_FLAG_QR, 0);
	assert_int_equal(ldns_wire2pkt(&pkt, m.bytes, m.w.at), LDNS_STATUS_OK);
	assert_int_equal(ldns_rr_list_rr_count(ldns_pkt_answer(pkt)), 2 * WRITER_SUFFIX_CAP);
	ldns_pkt_free(pkt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_without_question),
		cmocka_unit_test(test_targets_end_at_0x3fff),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_bad_records_leave_nothing),
		cmocka_unit_test(test_every_limit),
		cmocka_unit_test(test_limit_is_moved),
		cmocka_unit_test(test_rollback),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_ldns_reads_the_same),
		cmocka_unit_test(test_table_full),
	};

	return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
