/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones and change sets are written and read, in messages of many sizes, signed and unsigned. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/xfr/made.h"
#include "tests/unit/zone/zone_text.h"

#include "tests/lib/draw.h"
#include "xfr/xfr_in.h"
#include "xfr/xfr_out.h"
#include "zone/builder.h"

static const uint8_t apex[] = "\1z";
static const uint8_t qname[] = "\1Z";

/* --- Random zones --- */

static void random_label(char dst[64], unsigned n)
{
	static const char letters[] = "abcXYZ019-";

	for (unsigned i = 0; i < n; i++)
		dst[i] = letters[draw(10)];
	dst[n] = '\0';
}

static void random_owner(char dst[300])
{
	unsigned n = draw(4);

	dst[0] = '\0';
	while (n--) {
		char label[64];

		random_label(label, 1 + draw(draw(8) ? 3 : 60));
		strcat(dst, label);
		strcat(dst, ".");
	}
	strcat(dst, "z");
}

static uint16_t random_rdata(uint8_t dst[2048], uint16_t *type)
{
	static const uint16_t types[] = { DNS_TYPE_A,   DNS_TYPE_AAAA, DNS_TYPE_MX,    DNS_TYPE_TXT,
					  DNS_TYPE_SRV, DNS_TYPE_PTR,  DNS_TYPE_RRSIG, 65280 };
	char name[300];
	uint16_t n = 0;

	*type = types[draw(8)];
	memset(dst, (int)draw(256), 2048);
	random_owner(name);
	switch (*type) {
	case DNS_TYPE_A:
		return 4;
	case DNS_TYPE_AAAA:
		return 16;
	case DNS_TYPE_MX:
		return (uint16_t)(2 + put_name(dst + 2, name));
	case DNS_TYPE_SRV:
		return (uint16_t)(6 + put_name(dst + 6, name));
	case DNS_TYPE_PTR:
		return (uint16_t)put_name(dst, name);
	case DNS_TYPE_RRSIG:
		wire_store_be16(dst, types[draw(7)]);
		return (uint16_t)(18 + put_name(dst + 18, "z") + 64);
	case DNS_TYPE_TXT:
		do {
			dst[n] = (uint8_t)draw(256);
			n = (uint16_t)(n + 1 + dst[n]);
		} while (n < 1700 && draw(3));
		return n;
	default:
		return (uint16_t)draw(2000);
	}
}

static void add(struct zone_builder *b, const char *owner, uint16_t type, uint32_t ttl,
		const uint8_t *rdata, uint16_t n)
{
	uint8_t name[256];
	struct zone_error err;
	const struct zone_builder_record r = {
		.owner = name,
		.owner_bytes = (unsigned)put_name(name, owner),
		.type = type,
		.ttl = ttl,
		.rdata = rdata,
		.rdata_bytes = n,
	};

	assert_int_equal(zone_builder_add(b, &r, &err), 0);
}

static struct zone *random_zone(uint32_t serial, unsigned n)
{
	struct zone_builder *b;
	struct zone_error err = { 0 };
	struct made_rdata soa = soa_of(serial), ns = name_rdata("ns.other");
	struct zone *z;

	assert_int_equal(zone_builder_new(&b, apex), 0);
	add(b, "z", DNS_TYPE_SOA, 300, soa.bytes, soa.n);
	add(b, "z", DNS_TYPE_NS, 300, ns.bytes, ns.n);
	while (n--) {
		char owner[300];
		uint8_t rdata[2048];
		uint16_t type, bytes = random_rdata(rdata, &type);

		random_owner(owner);
		add(b, owner, type, 60 + draw(3), rdata, bytes);
	}
	if (zone_builder_finish(b, &z, &err))
		fail_msg("%s", err.sentence);
	zone_builder_free(b);
	return z;
}

