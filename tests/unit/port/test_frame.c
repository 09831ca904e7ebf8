/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames against vectors that other code made (tests/data/frame/gen.py), and against broken
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "port/frame.h"
#include "tests/lib/passrows.h"
#include "tests/lib/tunnel.h"
#include "xdp/abi.h"

struct vector {
	const char *name;
	const char *frame;
	uint32_t frame_len, data_off, data_len;
	const char *reply;
	uint32_t reply_len;
	const char *back;
	uint32_t back_len;
};

static const struct vector vectors[] = {
#include "tests/data/frame/vectors.inc"
};

#define N_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

/* On the heap and of exactly this size, so that a sanitizer sees one byte too many. */
static uint8_t *copy_of(const void *bytes, uint32_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return copy;
}

static void test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_VECTORS; i++) {
		const struct vector *v = &vectors[i];
		uint32_t room = v->frame_len > v->back_len ? v->frame_len : v->back_len;
		uint8_t *bytes = malloc(room);
		struct frame f;

		print_message("  %s\n", v->name);
		memcpy(bytes, v->frame, v->frame_len);
		assert_int_equal(frame_parse(&f, bytes, v->frame_len), 0);
		assert_int_equal(f.data_off, v->data_off);
		assert_int_equal(f.data_len, v->data_len);
		memcpy(bytes + f.data_off, v->reply, v->reply_len);
		assert_int_equal(frame_reply(&f, bytes, v->reply_len), v->back_len);
		assert_memory_equal(bytes, v->back, v->back_len);
		free(bytes);
	}
}

/* Made elsewhere from what was kept of the query, over whatever was there, it is the same frame. */
static void test_vectors_written_later(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_VECTORS; i++) {
		const struct vector *v = &vectors[i];
		uint8_t *query = copy_of(v->frame, v->frame_len), *bytes = malloc(v->back_len);
		uint8_t l2[FRAME_L2_MAX];
		struct frame f;

		print_message("  %s\n", v->name);
		assert_int_equal(frame_parse(&f, query, v->frame_len), 0);
		memcpy(l2, query, f.net_off);
		memset(bytes, 0xa5, v->back_len);
		assert_int_equal(frame_write(&f, l2, bytes, (const uint8_t *)v->reply,
					     v->reply_len),
				 v->back_len);
		assert_memory_equal(bytes, v->back, v->back_len);
		free(query);
		free(bytes);
	}
}

static void test_says_who_and_where(void **state)
{
	const struct vector *v = &vectors[0];
	struct frame f;

	(void)state;
	assert_int_equal(frame_parse(&f, (const uint8_t *)v->frame, v->frame_len), 0);
	assert_int_equal(f.family, AF_INET);
	assert_memory_equal(f.peer, "\xc0\x00\x02\x01", 4);
	assert_memory_equal(f.local, "\xc6\x33\x64\x35", 4);
	assert_memory_equal(&f.peer_port, "\x9c\x40", 2);
	assert_memory_equal(&f.local_port, "\x00\x35", 2);
	v = &vectors[1];
	assert_int_equal(frame_parse(&f, (const uint8_t *)v->frame, v->frame_len), 0);
	assert_int_equal(f.family, AF_INET6);
	assert_memory_equal(f.local, "\x20\x01\x0d\xb8\x00\x53", 6);
}

/* Cut anywhere before the end of the payload, a frame is refused; no byte behind it is read. */
static void test_every_truncation(void **state)
{
	struct frame f;

	(void)state;
	for (size_t i = 0; i < N_VECTORS; i++) {
		const struct vector *v = &vectors[i];
		uint32_t whole = v->data_off + v->data_len;

		for (uint32_t len = 0; len <= v->frame_len; len++) {
			uint8_t *bytes = copy_of(v->frame, len);

			assert_int_equal(frame_parse(&f, bytes, len), len < whole ? ERR_FORMAT : 0);
			free(bytes);
		}
	}
}

static unsigned int check_sources(const struct pass_row *rows, size_t n_rows, bool ipv6)
{
	uint8_t bytes[PKT_FRAME_MAX];
	unsigned int n_refused = 0;
	struct frame f;

	for (size_t i = 0; i < n_rows; i++) {
		const bool is_from_group = rows[i].reason == VOLLEY_PASS_GROUP && rows[i].at;
		const uint32_t len = (uint32_t)pass_frame(bytes, &rows[i], ipv6);

		if (rows[i].reason != VOLLEY_PASS_SOURCE && !is_from_group)
			continue;
		if (frame_parse(&f, bytes, len) != ERR_FORMAT)
			fail_msg("%s: taken", rows[i].name);
		n_refused++;
	}
	return n_refused;
}

