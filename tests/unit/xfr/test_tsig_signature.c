/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures of another implementation, our own ones, signatures broken at each octet, streams with
 * unsigned messages. */
#include <errno.h>

#include "tests/unit/xfr/made.h"
#include "tests/unit/xfr/vectors.h"

#include "base/err.h"
#include "dns/query.h"
#include "xfr/tsig_signature.h"

static const uint8_t key_name[] = "\3KEY\4test";
static const uint8_t other_name[] = "\5other\4test";

static struct tsig_keys *keys_of(enum tsig_algorithm algorithm, unsigned min)
{
	const struct tsig_key_source sources[] = {
		{ other_name, TSIG_SHA512, vector_secret, 5, 0 },
		{ key_name, algorithm, vector_secret, sizeof(vector_secret), min },
	};
	struct tsig_keys *keys;

	assert_int_equal(tsig_keys_new(&keys, sources, 2), 0);
	return keys;
}

struct vectors {
	enum tsig_algorithm algorithm;
	const uint8_t *query, *reply0, *reply1, *reply3;
	size_t query_bytes, reply0_bytes, reply1_bytes, reply3_bytes;
};

#define VECTORS(id, short)                                                              \
	{                                                                               \
		id, vector_query_##short, vector_reply0_##short, vector_reply1_##short, \
			vector_reply3_##short, sizeof(vector_query_##short),            \
			sizeof(vector_reply0_##short), sizeof(vector_reply1_##short),   \
			sizeof(vector_reply3_##short)                                   \
	}

static const struct vectors all[] = {
	VECTORS(TSIG_SHA256, sha256),
	VECTORS(TSIG_SHA384, sha384),
	VECTORS(TSIG_SHA512, sha512),
};

#define N_ALL (sizeof(all) / sizeof(all[0]))

/* Our signed messages have the same octets as those of another implementation. */
static void test_sign_as_others(void **state)
{
	uint8_t msg[512];

	(void)state;
	for (size_t i = 0; i < N_ALL; i++) {
		const struct vectors *v = &all[i];
		struct tsig_keys *keys = keys_of(v->algorithm, 0);
		struct tsig client, server;
		size_t n = sizeof(vector_query);

		tsig_init(&client, tsig_keys_find(keys, key_name));
		memcpy(msg, vector_query, n);
		assert_int_equal(tsig_room(&client), v->query_bytes - n);
		assert_int_equal(tsig_sign(&client, msg, n, sizeof(msg), VECTOR_NOW),
				 v->query_bytes);
		assert_memory_equal(msg, v->query, v->query_bytes);
		assert_int_equal(tsig_verify_request(&server, keys, msg, v->query_bytes,
						     VECTOR_NOW + 300, &n),
				 TSIG_OK);
		assert_int_equal(n, sizeof(vector_query));
		n = sizeof(vector_reply0);
		memcpy(msg, vector_reply0, n);
		assert_int_equal(tsig_sign(&server, msg, n, sizeof(msg), VECTOR_NOW),
				 v->reply0_bytes);
		assert_memory_equal(msg, v->reply0, v->reply0_bytes);
		n = sizeof(vector_reply1);
		memcpy(msg, vector_reply1, n);
		assert_int_equal(tsig_sign(&server, msg, n, v->reply1_bytes - 1, VECTOR_NOW),
				 ERR_SPACE);
		assert_memory_equal(msg, vector_reply1, n);
		assert_int_equal(tsig_sign(&server, msg, n, v->reply1_bytes, VECTOR_NOW),
				 v->reply1_bytes);
		assert_memory_equal(msg, v->reply1, v->reply1_bytes);
		tsig_fini(&client);
		tsig_fini(&server);
		tsig_keys_free(keys);
	}
}

static struct tsig asked(const struct vectors *v, struct tsig_keys *keys)
{
	uint8_t msg[512];
	struct tsig t;

	tsig_init(&t, tsig_keys_find(keys, key_name));
	memcpy(msg, vector_query, sizeof(vector_query));
	assert_int_equal(tsig_sign(&t, msg, sizeof(vector_query), sizeof(msg), VECTOR_NOW),
			 v->query_bytes);
	return t;
}

static void test_verify_stream_of_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ALL; i++) {
		const struct vectors *v = &all[i];
		struct tsig_keys *keys = keys_of(v->algorithm, 0);
		struct tsig t = asked(v, keys);
		size_t n;

		assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, &n),
				 TSIG_OK);
		assert_int_equal(n, sizeof(vector_reply0));
		assert_int_equal(tsig_verify(&t, v->reply1, v->reply1_bytes, VECTOR_NOW, &n),
				 TSIG_OK);
		assert_true(tsig_is_complete(&t));
		assert_int_equal(tsig_verify(&t, vector_reply2, sizeof(vector_reply2), VECTOR_NOW,
					     &n),
				 TSIG_OK);
		assert_int_equal(n, sizeof(vector_reply2));
		assert_false(tsig_is_complete(&t));
		assert_int_equal(tsig_verify(&t, v->reply3, v->reply3_bytes, VECTOR_NOW, NULL),
				 TSIG_OK);
		assert_true(tsig_is_complete(&t));
		tsig_fini(&t);
		tsig_keys_free(keys);
	}
}

