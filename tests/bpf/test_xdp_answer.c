/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answers of the XDP program: frames of every kind that it accepts, names of every kind, header
 * bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/xdpworld.h"

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

/* The query in a frame. */
static size_t build(const struct pkt *p, const struct pkt_ask *ask)
{
	size_t n = pkt_build(frame, p, dns, pkt_ask(dns, ask));

	assert_true(n);
	return n;
}

static void expect_pattern(const char *what, size_t n)
{
	if (answer.body_bytes != n)
		fail_msg("%s: body of %zu octets, not %zu", what, answer.body_bytes, n);
	for (size_t i = 0; i < n; i++) {
		if (answer.body[i] != entry_pattern(i))
			fail_msg("%s: octet %zu of the body", what, i);
	}
}

struct frame_row {
	const char *name;
	unsigned int n_tags;
	uint16_t tpid[2];
	size_t pad_to;
	bool no_udp_checksum;
};

static const struct frame_row frame_rows[] = {
	{ .name = "plain" },
	{ .name = "padded to 60", .pad_to = 60 },
	{ .name = "padded by 40 octets", .pad_to = 160 },
	{ .name = "padded beyond the answer", .pad_to = 1400 },
	{ .name = "802.1Q", .n_tags = 1 },
	{ .name = "802.1Q, padded to 64", .n_tags = 1, .pad_to = 64 },
	{ .name = "802.1ad alone", .n_tags = 1, .tpid = { PKT_TPID_AD } },
	{ .name = "802.1ad and 802.1Q", .n_tags = 2, .tpid = { PKT_TPID_AD } },
	{ .name = "802.1Q twice", .n_tags = 2 },
	{ .name = "802.1ad twice, padded",
	  .n_tags = 2,
	  .tpid = { PKT_TPID_AD, PKT_TPID_AD },
	  .pad_to = 200 },
	{ .name = "no UDP checksum", .no_udp_checksum = true },
};

/* Sends one row over IPv4 or IPv6, with and without OPT. */
static void ask_in_frame(struct xdp_world *w, const struct frame_row *row, bool ipv6,
			 const uint8_t *name)
{
	struct pkt p = ipv6 ? pkt_ipv6 : pkt_ipv4;
	struct pkt_ask ask = { .name = name, .flags = PKT_RD };

	p.n_tags = row->n_tags;
	memcpy(p.tpid, row->tpid, sizeof(row->tpid));
	p.tci[0] = 0x6fff;
	p.tci[1] = 0x0001;
	p.pad_to = row->pad_to;
	p.no_udp_checksum = row->no_udp_checksum;
	for (int edns = 0; edns < 2; edns++) {
		ask.edns = edns;
		ask.udp_size = 1232;
		xdp_expect_answer(w, row->name, frame, build(&p, &ask), VOLLEY_HIT_FULL, &result,
				  &answer);
		expect_pattern(row->name, 101);
		assert_int_equal(answer.flags, PKT_QR | PKT_AA | PKT_RD);
		assert_int_equal(answer.arcount, 4 + edns);
	}
}

static void test_frames(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = { .flags = PKT_AA, .ancount = 2, .nscount = 3, .arcount_full = 4 };
	uint8_t name[PKT_NAME_MAX];

	pkt_name(name, "www.example.com");
	e.name = name;
	e.full_bytes = 101;
	e.short_bytes = 50;
	xdp_world_put(w, &e);
	for (size_t i = 0; i < sizeof(frame_rows) / sizeof(frame_rows[0]); i++) {
		ask_in_frame(w, &frame_rows[i], false, name);
		if (!frame_rows[i].no_udp_checksum) /* such a frame passes: test_xdp_pass.c */
			ask_in_frame(w, &frame_rows[i], true, name);
	}
	assert_int_equal(answer.ancount, 2);
	assert_int_equal(answer.nscount, 3);
}