/* What the program passes for its source no port answers either. */
static void test_sources_that_get_no_answer(void **state)
{
	(void)state;
	assert_true(check_sources(pass_rows4, pass_n_rows4, false) > 10);
	assert_true(check_sources(pass_rows6, pass_n_rows6, true) > 10);
}

/* Whatever one byte of the headers becomes, what is accepted lies within the frame. */
static void test_every_byte_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < 18; i++) {
		const struct vector *v = &vectors[i];

		for (uint32_t at = 0; at < v->data_off; at++) {
			for (unsigned int value = 0; value < 256; value++) {
				uint8_t *bytes = copy_of(v->frame, v->frame_len);
				struct frame f;

				bytes[at] = (uint8_t)value;
				if (!frame_parse(&f, bytes, v->frame_len)) {
					assert_true(f.data_off + f.data_len <= (int)v->frame_len);
					assert_true(frame_reply(&f, bytes, f.data_len) <=
						    v->frame_len);
				}
				free(bytes);
			}
		}
	}
}

static void test_refuses(void **state)
{
	/* One byte of the first (IPv4) or second (IPv6) vector changed. */
	static const struct {
		const char *name;
		unsigned int vector, at;
		uint8_t value;
	} rows[] = {
		{ "ARP", 0, 13, 0x06 },
		{ "IPv4 version 5", 0, 14, 0x55 },
		{ "IPv4 options", 0, 14, 0x46 },
		{ "IPv4 header of 16", 0, 14, 0x44 },
		{ "more fragments", 0, 20, 0x20 },
		{ "a later fragment", 0, 21, 0x01 },
		{ "TCP over IPv4", 0, 23, 6 },
		{ "IPv4 length over the frame", 0, 17, 34 },
		{ "IPv4 length shorter than its header", 0, 17, 19 },
		{ "UDP longer than IPv4", 0, 39, 14 },
		{ "UDP shorter than IPv4", 0, 39, 12 },
		{ "UDP shorter than its header", 0, 39, 7 },
		{ "IPv6 version 4", 1, 14, 0x40 },
		{ "IPv6 hop-by-hop", 1, 20, 0 },
		{ "IPv6 fragment", 1, 20, 44 },
		{ "IPv6 length over the frame", 1, 19, 14 },
		{ "IPv6 without room for UDP", 1, 19, 7 },
		{ "UDP longer than IPv6", 1, 59, 14 },
	};
	uint8_t bytes[128];
	struct frame f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct vector *v = &vectors[rows[i].vector];

		print_message("  %s\n", rows[i].name);
		memcpy(bytes, v->frame, v->frame_len);
		assert_int_equal(frame_parse(&f, bytes, v->frame_len), 0);
		bytes[rows[i].at] = rows[i].value;
		assert_int_equal(frame_parse(&f, bytes, v->frame_len), ERR_FORMAT);
	}
	memcpy(bytes, vectors[0].frame, vectors[0].frame_len);
	memset(bytes + 34, 0, 2);
	assert_int_equal(frame_parse(&f, bytes, vectors[0].frame_len), ERR_FORMAT);
	memcpy(bytes, vectors[1].frame, vectors[1].frame_len);
	memset(bytes + 60, 0, 2);
	assert_int_equal(frame_parse(&f, bytes, vectors[1].frame_len), ERR_FORMAT);
}

static void test_three_tags_are_refused(void **state)
{
	const struct vector *v = &vectors[3];
	uint8_t bytes[128];
	struct frame f;

	(void)state;
	memcpy(bytes, v->frame, 12);
	memcpy(bytes + 12, "\x81\x00\x00\x01", 4);
	memcpy(bytes + 16, v->frame + 12, v->frame_len - 12);
	assert_int_equal(frame_parse(&f, bytes, v->frame_len + 4), ERR_FORMAT);
}

static const struct frame_tunnels all_tunnels = {
	.kinds = VOLLEY_TUNNEL_IPIP | VOLLEY_TUNNEL_GUE,
	.gue_port = (__be16)__builtin_bswap16(TUNNEL_GUE_PORT),
};

/* Vectors with an IPv4 or IPv6 packet that is understood: all of them. Octets: on the heap, to be
 * freed. */
static uint8_t *wrap(const struct vector *v, const struct tunnel *t, uint32_t *len)
{
	uint8_t *bytes = malloc(v->frame_len + TUNNEL_BYTES_MAX);

	assert_non_null(bytes);
	*len = (uint32_t)tunnel_wrap(bytes, t, (const uint8_t *)v->frame, v->frame_len);
	return bytes;
}