/* A message of a stream is missing, comes twice, or was changed between two signatures. */
static void test_broken_streams(void **state)
{
	const struct vectors *v = &all[0];
	struct tsig_keys *keys = keys_of(v->algorithm, 0);
	uint8_t msg[512];
	struct tsig t = asked(v, keys);

	(void)state;
	assert_int_equal(tsig_verify(&t, vector_reply0, sizeof(vector_reply0), VECTOR_NOW, NULL),
			 TSIG_NONE);
	assert_int_equal(tsig_verify(&t, v->reply1, v->reply1_bytes, VECTOR_NOW, NULL),
			 TSIG_BADSIG);
	assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, NULL), TSIG_OK);
	assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, NULL),
			 TSIG_BADSIG);
	tsig_fini(&t);

	t = asked(v, keys);
	assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, NULL), TSIG_OK);
	assert_int_equal(tsig_verify(&t, v->reply3, v->reply3_bytes, VECTOR_NOW, NULL),
			 TSIG_BADSIG);
	tsig_fini(&t);

	t = asked(v, keys);
	assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, NULL), TSIG_OK);
	assert_int_equal(tsig_verify(&t, v->reply1, v->reply1_bytes, VECTOR_NOW, NULL), TSIG_OK);
	memcpy(msg, vector_reply2, sizeof(vector_reply2));
	msg[sizeof(vector_reply2) - 1] ^= 1;
	assert_int_equal(tsig_verify(&t, msg, sizeof(vector_reply2), VECTOR_NOW, NULL), TSIG_OK);
	assert_int_equal(tsig_verify(&t, v->reply3, v->reply3_bytes, VECTOR_NOW, NULL),
			 TSIG_BADSIG);
	tsig_fini(&t);
	tsig_keys_free(keys);
}

/* RFC 8945 section 5.3.1: at most 99 messages without a signature. */
static void test_gap(void **state)
{
	const struct vectors *v = &all[0];
	struct tsig_keys *keys = keys_of(v->algorithm, 0);
	struct tsig t = asked(v, keys);

	(void)state;
	assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, NULL), TSIG_OK);
	for (unsigned i = 0; i < TSIG_UNSIGNED_MAX; i++)
		assert_int_equal(tsig_verify(&t, vector_reply2, sizeof(vector_reply2), VECTOR_NOW,
					     NULL),
				 TSIG_OK);
	assert_int_equal(tsig_verify(&t, vector_reply2, sizeof(vector_reply2), VECTOR_NOW, NULL),
			 TSIG_UNSIGNED);
	tsig_fini(&t);
	tsig_keys_free(keys);
}

/* Changes one bit of each octet, except for the ID, which a forwarder may change; then cuts the
 * message at each length. */
