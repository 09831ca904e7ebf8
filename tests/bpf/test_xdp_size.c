/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of an answer that is sent, at every size: the whole, the short body, or TC=1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/xdpworld.h"

#define BODY_MAX 1400u

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

/* A world in which one answer can be given any length. */
struct sized {
	struct xdp_world *w;
	struct volley_entry *entry;
	uint8_t name[PKT_NAME_MAX];
	size_t question_end;
	uint8_t body[BODY_MAX];
	size_t link_max; /* room for DNS in its MTU */
};

static void size_init(struct sized *s, void **state, const char *name)
{
	struct entry e = { .name = s->name, .full_bytes = BODY_MAX };

	s->w = xdp_world_take(state);
	s->link_max = SIZE_MAX;
	s->question_end = PKT_DNS_HEADER + pkt_name(s->name, name) + 4;
	e.ancount = 1;
	e.nscount = 2;
	e.arcount_full = 3;
	e.arcount_short = 1;
	s->entry = xdp_world_put(s->w, &e);
	for (size_t i = 0; i < BODY_MAX; i++)
		s->body[i] = entry_pattern(i);
}

static uint16_t sum_of(const struct sized *s, size_t n)
{
	uint16_t sum = (uint16_t)~pkt_checksum(s->body, n, 0);

	return s->question_end % 2 ? sum : __builtin_bswap16(sum);
}

static void size_set(struct sized *s, size_t full, size_t shorter)
{
	s->entry->full_bytes = (uint16_t)full;
	s->entry->short_bytes = (uint16_t)shorter;
	s->entry->full_sum = sum_of(s, full);
	s->entry->short_sum = sum_of(s, shorter);
}

/* The size that RFC 1035, RFC 6891, our maximum and the link allow. udp_size 0: no EDNS. */
static size_t limit_of(const struct sized *s, size_t udp_size)
{
	size_t max = s->w->maps.memory.state->max_udp_bytes;
	size_t limit = udp_size < max ? udp_size : max;

	limit = limit > 512 ? limit : 512;
	return limit < s->link_max ? limit : s->link_max;
}

/* Sends one query; the choice and the counts must match its sizes. */
static void size_ask(struct sized *s, const struct pkt *p, uint16_t udp_size)
{
	struct pkt_ask ask = { .name = s->name, .edns = udp_size, .udp_size = udp_size };
	size_t fixed = s->question_end + (udp_size ? PKT_OPT_BYTES : 0);
	size_t limit = limit_of(s, udp_size);
	size_t full = s->entry->full_bytes, shorter = s->entry->short_bytes;
	int reason = fixed + full <= limit    ? VOLLEY_HIT_FULL :
		     fixed + shorter <= limit ? VOLLEY_HIT_SHORT :
						VOLLEY_HIT_TRUNCATED;
	size_t bytes = reason == VOLLEY_HIT_FULL ? full : reason == VOLLEY_HIT_SHORT ? shorter : 0;
	bool cut = reason == VOLLEY_HIT_TRUNCATED;
	char what[96];

	snprintf(what, sizeof(what), "full %zu, short %zu, EDNS %u, tags %u", full, shorter,
		 udp_size, p->n_tags);
	xdp_expect_answer(s->w, what, frame, pkt_build(frame, p, dns, pkt_ask(dns, &ask)), reason,
			  &result, &answer);
	if (answer.body_bytes != bytes || memcmp(answer.body, s->body, bytes))
		fail_msg("%s: the body", what);
	if (!(answer.flags & PKT_TC) == cut || answer.ancount != !cut ||
	    answer.nscount != 2 * !cut ||
	    answer.arcount != (cut           ? 0 :
			       full == bytes ? 3 :
					       1) +
				      !!udp_size)
		fail_msg("%s: TC or counts", what);
}

static const uint16_t udp_sizes[] = { 0, 1, 511, 512, 513, 700, 1231, 1232, 1233, 4096, 65535 };
#define N_UDP_SIZES (sizeof(udp_sizes) / sizeof(udp_sizes[0]))