struct bits_row {
	const char *name;
	uint16_t flags, edns_flags;
	uint8_t key_flags;
};

static const struct bits_row bits_rows[] = {
	{ "none", 0, 0, 0 },
	{ "RD", PKT_RD, 0, 0 },
	{ "AD is no part of the key", PKT_AD, 0, 0 },
	{ "CD", PKT_CD, 0, VOLLEY_KEY_CD },
	{ "RD and CD", PKT_RD | PKT_CD, 0, VOLLEY_KEY_CD },
	{ "DO", 0, PKT_DO, VOLLEY_KEY_DO },
	{ "DO and CD", PKT_CD, PKT_DO, VOLLEY_KEY_DO | VOLLEY_KEY_CD },
	{ "an unknown EDNS flag is not copied", 0, 0x0001, 0 },
	{ "DO and unknown EDNS flags", PKT_RD, 0xffff, VOLLEY_KEY_DO },
};

/* Each of the four combinations of DO and CD has an entry of its own length. */
static void test_bits(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct entry e = { .name = name };

	pkt_name(name, "bits.example");
	for (uint8_t flags = 0; flags < 4; flags++) {
		e.key_flags = flags;
		e.full_bytes = e.short_bytes = (uint16_t)(20 + flags);
		xdp_world_put(w, &e);
	}
	for (size_t i = 0; i < sizeof(bits_rows) / sizeof(bits_rows[0]); i++) {
		const struct bits_row *row = &bits_rows[i];
		struct pkt_ask ask = { .name = name,
				       .flags = row->flags,
				       .edns = row->edns_flags,
				       .edns_flags = row->edns_flags };
		size_t n = build(i % 2 ? &pkt_ipv6 : &pkt_ipv4, &ask);

		xdp_expect_answer(w, row->name, frame, n, VOLLEY_HIT_FULL, &result, &answer);
		expect_pattern(row->name, 20u + row->key_flags);
	}
}

/* The header's flags and rcode come from the entry. */
static void test_entry_flags(void **state)
{
	static const uint16_t flags[] = { 0, PKT_AA, PKT_AA | 3, 5, 0x0080, 0x0040 | PKT_AA };
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX];
	struct entry e = { .name = name };
	struct pkt_ask ask = { .name = name };

	pkt_name(name, "flags.example");
	for (uint16_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		e.flags = flags[i];
		e.qtype = ask.qtype = (uint16_t)(i + 1);
		xdp_world_put(w, &e);
		xdp_expect_answer(w, "flags", frame, build(&pkt_ipv4, &ask), VOLLEY_HIT_FULL,
				  &result, &answer);
		assert_int_equal(answer.flags, flags[i] | PKT_QR);
		assert_int_equal(answer.body_bytes, 0);
	}
}

/* The answer has the letters' case of the query; the key ignores it. */
static void test_case(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX], asked[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = asked };
	struct entry e = { .name = name, .full_bytes = 33, .short_bytes = 33 };
	size_t n = pkt_name(name, "abcdefghijklm.nopqrstuvwxyz.example");

	xdp_world_put(w, &e);
	for (uint32_t mask = 0; mask < 4096; mask++) {
		memcpy(asked, name, n);
		for (size_t i = 0; i < n; i++) {
			if (asked[i] >= 'a' && (mask * 0x9e3779b1u >> (i % 32) & 1))
				asked[i] = (uint8_t)(asked[i] - 32);
		}
		xdp_expect_answer(w, "case", frame, build(&pkt_ipv4, &ask), VOLLEY_HIT_FULL,
				  &result, &answer);
	}
	expect_pattern("case", 33);
}

