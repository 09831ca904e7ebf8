/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries of a secondary, replies to SOA queries, NOTIFY, short replies. */
#include <stdlib.h>

#include "tests/unit/xfr/made.h"

#include "base/err.h"
#include "dns/query.h"
#include "xfr/notify.h"
#include "xfr/xfr_request.h"

static const uint8_t zone[] = "\1Z";
static const uint8_t folded[] = "\1z";

/* --- Requests --- */

static void test_build(void **state)
{
	struct made_rdata soa = soa_of(7);
	struct xfr_request r = { .zone = zone, .id = 9, .type = DNS_TYPE_SOA };
	uint8_t buf[XFR_REQUEST_MAX];
	struct query q;
	int n = xfr_request_build(buf, sizeof(buf), &r);

	(void)state;
	assert_int_equal(n, DNS_HEADER_BYTES + 3 + 4);
	assert_int_equal(query_parse(&q, buf, (size_t)n), QUERY_OK);
	assert_int_equal(q.id, 9);
	assert_int_equal(q.qtype, DNS_TYPE_SOA);
	assert_int_equal(q.flags, 0);
	assert_false(q.edns.present);
	for (int cap = 0; cap < n; cap++)
		assert_int_equal(xfr_request_build(buf, (size_t)cap, &r), ERR_SPACE);

	r = (struct xfr_request){ .zone = zone,
				  .id = 9,
				  .type = DNS_TYPE_IXFR,
				  .udp_size = 1232,
				  .soa = soa.bytes,
				  .soa_bytes = soa.n,
				  .soa_ttl = 60,
				  .wants_expire = true };
	n = xfr_request_build(buf, sizeof(buf), &r);
	assert_int_equal(query_parse(&q, buf, (size_t)n), QUERY_OK);
	assert_int_equal(q.end, n);
	assert_true(q.edns.present);
	assert_int_equal(q.edns.udp_size, 1232);
	assert_int_equal(q.edns.n_options, 1);
	assert_int_equal(wire_load_be16(buf + DNS_NSCOUNT_AT), 1);
	assert_memory_equal(buf + 19 + 12, soa.bytes, soa.n);
}

/* RFC 8467: the padded length is a multiple for all contents and signatures. */
static void test_padding(void **state)
{
	struct made_rdata soa = soa_of(7);
	uint8_t buf[XFR_REQUEST_MAX];

	(void)state;
	for (size_t room = 0; room < 2 * XFR_REQUEST_PAD_BYTES; room++) {
		struct xfr_request r = { .zone = zone,
					 .type = room % 2 ? DNS_TYPE_IXFR : DNS_TYPE_AXFR,
					 .udp_size = 1232,
					 .pads = true,
					 .pad_room = room,
					 .soa = soa.bytes,
					 .soa_bytes = soa.n };
		int n = xfr_request_build(buf, sizeof(buf), &r);
		struct query q;

		assert_true(n > 0);
		assert_int_equal(((size_t)n + room) % XFR_REQUEST_PAD_BYTES, 0);
		assert_int_equal(query_parse(&q, buf, (size_t)n), QUERY_OK);
		assert_int_equal(q.end, n);
	}
}

/* --- Replies to SOA queries --- */

static struct made soa_reply(uint16_t flags, unsigned n_soa)
{
	struct made_rdata soa = soa_of(7);
	struct made m;

	made_begin(&m, 9, flags, "z", DNS_TYPE_SOA, DNS_CLASS_IN);
	while (n_soa--)
		made_record(&m, DNS_ANCOUNT_AT, "Z", DNS_TYPE_SOA, DNS_CLASS_IN, 60, soa.bytes,
			    soa.n);
	return m;
}

static int read_soa(struct xfr_request_soa *out, const struct made *m)
{
	uint8_t *copy = malloc(m->n);
	int err;

	assert_non_null(copy);
	memcpy(copy, m->bytes, m->n);
	err = xfr_request_read_soa(out, copy, m->n, 9, folded);
	free(copy);
	return err;
}