static void test_each_octet(void **state)
{
	const struct vectors *v = &all[0];
	struct tsig_keys *keys = keys_of(v->algorithm, 0);
	uint8_t msg[512];
	struct tsig t;

	(void)state;
	for (size_t at = 0; at < v->query_bytes; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			enum tsig_verdict verdict;

			memcpy(msg, v->query, v->query_bytes);
			msg[at] ^= (uint8_t)(1u << bit);
			verdict = tsig_verify_request(&t, keys, msg, v->query_bytes, VECTOR_NOW,
						      NULL);
			tsig_fini(&t);
			if (at < 2)
				assert_int_equal(verdict, TSIG_OK);
			/* 0x20 in the key's or algorithm's name is another letter case. */
			else if (verdict == TSIG_OK && bit != 5)
				fail_msg("bit %u of octet %zu may be changed", bit, at);
		}
	for (size_t n = 0; n < v->query_bytes; n++) {
		assert_int_equal(tsig_verify_request(&t, keys, v->query, n, VECTOR_NOW, NULL),
				 TSIG_FORMERR);
		tsig_fini(&t);
	}
	tsig_keys_free(keys);
}

/* The signed query, with its MAC cut to n octets or filled up with zeros. */
static size_t cut(uint8_t out[512], const struct vectors *v, unsigned full, unsigned n)
{
	size_t mac_at = v->query_bytes - 6 - full;
	uint16_t rdata = wire_load_be16(v->query + mac_at - 10 - 13 - 2);

	memset(out, 0, 512);
	memcpy(out, v->query, mac_at);
	memcpy(out + mac_at, v->query + mac_at, n < full ? n : full);
	memcpy(out + mac_at + n, v->query + mac_at + full, 6);
	wire_store_be16(out + mac_at - 2, (uint16_t)n);
	wire_store_be16(out + mac_at - 10 - 13 - 2, (uint16_t)(rdata + n - full));
	return mac_at + n + 6;
}

static void test_truncated(void **state)
{
	static const unsigned full[] = { 32, 48, 64 };
	uint8_t msg[512];

	(void)state;
	for (size_t i = 0; i < N_ALL; i++) {
		struct tsig_keys *keys = keys_of(all[i].algorithm, 0);
		struct tsig_keys *strict = keys_of(all[i].algorithm, full[i] - 4);

		for (unsigned n = 0; n < full[i] + 4; n++) {
			bool is_size = n >= full[i] / 2 && n <= full[i];
			size_t len = cut(msg, &all[i], full[i], n);
			struct tsig t;

			assert_int_equal(tsig_verify_request(&t, keys, msg, len, VECTOR_NOW, NULL),
					 is_size ? TSIG_OK : TSIG_FORMERR);
			tsig_fini(&t);
			assert_int_equal(tsig_verify_request(&t, strict, msg, len, VECTOR_NOW,
							     NULL),
					 !is_size        ? TSIG_FORMERR :
					 n < full[i] - 4 ? TSIG_BADTRUNC :
							   TSIG_OK);
			tsig_fini(&t);
		}
		tsig_keys_free(keys);
		tsig_keys_free(strict);
	}
}

struct error_row {
	const char *name;
	int flip; /* an octet of the MAC */
	int64_t clock_s;
	bool other_algorithm, no_key;
	enum tsig_verdict verdict;
	uint16_t error, other_bytes;
	const char *words; /* the client's */
};

/* Checks the reply's record: it has the client's time, and with BADTIME also ours. */
static void check_error(const struct error_row *row, struct tsig *server, struct tsig *client,
			uint64_t now_s)
{
	size_t n = sizeof(vector_query), end;
	struct tsig_record r;
	uint8_t msg[512];
	int len;

	memcpy(msg, vector_query, n);
	wire_store_be16(msg + DNS_FLAGS_AT, DNS_FLAG_QR | DNS_RCODE_NOTAUTH);
	len = tsig_sign(server, msg, n, sizeof(msg), now_s);
	assert_int_equal((size_t)len - n, tsig_room(server));
	assert_int_equal(tsig_read(&r, msg, (size_t)len, n, &end), 0);
	assert_int_equal(end, len);
	assert_int_equal(r.error, row->error);
	assert_int_equal(r.other_bytes, row->other_bytes);
	assert_int_equal(r.mac_bytes, row->other_bytes ? 32 : 0);
	assert_int_equal(r.time_s, VECTOR_NOW);
	if (r.other_bytes)
		assert_int_equal(wire_load_be32(r.other + 2), now_s);
	/* The client gets its own time back, so it does not report its clock. */
	assert_int_equal(tsig_verify(client, msg, (size_t)len, VECTOR_NOW, NULL), TSIG_REMOTE);
	assert_int_equal(client->remote_error, row->error);
	assert_non_null(
		strstr(tsig_verdict_text(client->verdict, client->remote_error), row->words));
}