/* The frame that is left is the one that was put into the tunnel, without what padded it. */
static void test_tunnels_are_taken_off(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_VECTORS * TUNNELS; i++) {
		const struct vector *v = &vectors[i / TUNNELS];
		const struct tunnel *t = &tunnels[i % TUNNELS];
		uint32_t len, n, plain = v->data_off + v->data_len;
		uint8_t *bytes = wrap(v, t, &len), *bare;
		struct frame f;

		bare = copy_of(bytes, len);
		free(bytes);
		n = frame_decap(&all_tunnels, bare, &len);
		assert_int_equal(n, tunnel_bytes(t));
		assert_int_equal(len, plain);
		assert_memory_equal(bare + n, v->frame, plain);
		assert_int_equal(frame_parse(&f, bare + n, len), 0);
		assert_int_equal(f.data_off, v->data_off);
		free(bare);
	}
}

/* Cut anywhere: it is left alone, or what is left of it is no message; no byte behind it is
 * read. */
static void test_tunnels_truncated(void **state)
{
	struct frame f;

	(void)state;
	for (size_t i = 0; i < N_VECTORS * TUNNELS; i++) {
		const struct vector *v = &vectors[i / TUNNELS];
		const struct tunnel *t = &tunnels[i % TUNNELS];
		uint32_t whole, end = v->data_off + v->data_len + (uint32_t)tunnel_bytes(t);
		uint8_t *bytes = wrap(v, t, &whole);

		for (uint32_t cut = 0; cut < end; cut++) {
			uint8_t *copy = copy_of(bytes, cut);
			uint32_t len = cut;

			assert_int_equal(frame_decap(&all_tunnels, copy, &len), 0);
			assert_int_equal(len, cut);
			assert_memory_equal(copy, bytes, cut);
			assert_int_equal(frame_parse(&f, copy, cut), ERR_FORMAT);
			free(copy);
		}
		free(bytes);
	}
}

/* Whatever one byte of the headers becomes, what is left lies within the frame. */
static void test_tunnels_every_byte_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4 * TUNNELS; i++) {
		const struct vector *v = &vectors[i / TUNNELS];
		uint32_t whole, at, n, len;
		uint8_t *bytes = wrap(v, &tunnels[i % TUNNELS], &whole);

		for (at = 12; at < v->data_off + tunnel_bytes(&tunnels[i % TUNNELS]); at++) {
			for (unsigned int value = 0; value < 256; value++) {
				uint8_t *copy = copy_of(bytes, whole);
				struct frame f;

				copy[at] = (uint8_t)value;
				len = whole;
				n = frame_decap(&all_tunnels, copy, &len);
				assert_true(n + len <= whole);
				if (!frame_parse(&f, copy + n, len))
					assert_true((uint32_t)f.data_off + f.data_len <= len);
				free(copy);
			}
		}
		free(bytes);
	}
}

/* A frame without a tunnel, and one in a tunnel that is not asked for, stay as they are. */
static void test_tunnels_left_alone(void **state)
{
	static const uint8_t kinds[] = { 0, VOLLEY_TUNNEL_IPIP, VOLLEY_TUNNEL_GUE };

	(void)state;
	for (size_t i = 0; i < N_VECTORS; i++) {
		uint32_t len = vectors[i].frame_len;
		uint8_t *bytes = copy_of(vectors[i].frame, len);

		assert_int_equal(frame_decap(&all_tunnels, bytes, &len), 0);
		assert_memory_equal(bytes, vectors[i].frame, len);
		free(bytes);
	}
	for (size_t i = 0; i < 3 * TUNNELS; i++) {
		const struct tunnel *t = &tunnels[i % TUNNELS];
		struct frame_tunnels some = all_tunnels;
		uint32_t len;
		uint8_t *bytes = wrap(&vectors[0], t, &len);

		some.kinds = kinds[i / TUNNELS];
		assert_int_equal(frame_decap(&some, bytes, &len) != 0,
				 some.kinds && (some.kinds == VOLLEY_TUNNEL_IPIP) ==
						       (t->kind == TUNNEL_IPIP));
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_vectors_written_later),
		cmocka_unit_test(test_says_who_and_where),
		cmocka_unit_test(test_sources_that_get_no_answer),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_byte_changed),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_three_tags_are_refused),
		cmocka_unit_test(test_tunnels_are_taken_off),
		cmocka_unit_test(test_tunnels_truncated),
		cmocka_unit_test(test_tunnels_every_byte_changed),
		cmocka_unit_test(test_tunnels_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