/* There is no file and no line to name. */
static void test_a_warning_names_the_owner(void **state)
{
	struct zone_builder *b;
	struct zone_error err = { 0 };
	struct made_rdata soa = soa_of(1), ns = name_rdata("ns.other");
	static const uint8_t address[2][4] = { { 192, 0, 2, 1 }, { 192, 0, 2, 2 } };
	struct zone *z;

	(void)state;
	assert_int_equal(zone_builder_new(&b, apex), 0);
	add(b, "z", DNS_TYPE_SOA, 300, soa.bytes, soa.n);
	add(b, "z", DNS_TYPE_NS, 300, ns.bytes, ns.n);
	add(b, "www.z", DNS_TYPE_A, 7, address[0], 4);
	add(b, "www.z", DNS_TYPE_A, 6, address[1], 4);
	assert_int_equal(zone_builder_finish(b, &z, &err), 0);
	zone_builder_free(b);
	zone_free(z);
	assert_string_equal(err.warning,
			    "the TTLs of the A records of www.z. differ; the lowest, 6, is used");
}

/* --- Both sides of a transfer --- */

struct receiver {
	struct zone_builder *builder;
	struct changeset sets[8];
	size_t n_sets;
	unsigned n_begun;
	uint32_t rrsig_ttl;
};

static int on_begin(void *user, uint32_t serial)
{
	struct receiver *r = user;

	(void)serial;
	r->n_begun++;
	return zone_builder_new(&r->builder, apex);
}

static int on_record(void *user, const uint8_t *owner, unsigned owner_bytes, uint16_t type,
		     uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes)
{
	const struct zone_builder_record record = {
		.owner = owner,
		.owner_bytes = owner_bytes,
		.type = type,
		.ttl = ttl,
		.rdata = rdata,
		.rdata_bytes = rdata_bytes,
	};
	struct receiver *r = user;
	struct zone_error err;

	if (type == DNS_TYPE_RRSIG)
		r->rrsig_ttl = ttl;
	return zone_builder_add(r->builder, &record, &err);
}

static int on_changes(void *user, struct changeset *set)
{
	struct receiver *r = user;

	assert_true(r->n_sets < 8);
	changeset_move(&r->sets[r->n_sets++], set);
	return 0;
}

static struct tsig_keys *make_keys(void)
{
	const struct tsig_key_source source = { .name = qname, .secret = apex, .secret_bytes = 3 };
	struct tsig_keys *keys;

	assert_int_equal(tsig_keys_new(&keys, &source, 1), 0);
	return keys;
}

struct transfer {
	struct tsig_keys *keys;
	struct tsig client, server;
	struct xfr_out_request request;
	struct xfr_in in;
	struct receiver to;
	size_t n_messages;
};

static void begin(struct transfer *t, uint16_t type, uint32_t serial, bool is_signed)
{
	uint8_t query[512];
	struct xfr_in_config config = {
		.zone = apex,
		.id = 77,
		.type = type,
		.has_serial = type == DNS_TYPE_IXFR,
		.serial = serial,
		.tsig = &t->client,
		.sink = { &t->to, on_begin, on_record, on_changes },
	};
	struct made m;
	int n;

	*t = (struct transfer){ .keys = make_keys() };
	made_begin(&m, 77, 0, "z", type, DNS_CLASS_IN);
	memcpy(query, m.bytes, m.n);
	tsig_init(&t->client, is_signed ? tsig_keys_find(t->keys, qname) : NULL);
	n = tsig_sign(&t->client, query, m.n, sizeof(query), 1000);
	assert_true(n > 0);
	assert_int_equal(tsig_verify_request(&t->server, t->keys, query, (size_t)n, 1000, NULL),
			 is_signed ? TSIG_OK : TSIG_NONE);
	t->request = (struct xfr_out_request){
		.qname = qname,
		.id = 77,
		.qtype = type,
		.tsig = &t->server,
	};
	xfr_in_init(&t->in, &config);
}

/* Carries all messages, and returns the result of the last. No message is larger than cap; padded
 * messages are multiples of pad_to. */
static enum xfr_in_result carry(struct transfer *t, struct xfr_out *out, size_t cap)
{
	enum xfr_in_result result = XFR_IN_MORE;
	uint8_t *buf = malloc(cap);
	int n;

	assert_non_null(buf);
	while ((n = xfr_out_next(out, buf, cap, 1000)) > 0) {
		uint8_t *copy = malloc((size_t)n);

		assert_non_null(copy);
		assert_int_equal(result, XFR_IN_MORE);
		assert_true((size_t)n <= cap);
		if (t->request.pad_to && !((size_t)n == cap))
			assert_int_equal(n % t->request.pad_to, 0);
		assert_int_equal(wire_load_be16(buf + DNS_QDCOUNT_AT), !t->n_messages++);
		memcpy(copy, buf, (size_t)n);
		result = xfr_in_message(&t->in, copy, (size_t)n, 1000);
		free(copy);
	}
	assert_int_equal(n, 0);
	assert_true(xfr_out_is_done(out));
	assert_int_equal(t->in.n_messages, out->n_messages);
	assert_int_equal(t->in.n_records, out->n_records);
	assert_int_equal(t->in.n_bytes, out->n_bytes);
	free(buf);
	return result;
}