/* All 256 octets in a label: A to Z equal a to z, and all others differ. */
static void test_any_octet(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[] = { 3, 'x', 0, 'y', 4, 't', 'e', 's', 't', 0 };
	struct entry e = { .name = name, .full_bytes = 1, .short_bytes = 1 };
	struct pkt_ask ask = { .name = name };
	uint8_t body;

	e.body = &body;
	for (unsigned int octet = 0; octet < 256; octet++) {
		name[2] = body = (uint8_t)octet;
		if (octet < 'A' || octet > 'Z')
			xdp_world_put(w, &e);
	}
	for (unsigned int octet = 0; octet < 256; octet++) {
		char what[32];

		snprintf(what, sizeof(what), "octet %u", octet);
		name[2] = (uint8_t)octet;
		xdp_expect_answer(w, what, frame, build(&pkt_ipv6, &ask), VOLLEY_HIT_FULL, &result,
				  &answer);
		if (answer.body[0] != (octet >= 'A' && octet <= 'Z' ? octet + 32 : octet))
			fail_msg("%s: the answer of octet %u", what, answer.body[0]);
	}
}

/* A name of n octets with labels of at most `most`. */
static void make_name(uint8_t *name, size_t n, size_t most)
{
	size_t at = 0;

	while (n - at > 1) {
		size_t label = n - at - 2;

		if (label > most)
			label = most;
		if (n - at - 1 - label == 2) /* one octet would be left, for a length alone */
			label -= label > 1;
		name[at] = (uint8_t)label;
		for (size_t i = 1; i <= label; i++)
			name[at + i] = (uint8_t)('A' + (at + i) % 57);
		at += 1 + label;
	}
	name[at] = 0;
}

/* Every length of a name, of long labels and of labels of one octet (127 of them at most). */
static void test_name_lengths(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX + 1];
	struct entry e = { .name = name, .full_bytes = 77, .short_bytes = 7 };
	struct pkt_ask ask = { .name = name };

	for (size_t i = 0; i < 2 * PKT_NAME_MAX; i++) {
		size_t n = i / 2 + 1;
		char what[64];

		if (n == 2)
			continue; /* no name has two octets */
		if (i % 2 && n % 2 == 0)
			continue; /* labels of one octet make odd lengths */
		make_name(name, n, i % 2 ? 1 : 63);
		assert_int_equal(pkt_name_bytes(name), n);
		xdp_world_take(state);
		xdp_world_put(w, &e);
		for (unsigned int k = 0; k < 4; k++) {
			snprintf(what, sizeof(what), "name of %zu octets, case %u", n, k);
			ask.edns = k & 1;
			xdp_expect_answer(w, what, frame,
					  build(k & 2 ? &pkt_ipv6 : &pkt_ipv4, &ask),
					  VOLLEY_HIT_FULL, &result, &answer);
			expect_pattern(what, 77);
		}
	}
}

/* All IDs: for each kind of frame exactly one gives the sum 0, which must be sent as 0xffff (RFC
 * 768). */
static void test_checksums(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	uint8_t name[PKT_NAME_MAX], body[31];
	struct entry e = { .name = name, .body = body, .full_bytes = 31, .short_bytes = 31 };
	struct pkt_ask ask = { .name = name };
	unsigned int n_ffff = 0;

	memset(body, 0xff, sizeof(body));
	pkt_name(name, "sum.example"); /* 13 octets: the body begins at an odd offset */
	xdp_world_put(w, &e);
	for (uint32_t i = 0; i < 65535 * 4; i++) {
		ask.id = (uint16_t)(i / 4 + 1);
		ask.edns = i & 1;
		xdp_expect_answer(w, "checksum", frame, build(i & 2 ? &pkt_ipv6 : &pkt_ipv4, &ask),
				  VOLLEY_HIT_FULL, &result, &answer);
		n_ffff += answer.dns[-2] == 0xff && answer.dns[-1] == 0xff;
	}
	assert_int_equal(n_ffff, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),      cmocka_unit_test(test_bits),
		cmocka_unit_test(test_entry_flags), cmocka_unit_test(test_case),
		cmocka_unit_test(test_any_octet),   cmocka_unit_test(test_name_lengths),
		cmocka_unit_test(test_checksums),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