/* Every length of the whole body; the short one has half of it, and a few more octets. */
static void test_every_length(void **state)
{
	static struct sized s;

	size_init(&s, state, "www.example");
	for (size_t full = 0; full <= BODY_MAX; full++) {
		for (size_t i = 0; i < N_UDP_SIZES; i++) {
			size_set(&s, full, i % 2 ? full : full / 2);
			size_ask(&s, full % 2 ? &pkt_ipv6 : &pkt_ipv4, udp_sizes[i]);
		}
	}
}

/* The edges: whole and short body each one octet under, at and over every size. */
static void test_edges(void **state)
{
	static const char *const names[] = { "", "a", "ab.example", "odd.example" };
	static struct sized s;
	struct pkt tagged = pkt_ipv6;

	tagged.n_tags = 2;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		size_init(&s, state, names[k]);
		for (size_t i = 0; i < N_UDP_SIZES; i++) {
			size_t fixed = s.question_end + (udp_sizes[i] ? PKT_OPT_BYTES : 0);
			size_t edge = limit_of(&s, udp_sizes[i]) - fixed;

			for (size_t d = 0; d < 9; d++) {
				size_set(&s, edge - 1 + d % 3, edge - 1 + d / 3);
				if (s.entry->short_bytes > s.entry->full_bytes)
					continue;
				size_ask(&s, &pkt_ipv4, udp_sizes[i]);
				size_ask(&s, &tagged, udp_sizes[i]);
			}
		}
	}
}

/* Our maximum: never below 512, and never above VOLLEY_UDP_MAX. */
static void test_our_maximum(void **state)
{
	static const uint32_t maxima[] = { 512, 513, 1000, 1232, VOLLEY_UDP_MAX };
	static struct sized s;

	size_init(&s, state, "max.example");
	for (size_t i = 0; i < sizeof(maxima) / sizeof(maxima[0]); i++) {
		s.w->maps.memory.state->max_udp_bytes = maxima[i];
		for (size_t full = maxima[i] - 60; full < maxima[i] && full <= BODY_MAX; full++) {
			size_set(&s, full, full - 40);
			size_ask(&s, &pkt_ipv4, 65535);
			size_ask(&s, &pkt_ipv6, (uint16_t)maxima[i]);
		}
	}
}

/* The room in the link's MTU, for each family: below our maximum, and below 512, too. */
static void test_link_maximum(void **state)
{
	static const uint16_t maxima[] = { 300, 452, 511, 512, 513, 1231, 1232, 1233, 1400 };
	static struct sized s;

	size_init(&s, state, "mtu.example");
	s.w->maps.memory.state->max_udp_bytes = VOLLEY_UDP_MAX;
	for (size_t i = 0; i < 2 * sizeof(maxima) / sizeof(maxima[0]); i++) {
		const uint16_t max = maxima[i / 2];
		const bool ipv6 = i % 2;

		*s.w->maps.link = (struct volley_link){ .driver_answers = 1 };
		s.w->maps.link->udp_less[ipv6] = (uint16_t)(VOLLEY_UDP_MAX - max);
		for (size_t full = max - 60u; full < max && full <= BODY_MAX; full++) {
			size_set(&s, full, full - 40);
			s.link_max = max;
			size_ask(&s, ipv6 ? &pkt_ipv6 : &pkt_ipv4, 65535);
			size_ask(&s, ipv6 ? &pkt_ipv6 : &pkt_ipv4, 0);
			s.link_max = SIZE_MAX;
			size_ask(&s, ipv6 ? &pkt_ipv4 : &pkt_ipv6, 65535);
		}
	}
}

/* Frames of the answer's length, longer ones, and one octet shorter ones. */
static void test_padding(void **state)
{
	static struct sized s;
	struct pkt p = pkt_ipv4;

	size_init(&s, state, "pad.example");
	size_set(&s, 200, 0);
	for (p.pad_to = 0; p.pad_to < 400; p.pad_to++)
		size_ask(&s, &p, 1232);
	size_set(&s, 0, 0);
	for (p.pad_to = 0; p.pad_to < 400; p.pad_to++)
		size_ask(&s, &p, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_length), cmocka_unit_test(test_edges),
		cmocka_unit_test(test_our_maximum),  cmocka_unit_test(test_link_maximum),
		cmocka_unit_test(test_padding),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