static void end(struct transfer *t, struct xfr_out *out)
{
	xfr_out_fini(out);
	xfr_in_fini(&t->in);
	tsig_fini(&t->client);
	tsig_fini(&t->server);
	tsig_keys_free(t->keys);
	for (size_t i = 0; i < t->to.n_sets; i++)
		changeset_fini(&t->to.sets[i]);
	zone_builder_free(t->to.builder);
}

static void assert_same_zone(struct transfer *t, const struct zone *z)
{
	uint8_t a[ZONE_DIGEST_LEN], b[ZONE_DIGEST_LEN];
	struct zone_error err;
	struct zone *got;

	assert_int_equal(zone_builder_finish(t->to.builder, &got, &err), 0);
	assert_int_equal(zone_n_records(got), zone_n_records(z));
	zone_digest(z, a);
	zone_digest(got, b);
	assert_memory_equal(a, b, sizeof(a));
	zone_free(got);
}

static const size_t caps[] = { 3000, 4096, 16384, 65535, 70000 };

static void test_axfr(void **state)
{
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));

	(void)state;
	assert_true(t && out);
	for (unsigned i = 0; i < 100; i++) {
		struct zone *z;

		seed = i;
		z = random_zone(i, i < 3 ? i : draw(300));
		begin(t, i % 3 ? DNS_TYPE_AXFR : DNS_TYPE_IXFR, i - 1, i % 2);
		t->request.has_edns = draw(2);
		t->request.pad_to = draw(3) ? 0 : 468;
		xfr_out_axfr(out, &t->request, z);
		assert_int_equal(carry(t, out, caps[i % 5]), XFR_IN_DONE);
		assert_true(t->in.is_whole);
		assert_int_equal(t->in.new_serial, i);
		assert_int_equal(t->to.n_begun, 1);
		assert_same_zone(t, z);
		end(t, out);
		zone_free(z);
	}
	free(out);
	free(t);
}

/* --- Changes --- */

struct sender {
	struct changeset sets[8];
	size_t n, at;
	int error;
};

static int next_set(void *user, struct changeset *set)
{
	struct sender *s = user;

	if (s->at == s->n)
		return s->error;
	assert_int_equal(set->n_bytes, 0);
	assert_int_equal(changeset_load(set, s->sets[s->at].bytes, s->sets[s->at].n_bytes), 0);
	s->at++;
	return 1;
}

static void put(struct changeset *set, enum changeset_op op, const char *owner, uint16_t type,
		const uint8_t *rdata, uint16_t n)
{
	uint8_t name[256];
	const struct changeset_record r = {
		.owner = name,
		.rdata = rdata,
		.ttl = 60,
		.type = type,
		.rdata_bytes = n,
		.op = (uint8_t)op,
	};

	put_name(name, owner);
	assert_int_equal(changeset_put(set, &r), 0);
}

static void random_half(struct changeset *set, enum changeset_op op, uint32_t serial)
{
	struct made_rdata soa = soa_of(serial);
	unsigned n = draw(60);

	put(set, op, "z", DNS_TYPE_SOA, soa.bytes, soa.n);
	while (n--) {
		char owner[300];
		uint8_t rdata[2048];
		uint16_t type, bytes = random_rdata(rdata, &type);

		random_owner(owner);
		put(set, op, owner, type, rdata, bytes);
	}
}

static void random_sets(struct sender *s, uint32_t serial, size_t n)
{
	*s = (struct sender){ .n = n };
	for (size_t i = 0; i < n; i++) {
		random_half(&s->sets[i], CHANGESET_REMOVE, serial + (uint32_t)i);
		random_half(&s->sets[i], CHANGESET_ADD, serial + (uint32_t)i + 1);
	}
}

static void free_sets(struct sender *s)
{
	for (size_t i = 0; i < s->n; i++)
		changeset_fini(&s->sets[i]);
}

