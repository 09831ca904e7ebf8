/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which differences between two answers count: each octet of an answer is changed in turn, and
 * answers that say the same in other octets are compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "shield/alike.h"

#define NAME       "\3www\1z"
#define NAME_BYTES sizeof(NAME)
#define BODY_AT    (DNS_HEADER_BYTES + NAME_BYTES + DNS_QUESTION_FIXED_BYTES)
#define ZONE_AT    (DNS_HEADER_BYTES + 4u)
#define HEAD_BYTES 18u /* of a signature, up to the signer's name */

/* What may be another in an answer that says the same, or not. */
struct form {
	bool is_plain;     /* names are not compressed */
	bool is_capital;   /* names are written in capitals */
	uint32_t serial;   /* 0: 7 */
	unsigned int sigs; /* over the SOA */
	uint8_t key_tag;   /* of these */
	uint8_t signature; /* of these, the last octet */
};

struct made {
	uint8_t body[600];
	struct alike_answer a;
	uint32_t serial_at, head_at; /* in the body: of the SOA, of the first signature over it */
};

static void put_name(struct wire_writer *w, const struct form *f, bool is_zone)
{
	if (!f->is_plain) {
		wire_write_be16(w, (uint16_t)(0xc000 | (is_zone ? ZONE_AT : DNS_HEADER_BYTES)));
	} else {
		if (!is_zone)
			wire_write_bytes(w, f->is_capital ? "\3WWW" : "\3www", 4);
		wire_write_bytes(w, f->is_capital ? "\1Z" : "\1z", 3);
	}
}

/* The head of a record; its data is put behind that, and then measured. */
static size_t put_head(struct wire_writer *w, const struct form *f, bool is_zone, uint16_t type)
{
	put_name(w, f, is_zone);
	wire_write_be16(w, type);
	wire_write_be16(w, DNS_CLASS_IN);
	wire_write_be32(w, 300);
	wire_write_be16(w, 0);
	return w->at;
}

static void put_length(struct made *made, const struct wire_writer *w, size_t begin)
{
	wire_store_be16(made->body + begin - 2, (uint16_t)(w->at - begin));
}

static void put_soa(struct made *made, struct wire_writer *w, const struct form *f)
{
	size_t begin = put_head(w, f, true, DNS_TYPE_SOA);

	put_name(w, f, true);
	put_name(w, f, false);
	made->serial_at = (uint32_t)w->at;
	wire_write_be32(w, f->serial ? f->serial : 7);
	for (uint32_t i = 0; i < 4; i++)
		wire_write_be32(w, 60 + i);
	put_length(made, w, begin);
}

static uint32_t put_signature(struct made *made, struct wire_writer *w, const struct form *f,
			      uint16_t covered, uint8_t number)
{
	bool is_soa = covered == DNS_TYPE_SOA;
	size_t begin = put_head(w, f, true, DNS_TYPE_RRSIG);

	wire_write_be16(w, covered);
	wire_write_be16(w, 13 << 8 | 1);
	wire_write_be32(w, 300);
	wire_write_be32(w, 2000000);
	wire_write_be32(w, 1000000);
	wire_write_be16(w, (uint16_t)(0x1200 + (is_soa ? f->key_tag : 0) + number));
	wire_write_bytes(w, f->is_capital ? "\1Z" : "\1z", 3);
	wire_write_be32(w, 0x55aa5500u + (is_soa ? f->signature : 0));
	put_length(made, w, begin);
	return (uint32_t)begin;
}

/* An alias; SOA, NSEC and signatures; an address. */
static void make(struct made *made, const struct form *f)
{
	struct wire_writer w;
	size_t begin;

	*made = (struct made){ 0 };
	wire_writer_init(&w, made->body, sizeof(made->body));
	begin = put_head(&w, f, false, DNS_TYPE_CNAME);
	wire_write_bytes(&w, f->is_capital ? "\1T" : "\1t", 2);
	put_name(&w, f, true);
	put_length(made, &w, begin);
	put_soa(made, &w, f);
	for (unsigned int i = 0; i < f->sigs; i++) {
		uint32_t at = put_signature(made, &w, f, DNS_TYPE_SOA, (uint8_t)i);

		made->head_at = i ? made->head_at : at;
	}
	begin = put_head(&w, f, true, DNS_TYPE_NSEC);
	wire_write_bytes(&w, "\1x\1z\0\0\1\x40", 8);
	put_length(made, &w, begin);
	put_signature(made, &w, f, DNS_TYPE_NSEC, 0);
	begin = put_head(&w, f, true, DNS_TYPE_A);
	wire_write_be32(&w, 0xc0000201);
	put_length(made, &w, begin);
	assert_int_equal(w.error, 0);
	made->a = (struct alike_answer){
		.m = { .name = (const uint8_t *)NAME,
		       .body = made->body,
		       .name_end = DNS_HEADER_BYTES + NAME_BYTES,
		       .body_at = BODY_AT,
		       .end = (uint32_t)(BODY_AT + w.at) },
		.flags = DNS_FLAG_QR | DNS_FLAG_AA,
		.ancount = 1,
		.nscount = (uint16_t)(3 + f->sigs),
		.arcount = 1,
	};
}