/* A server without keys writes the same unsigned record. */
static void check_unsigned(const struct error_row *row, struct tsig *server, const uint8_t *query,
			   size_t query_bytes)
{
	size_t n = sizeof(vector_query);
	uint8_t msg[512], record[TSIG_ERROR_MAX];
	struct query q;
	int len;

	assert_int_equal(query_parse(&q, query, query_bytes), QUERY_OK);
	len = tsig_write_error(record, query, &q, row->error);
	assert_int_equal(tsig_room(server), len);
	memcpy(msg, vector_query, n);
	assert_int_equal(tsig_sign(server, msg, n, sizeof(msg), VECTOR_NOW), (int)n + len);
	assert_memory_equal(msg + n, record, (size_t)len);
}

static void check_row(const struct error_row *row)
{
	const struct vectors *v = &all[0];
	enum tsig_algorithm algorithm = row->other_algorithm ? TSIG_SHA384 : TSIG_SHA256;
	struct tsig_keys *mine = keys_of(TSIG_SHA256, 0), *theirs = keys_of(algorithm, 0);
	struct tsig client = asked(v, mine), server;
	uint64_t now_s = (uint64_t)(VECTOR_NOW + row->clock_s);
	uint8_t query[512];

	memcpy(query, v->query, v->query_bytes);
	query[v->query_bytes - 7] ^= (uint8_t)row->flip;
	assert_int_equal(tsig_verify_request(&server, row->no_key ? NULL : theirs, query,
					     v->query_bytes, now_s, NULL),
			 row->verdict);
	assert_int_equal(tsig_rcode(server.verdict), DNS_RCODE_NOTAUTH);
	if (!row->other_bytes)
		check_unsigned(row, &server, query, v->query_bytes);
	check_error(row, &server, &client, now_s);
	tsig_fini(&client);
	tsig_fini(&server);
	tsig_keys_free(mine);
	tsig_keys_free(theirs);
}