static void test_ixfr(void **state)
{
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));

	(void)state;
	assert_true(t && out);
	for (unsigned i = 0; i < 60; i++) {
		uint32_t serial = i % 2 ? UINT32_MAX - 2 : i;
		struct sender s;
		struct zone *z;

		seed = i;
		random_sets(&s, serial, 1 + i % 8);
		z = random_zone(serial + (uint32_t)s.n, 1);
		begin(t, DNS_TYPE_IXFR, serial, i % 3);
		xfr_out_ixfr(out, &t->request, z, next_set, &s);
		assert_int_equal(carry(t, out, caps[i % 5]), XFR_IN_DONE);
		assert_false(t->in.is_whole);
		assert_int_equal(t->to.n_begun, 0);
		assert_int_equal(t->to.n_sets, s.n);
		for (size_t k = 0; k < s.n; k++) {
			assert_int_equal(t->to.sets[k].n_bytes, s.sets[k].n_bytes);
			assert_memory_equal(t->to.sets[k].bytes, s.sets[k].bytes,
					    s.sets[k].n_bytes);
			assert_int_equal(t->to.sets[k].serial_to, s.sets[k].serial_to);
		}
		end(t, out);
		zone_free(z);
		free_sets(&s);
	}
	free(out);
	free(t);
}

/* There is no last SOA if a chain does not lead to the zone or has a hole, or the store fails. */
static void test_ixfr_broken(void **state)
{
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));
	uint8_t *buf = malloc(65535);
	struct zone *z = random_zone(9, 1);

	(void)state;
	assert_true(t && out && buf);
	for (unsigned i = 0; i < 4; i++) {
		struct sender s;
		int n = 0;

		seed = 7;
		random_sets(&s, 6, i == 3 ? 0 : 3);
		if (i == 0)
			changeset_move(&s.sets[1], &s.sets[2]), s.n = 2;
		else if (i == 1)
			s.n = 2;
		else if (i == 2)
			s.error = -EIO;
		begin(t, DNS_TYPE_IXFR, 6, false);
		xfr_out_ixfr(out, &t->request, z, next_set, &s);
		while ((n = xfr_out_next(out, buf, 4096, 1000)) > 0)
			assert_int_equal(xfr_in_message(&t->in, buf, (size_t)n, 1000), XFR_IN_MORE);
		assert_int_equal(n, i == 2 ? -EIO : ERR_ZONE);
		end(t, out);
		for (size_t k = 0; k < 8; k++)
			changeset_fini(&s.sets[k]);
	}
	zone_free(z);
	free(buf);
	free(out);
	free(t);
}

static void test_soa(void **state)
{
	static const struct {
		uint32_t serial;
		enum xfr_in_result result;
	} rows[] = {
		{ 9, XFR_IN_CURRENT },
		{ 10, XFR_IN_OLDER },
		{ 8, XFR_IN_MORE },
		{ 9 + 0x80000000u, XFR_IN_OLDER },
	};
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));
	struct zone *z = random_zone(9, 5);

	(void)state;
	assert_true(t && out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(t, DNS_TYPE_IXFR, rows[i].serial, true);
		xfr_out_soa(out, &t->request, z);
		assert_int_equal(carry(t, out, DNS_UDP_MIN), rows[i].result);
		assert_int_equal(t->n_messages, 1);
		end(t, out);
	}
	zone_free(z);
	free(out);
	free(t);
}

/* Over UDP, an answer that does not fit is dropped, and the SOA is sent with the signature of a
 * first message. */
static void test_datagram(void **state)
{
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));
	struct zone *z = random_zone(9, 5);
	uint8_t buf[3000];
	struct tsig before;
	struct sender s;

	(void)state;
	assert_true(t && out);
	seed = 5;
	random_sets(&s, 6, 3);
	begin(t, DNS_TYPE_IXFR, 6, true);
	before = t->server;
	xfr_out_ixfr(out, &t->request, z, next_set, &s);
	assert_true(xfr_out_next(out, buf, sizeof(buf), 1000) > 0);
	assert_false(xfr_out_is_done(out));
	xfr_out_fini(out);
	t->server = before;
	xfr_out_soa(out, &t->request, z);
	assert_int_equal(carry(t, out, sizeof(buf)), XFR_IN_MORE);
	assert_int_equal(t->n_messages, 1);
	end(t, out);
	free_sets(&s);
	zone_free(z);
	free(out);
	free(t);
}