static const struct {
	const char *what;
	struct form cached, rendered;
	enum alike is;
} rows[] = {
	{ "the same", { .sigs = 1 }, { .sigs = 1 }, ALIKE_SAME },
	{ "other compression", { .sigs = 1, .is_plain = true }, { .sigs = 1 }, ALIKE_SAME },
	{ "letter case",
	  { .sigs = 1, .is_plain = true, .is_capital = true },
	  { .sigs = 1 },
	  ALIKE_SAME },
	{ "an older SOA", { .sigs = 1, .serial = 6 }, { .sigs = 1 }, ALIKE_SAME },
	{ "and another signature",
	  { .sigs = 1, .serial = 6, .signature = 1 },
	  { .sigs = 1 },
	  ALIKE_SAME },
	{ "and another key", { .sigs = 1, .serial = 6, .key_tag = 1 }, { .sigs = 1 }, ALIKE_SAME },
	{ "and one key less", { .sigs = 1, .serial = 6 }, { .sigs = 2 }, ALIKE_SAME },
	{ "and no signatures", { .serial = 6 }, {}, ALIKE_SAME },
	{ "the same SOA, another signature",
	  { .sigs = 1, .signature = 1 },
	  { .sigs = 1 },
	  ALIKE_OTHER },
	{ "the same SOA, another key", { .sigs = 1, .key_tag = 1 }, { .sigs = 1 }, ALIKE_UNSURE },
	{ "the same SOA, one key less", { .sigs = 1 }, { .sigs = 2 }, ALIKE_UNSURE },
	{ "the same SOA, one key more", { .sigs = 2 }, { .sigs = 1 }, ALIKE_UNSURE },
};

static void test_forms(void **state)
{
	struct made cached, rendered;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make(&cached, &rows[i].cached);
		make(&rendered, &rows[i].rendered);
		if (alike_compare(&cached.a, &rendered.a) != rows[i].is)
			fail_msg("%s", rows[i].what);
	}
}

/* Another octet in the body of the answer from the cache. */
static enum alike expected(const struct made *made, uint32_t at)
{
	if (at >= made->serial_at && at < made->serial_at + 4)
		return ALIKE_SAME;
	if (at >= made->head_at + 2 && at < made->head_at + HEAD_BYTES)
		return ALIKE_UNSURE;
	return ALIKE_OTHER;
}

static void test_each_octet(void **state)
{
	static const struct form forms[] = { { .sigs = 1 }, { .sigs = 1, .is_plain = true } };
	static const uint8_t bits[] = { 0x01, 0x02, 0x80 };
	struct made cached, rendered;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(bits); i++) {
		make(&cached, &forms[i % 2]);
		make(&rendered, &forms[0]);
		for (uint32_t at = 0; BODY_AT + at < cached.a.m.end; at++) {
			cached.body[at] ^= bits[i / 2];
			if (alike_compare(&cached.a, &rendered.a) != expected(&cached, at))
				fail_msg("form %zu, octet %u, bit %02x", i % 2, at, bits[i / 2]);
			cached.body[at] ^= bits[i / 2];
		}
	}
}

/* Under an older SOA its signatures are of no account, but all the rest is. */
static void test_each_octet_beside_an_older_soa(void **state)
{
	struct made cached, rendered;

	(void)state;
	make(&cached, &(struct form){ .sigs = 1, .serial = 6 });
	make(&rendered, &(struct form){ .sigs = 1 });
	for (uint32_t at = cached.head_at + 2; at < cached.head_at + HEAD_BYTES + 3 + 4; at++) {
		cached.body[at] ^= 1;
		assert_int_equal(alike_compare(&cached.a, &rendered.a), ALIKE_SAME);
		cached.body[at] ^= 1;
	}
	for (uint32_t at = 0; at < cached.serial_at; at++) {
		cached.body[at] ^= 1;
		assert_int_equal(alike_compare(&cached.a, &rendered.a), ALIKE_OTHER);
		cached.body[at] ^= 1;
	}
}

static void test_heads(void **state)
{
	struct made cached, rendered;
	struct alike_answer whole;

	(void)state;
	make(&cached, &(struct form){ .sigs = 1 });
	make(&rendered, &(struct form){ .sigs = 1 });
	whole = cached.a;
	cached.a.flags |= DNS_RCODE_NXDOMAIN;
	assert_int_equal(alike_compare(&cached.a, &rendered.a), ALIKE_OTHER);
	cached.a = whole;
	cached.a.ancount++, cached.a.nscount--;
	assert_int_equal(alike_compare(&cached.a, &rendered.a), ALIKE_OTHER);
	cached.a = whole;
	cached.a.nscount--, cached.a.arcount++;
	assert_int_equal(alike_compare(&cached.a, &rendered.a), ALIKE_OTHER);
	cached.a = whole;
	cached.a.nscount--;
	assert_int_equal(alike_compare(&cached.a, &rendered.a), ALIKE_OTHER);
	cached.a = whole;
	cached.a.nscount++;
	assert_int_equal(alike_compare(&cached.a, &rendered.a), ALIKE_OTHER);
}

/* A body that ends early, or late. */
static void test_each_length(void **state)
{
	struct made cached, rendered;

	(void)state;
	make(&rendered, &(struct form){ .sigs = 1 });
	make(&cached, &(struct form){ .sigs = 1 });
	for (uint32_t end = BODY_AT; end < rendered.a.m.end + 3; end++) {
		cached.a.m.end = end;
		assert_int_equal(alike_compare(&cached.a, &rendered.a),
				 end == rendered.a.m.end ? ALIKE_SAME : ALIKE_OTHER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_each_octet),
		cmocka_unit_test(test_each_octet_beside_an_older_soa),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_each_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
