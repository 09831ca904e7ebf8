/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of events: each octet, valid checksums, and no more octets than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "tap/event.h"

static union {
	struct tap_event event;
	uint8_t room[TAP_EVENT_MAX];
} memory;

static struct tap_event *event(uint8_t family, size_t n_query, size_t n_reply)
{
	struct tap_event *e = &memory.event;

	*e = (struct tap_event){ .family = family,
				 .n_query = (uint32_t)n_query,
				 .n_reply = (uint32_t)n_reply,
				 .peer_port = htons(40000),
				 .local_port = htons(53) };
	inet_pton(family, family == AF_INET ? "192.0.2.1" : "2001:db8::1", e->peer);
	inet_pton(family, family == AF_INET ? "192.0.2.53" : "2001:db8::53", e->local);
	for (size_t i = 0; i < n_query + n_reply; i++)
		e->octets[i] = (uint8_t)(i * 7 + 1);
	return e;
}

/* RFC 1071, as defined: the sum over a whole valid packet is 0. */
static uint32_t sum(uint32_t start, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		start += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (start >> 16)
		start = (start & 0xffff) + (start >> 16);
	return start;
}

/* The header's checksum was computed by hand. */
static void test_ipv4(void **state)
{
	static const uint8_t wanted[] = { 0x45, 0,    0,    31,   0, 0,  0x40, 0,   64,
					  17,   0xb6, 0x97, 192,  0, 2,  1,    192, 0,
					  2,    53,   0x9c, 0x40, 0, 53, 0,    11 };
	uint8_t out[64];

	(void)state;
	assert_int_equal(tap_packet_make(out, sizeof(out), event(AF_INET, 3, 4), false), 31);
	assert_memory_equal(out, wanted, sizeof(wanted));
	assert_memory_equal(out + 28, memory.event.octets, 3);
	assert_int_equal(tap_packet_make(out, sizeof(out), event(AF_INET, 3, 4), true), 32);
	assert_memory_equal(out + 12, "\xc0\0\2\x35\xc0\0\2\1\0\x35\x9c\x40", 12);
	assert_memory_equal(out + 28, memory.event.octets + 3, 4);
}

/* Messages of all lengths up to 300; odd lengths are the interesting ones. */
static void test_sums(void **state)
{
	uint8_t out[512];

	(void)state;
	for (size_t n = 1; n <= 300; n++)
		for (int family = 0; family < 2; family++)
			for (int is_reply = 0; is_reply < 2; is_reply++) {
				const struct tap_event *e =
					event(family ? AF_INET6 : AF_INET, n, n);
				size_t ip = family ? 40 : 20, at = family ? 8 : 12;
				size_t bytes = tap_packet_make(out, sizeof(out), e, is_reply);

				assert_int_equal(bytes, ip + 8 + n);
				assert_true(family || sum(0, out, 20) == 0xffff);
				assert_true(out[ip + 6] || out[ip + 7]);
				assert_int_equal(sum(sum(17 + 8 + (uint32_t)n, out + at, ip - at),
						     out + ip, 8 + n),
						 0xffff);
			}
}

static void test_none(void **state)
{
	static uint8_t out[70000];
	struct tap_event *e = event(AF_INET, 0, 20);

	(void)state;
	assert_int_equal(tap_packet_make(out, sizeof(out), e, false), 0);
	assert_int_equal(tap_packet_make(out, 47, e, true), 0);
	assert_int_equal(tap_packet_make(out, 48, e, true), 48);
	e->transport = TAP_TCP;
	assert_int_equal(tap_packet_make(out, sizeof(out), e, true), 0);
	assert_int_equal(tap_packet_make(out, sizeof(out), event(AF_INET, 0, 65508), true), 0);
	assert_int_equal(tap_packet_make(out, sizeof(out), event(AF_INET, 0, 65507), true), 65535);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