static unsigned n_times(const uint8_t *octets, size_t n, const char *what, size_t n_what)
{
	unsigned found = 0;

	for (size_t i = 0; i + n_what <= n; i++)
		found += !memcmp(octets + i, what, n_what);
	return found;
}

/* RFC 3597 section 4: names in data are compressed only for the types of RFC 1035. */
static void test_compressed_names(void **state)
{
	static const char whole[] = "\4mail\5other";
	static const struct {
		const char *lines;
		unsigned n_whole;
	} rows[] = {
		{ "a MX 1 mail.other.\na MX 2 mail.other.\n", 1 },
		{ "a NS mail.other.\na MX 2 mail.other.\n", 1 },
		{ "a MX 1 mail.other.\na SRV 1 2 3 mail.other.\n", 2 },
		{ "a RP mail.other. mail.other.\n", 2 },
		{ "a KX 1 mail.other.\na AFSDB 1 mail.other.\n", 2 },
	};
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));
	uint8_t buf[4096];

	(void)state;
	assert_true(t && out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[256];
		struct zone *z;
		int n;

		snprintf(text, sizeof(text), ZONE_HEAD "%s", rows[i].lines);
		z = zone_of("z", text);
		begin(t, DNS_TYPE_AXFR, 0, false);
		xfr_out_axfr(out, &t->request, z);
		n = xfr_out_next(out, buf, sizeof(buf), 1000);
		assert_true(n > 0 && xfr_out_is_done(out));
		print_message("  %s", rows[i].lines);
		assert_int_equal(n_times(buf, (size_t)n, whole, sizeof(whole) - 1),
				 rows[i].n_whole);
		end(t, out);
		zone_free(z);
	}
	free(out);
	free(t);
}

/* RFC 4034 section 3: an RRSIG has the TTL of the RRset that it covers, not that of the file. */
static void test_signature_ttl(void **state)
{
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));
	struct zone *z = zone_of(
		"z", ZONE_HEAD "www 77 A 192.0.2.1\n"
			       "www 30 RRSIG A 13 2 77 20380101000000 20200101000000 7 z. aaaa\n");

	(void)state;
	assert_true(t && out);
	begin(t, DNS_TYPE_AXFR, 0, false);
	xfr_out_axfr(out, &t->request, z);
	assert_int_equal(carry(t, out, 4096), XFR_IN_DONE);
	assert_int_equal(t->to.rrsig_ttl, 77);
	end(t, out);
	zone_free(z);
	free(out);
	free(t);
}

/* A record that does not fit into any message of this size. */
static void test_no_room(void **state)
{
	struct transfer *t = malloc(sizeof(*t));
	struct xfr_out *out = malloc(sizeof(*out));
	struct zone *z;
	uint8_t *buf = malloc(4096);
	int n;

	(void)state;
	assert_true(t && out && buf);
	z = zone_of("z", ZONE_HEAD "big TYPE65280 \\# 0\n");
	begin(t, DNS_TYPE_AXFR, 0, false);
	xfr_out_axfr(out, &t->request, z);
	assert_int_equal(xfr_out_next(out, buf, 270, 1000), ERR_SPACE);
	n = xfr_out_next(out, buf, 4096, 1000);
	assert_true(n > 0);
	assert_int_equal(xfr_in_message(&t->in, buf, (size_t)n, 1000), XFR_IN_DONE);
	end(t, out);
	zone_free(z);
	seed = 3;
	z = random_zone(1, 300);
	begin(t, DNS_TYPE_AXFR, 0, false);
	xfr_out_axfr(out, &t->request, z);
	while ((n = xfr_out_next(out, buf, 512, 1000)) > 0)
		;
	assert_int_equal(n, ERR_SPACE);
	end(t, out);
	zone_free(z);
	free(buf);
	free(out);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_warning_names_the_owner),
		cmocka_unit_test(test_axfr),
		cmocka_unit_test(test_ixfr),
		cmocka_unit_test(test_ixfr_broken),
		cmocka_unit_test(test_soa),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_datagram),
		cmocka_unit_test(test_compressed_names),
		cmocka_unit_test(test_signature_ttl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