/* The server's reply to a request that it refuses, and the client's verdict on the reply. */
static void test_errors(void **state)
{
	static const struct error_row rows[] = {
		{ "no such key", 0, 0, false, true, TSIG_BADKEY, 17, 0, "not know our key" },
		{ "another algorithm", 0, 0, true, false, TSIG_BADKEY, 17, 0, "another algorithm" },
		{ "wrong MAC", 1, 0, false, false, TSIG_BADSIG, 16, 0,
		  "another secret or algorithm" },
		{ "too late", 0, 301, false, false, TSIG_BADTIME, 18, 6, "clocks" },
		{ "too early", 0, -301, false, false, TSIG_BADTIME, 18, 6, "clocks" },
		{ "wrong MAC and time", 1, 999, false, false, TSIG_BADSIG, 16, 0, "secret" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

/* After a forged error or a forged reply, the client still accepts the right reply. */
static void test_forgeries(void **state)
{
	const struct vectors *v = &all[0];
	struct tsig_keys *keys = keys_of(v->algorithm, 0);
	struct tsig t = asked(v, keys);
	uint8_t msg[512];

	(void)state;
	memcpy(msg, v->reply0, v->reply0_bytes);
	msg[30] ^= 1;
	assert_int_equal(tsig_verify(&t, msg, v->reply0_bytes, VECTOR_NOW, NULL), TSIG_BADSIG);
	assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, NULL), TSIG_OK);
	tsig_fini(&t);
	tsig_init(&t, NULL);
	assert_int_equal(tsig_verify(&t, v->reply0, v->reply0_bytes, VECTOR_NOW, NULL),
			 TSIG_FORMERR);
	assert_int_equal(tsig_verify(&t, vector_reply0, sizeof(vector_reply0), VECTOR_NOW, NULL),
			 TSIG_OK);
	assert_true(tsig_is_complete(&t));
	assert_int_equal(tsig_room(&t), 0);
	tsig_keys_free(keys);
}

/* A TSIG that is not the last record, is not in the additional section, is there twice, or has
 * octets behind it. */
static void test_places(void **state)
{
	const struct vectors *v = &all[0];
	size_t tsig_at = sizeof(vector_query), tsig_bytes = v->query_bytes - tsig_at;
	struct tsig_keys *keys = keys_of(v->algorithm, 0);
	struct made m;
	struct tsig t;

	(void)state;
	memcpy(m.bytes, v->query, v->query_bytes);
	m.n = v->query_bytes;
	made_record(&m, DNS_ARCOUNT_AT, "x", DNS_TYPE_A, DNS_CLASS_IN, 0, "aaaa", 4);
	assert_int_equal(tsig_verify_request(&t, keys, m.bytes, m.n, VECTOR_NOW, NULL),
			 TSIG_FORMERR);
	assert_int_equal(tsig_rcode(TSIG_FORMERR), DNS_RCODE_FORMERR);
	memcpy(m.bytes, v->query, v->query_bytes);
	memcpy(m.bytes + v->query_bytes, v->query + tsig_at, tsig_bytes);
	made_count(&m, DNS_ARCOUNT_AT);
	assert_int_equal(tsig_verify_request(&t, keys, m.bytes, v->query_bytes + tsig_bytes,
					     VECTOR_NOW, NULL),
			 TSIG_FORMERR);
	memcpy(m.bytes, v->query, v->query_bytes);
	wire_store_be16(m.bytes + DNS_ARCOUNT_AT, 0);
	wire_store_be16(m.bytes + DNS_ANCOUNT_AT, 1);
	assert_int_equal(tsig_verify_request(&t, keys, m.bytes, v->query_bytes, VECTOR_NOW, NULL),
			 TSIG_FORMERR);
	memcpy(m.bytes, v->query, v->query_bytes);
	assert_int_equal(tsig_verify_request(&t, keys, m.bytes, v->query_bytes + 1, VECTOR_NOW,
					     NULL),
			 TSIG_FORMERR);
	assert_int_equal(tsig_sign(&t, m.bytes, 40, 512, VECTOR_NOW), 40);
	assert_int_equal(tsig_verify_request(&t, keys, vector_query, sizeof(vector_query),
					     VECTOR_NOW, NULL),
			 TSIG_NONE);
	assert_int_equal(tsig_sign(&t, m.bytes, 40, 512, VECTOR_NOW), 40);
	tsig_keys_free(keys);
}

static void test_keys(void **state)
{
	struct tsig_key_source sources[40];
	uint8_t names[40][4];
	struct tsig_keys *keys;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		memcpy(names[i],
		       (uint8_t[]){ 2, (uint8_t)('a' + i * 7 % 10), (uint8_t)('A' + i / 10), 0 },
		       4);
		sources[i] = (struct tsig_key_source){ .name = names[i],
						       .secret = vector_secret,
						       .secret_bytes = 1 + i % 32 };
	}
	assert_int_equal(tsig_keys_new(&keys, sources, 40), 0);
	for (unsigned i = 0; i < 40; i++) {
		const struct tsig_key *key;

		names[i][1] = (uint8_t)(names[i][1] - 'a' + 'A');
		key = tsig_keys_find(keys, names[i]);
		assert_non_null(key);
		assert_true(name_equal(key->name, names[i]));
	}
	assert_null(tsig_keys_find(keys, other_name));
	tsig_keys_free(keys);
	names[39][1] = names[3][1];
	names[39][2] = names[3][2];
	assert_int_equal(tsig_keys_new(&keys, sources, 40), -EEXIST);
	assert_null(keys);
	sources[7].secret_bytes = 0;
	assert_int_equal(tsig_keys_new(&keys, sources, 40), -EINVAL);
	assert_int_equal(tsig_keys_new(&keys, NULL, 0), 0);
	assert_null(tsig_keys_find(keys, other_name));
	assert_null(tsig_keys_find(NULL, other_name));
	tsig_keys_free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sign_as_others),
		cmocka_unit_test(test_verify_stream_of_others),
		cmocka_unit_test(test_broken_streams),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_each_octet),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_forgeries),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