static void test_read_soa(void **state)
{
	struct xfr_request_soa r;
	struct made m = soa_reply(0x8400, 1);

	(void)state;
	made_record(&m, DNS_ARCOUNT_AT, ".", DNS_TYPE_OPT, 1232, 0, "\0\11\0\4\0\0\1\0", 8);
	assert_int_equal(read_soa(&r, &m), 0);
	assert_true(r.is_authority && r.has_soa && r.has_expire && !r.is_truncated);
	assert_int_equal(r.serial, 7);
	assert_int_equal(r.refresh_s, 60);
	assert_int_equal(r.retry_s, 120);
	assert_int_equal(r.expire_s, 180);
	assert_int_equal(r.minimum_s, 240);
	assert_int_equal(r.expire_left_s, 256);
	while (m.n--) {
		struct made shorter = m;

		if (m.n < DNS_HEADER_BYTES)
			assert_int_equal(read_soa(&r, &shorter), ERR_CLOSED);
		else
			assert_int_equal(read_soa(&r, &shorter), ERR_FORMAT);
	}
	m = soa_reply(0x8000, 0);
	assert_int_equal(read_soa(&r, &m), 0);
	assert_false(r.has_soa || r.is_authority || r.has_expire);
	m = soa_reply(0x8400, 2);
	assert_int_equal(read_soa(&r, &m), 0);
	assert_false(r.has_soa);
	m = soa_reply(0x8600, 1);
	assert_int_equal(read_soa(&r, &m), 0);
	assert_true(r.is_truncated && !r.has_soa);
	m = soa_reply(0x8405, 0);
	assert_int_equal(read_soa(&r, &m), 0);
	assert_int_equal(r.rcode, DNS_RCODE_REFUSED);
	made_begin(&m, 9, 0x8401, NULL, 0, 0);
	assert_int_equal(read_soa(&r, &m), 0);
	assert_int_equal(r.rcode, DNS_RCODE_FORMERR);
	m = soa_reply(0x0400, 1);
	assert_int_equal(read_soa(&r, &m), ERR_CLOSED);
	m = soa_reply(0x8400, 1);
	m.bytes[1]++;
	assert_int_equal(read_soa(&r, &m), ERR_CLOSED);
	made_begin(&m, 9, 0x8400, "y", DNS_TYPE_SOA, DNS_CLASS_IN);
	assert_int_equal(read_soa(&r, &m), ERR_CLOSED);
	made_begin(&m, 9, 0x8400, NULL, 0, 0);
	assert_int_equal(read_soa(&r, &m), ERR_FORMAT);
	m = soa_reply(0x8400, 0);
	made_record(&m, DNS_ANCOUNT_AT, "z", DNS_TYPE_SOA, DNS_CLASS_IN, 60, "\0\0", 2);
	assert_int_equal(read_soa(&r, &m), ERR_FORMAT);
}

/* --- NOTIFY --- */

static void test_notify(void **state)
{
	struct made_rdata soa = soa_of(7);
	uint8_t buf[512], reply[512];
	struct notify n;
	int len = notify_build(buf, sizeof(buf), 9, zone, soa.bytes, soa.n, 60);

	(void)state;
	assert_true(len > 0);
	assert_int_equal(wire_load_be16(buf + DNS_FLAGS_AT), 0x2400);
	assert_int_equal(notify_parse(&n, buf, (size_t)len), 0);
	assert_int_equal(n.id, 9);
	assert_memory_equal(n.zone, folded, 3);
	assert_int_equal(n.zone_bytes, 3);
	assert_true(n.has_serial);
	assert_int_equal(n.serial, 7);
	for (int k = 0; k < len; k++) {
		uint8_t *copy = malloc((size_t)k + 1);

		assert_non_null(copy);
		memcpy(copy, buf, (size_t)k);
		assert_int_equal(notify_parse(&n, copy, (size_t)k),
				 k < DNS_HEADER_BYTES ? ERR_CLOSED : ERR_FORMAT);
		free(copy);
	}
	/* A reply, and messages that are no reply to this NOTIFY. */
	assert_int_equal(xfr_reply(reply, sizeof(reply), buf, (size_t)len, DNS_FLAG_AA,
				   DNS_RCODE_REFUSED),
			 19);
	assert_int_equal(wire_load_be16(reply + DNS_FLAGS_AT), 0xa405);
	assert_int_equal(notify_match(reply, 19, 9, folded), DNS_RCODE_REFUSED);
	assert_int_equal(notify_match(reply, 19, 8, folded), ERR_FORMAT);
	assert_int_equal(notify_match(reply, 19, 9, (const uint8_t *)"\1y"), ERR_FORMAT);
	assert_int_equal(notify_match(reply, 18, 9, folded), ERR_FORMAT);
	assert_int_equal(notify_match(buf, (size_t)len, 9, folded), ERR_FORMAT);
	assert_int_equal(notify_parse(&n, reply, 19), ERR_CLOSED);
	/* Without a SOA, and with a SOA that does not fit. */
	assert_int_equal(notify_build(buf, sizeof(buf), 9, zone, NULL, 0, 0), 19);
	assert_int_equal(notify_parse(&n, buf, 19), 0);
	assert_false(n.has_serial);
	assert_int_equal(notify_build(buf, 40, 9, zone, soa.bytes, soa.n, 60), 19);
	assert_int_equal(notify_build(buf, 18, 9, zone, soa.bytes, soa.n, 60), ERR_SPACE);
}

static void test_notify_others(void **state)
{
	struct made_rdata soa = soa_of(7);
	struct notify n;
	struct made m;

	(void)state;
	made_begin(&m, 9, 0x2400, "z", DNS_TYPE_A, DNS_CLASS_IN);
	assert_int_equal(notify_parse(&n, m.bytes, m.n), ERR_TYPE);
	made_begin(&m, 9, 0x2400, "z", DNS_TYPE_SOA, DNS_CLASS_CH);
	assert_int_equal(notify_parse(&n, m.bytes, m.n), ERR_TYPE);
	made_begin(&m, 9, 0x2800, "z", DNS_TYPE_SOA, DNS_CLASS_IN);
	assert_int_equal(notify_parse(&n, m.bytes, m.n), ERR_TYPE);
	made_begin(&m, 9, 0x2400, NULL, 0, 0);
	assert_int_equal(notify_parse(&n, m.bytes, m.n), ERR_FORMAT);
	/* A SOA of another zone is ignored. */
	made_begin(&m, 9, 0x2400, "z", DNS_TYPE_SOA, DNS_CLASS_IN);
	made_record(&m, DNS_ANCOUNT_AT, "y", DNS_TYPE_SOA, DNS_CLASS_IN, 60, soa.bytes, soa.n);
	assert_int_equal(notify_parse(&n, m.bytes, m.n), 0);
	assert_false(n.has_serial);
}

/* --- Short replies --- */

static void test_reply(void **state)
{
	struct made m;
	uint8_t out[512];

	(void)state;
	made_begin(&m, 0xabcd, 0x2910, "z", DNS_TYPE_SOA, DNS_CLASS_IN);
	made_record(&m, DNS_NSCOUNT_AT, "z", DNS_TYPE_A, DNS_CLASS_IN, 60, "abcd", 4);
	assert_int_equal(xfr_reply(out, sizeof(out), m.bytes, m.n, 0, DNS_RCODE_NOTAUTH), 19);
	assert_memory_equal(out, "\xab\xcd\xa9\x09\0\1\0\0\0\0\0\0\1z\0\0\6\0\1", 19);
	assert_int_equal(xfr_reply(out, 18, m.bytes, m.n, 0, DNS_RCODE_NOTAUTH), ERR_SPACE);
	assert_int_equal(xfr_reply(out, sizeof(out), m.bytes, 17, 0, DNS_RCODE_FORMERR), 12);
	assert_int_equal(wire_load_be16(out + DNS_QDCOUNT_AT), 0);
	assert_int_equal(xfr_reply(out, sizeof(out), m.bytes, 11, 0, DNS_RCODE_FORMERR),
			 ERR_FORMAT);
	assert_int_equal(xfr_reply(m.bytes, 512, m.bytes, m.n, 0, DNS_RCODE_NOTAUTH), 19);
	assert_memory_equal(m.bytes, "\xab\xcd\xa9\x09", 4);
	assert_true(xfr_serial_newer(1, 0));
	assert_true(xfr_serial_newer(0, UINT32_MAX));
	assert_false(xfr_serial_newer(7, 7));
	assert_false(xfr_serial_newer(0x80000007u, 7));
	assert_false(xfr_serial_newer(7, 0x80000007u));
	assert_true(xfr_serial_newer(0x80000006u, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build),         cmocka_unit_test(test_padding),
		cmocka_unit_test(test_read_soa),      cmocka_unit_test(test_notify),
		cmocka_unit_test(test_notify_others), cmocka_unit_test(test_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
