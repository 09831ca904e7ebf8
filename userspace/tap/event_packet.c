/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/event.h"

#include <string.h>
#include <sys/socket.h>

#include "base/wire.h"

#define IPV4_BYTES     20u
#define IPV6_BYTES     40u
#define UDP_BYTES      8u
#define PROTOCOL_UDP   17u
#define HOPS           64u
#define PACKET_MAX     65535u
#define DO_NOT_SPLIT   0x4000u
#define IPV4_ADDRESSES 12u /* their offset in the header */
#define IPV6_ADDRESSES 8u

/* RFC 1071. The sum is in host order, of big-endian words. */
static uint32_t sum_words(uint32_t sum, const uint8_t *p, size_t n)
{
	for (; n > 1; p += 2, n -= 2)
		sum += wire_load_be16(p);
	return n ? sum + ((uint32_t)*p << 8) : sum;
}

static uint16_t fold_event_packet(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void put_event_packet_addresses(uint8_t *at, size_t bytes, const struct tap_event *e,
				       bool is_reply)
{
	memcpy(at, is_reply ? e->local : e->peer, bytes);
	memcpy(at + bytes, is_reply ? e->peer : e->local, bytes);
}

static void put_ipv4(uint8_t *ip, size_t total, const struct tap_event *e, bool is_reply)
{
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45;
	wire_store_be16(ip + 2, (uint16_t)total);
	wire_store_be16(ip + 6, DO_NOT_SPLIT);
	ip[8] = HOPS;
	ip[9] = PROTOCOL_UDP;
	put_event_packet_addresses(ip + IPV4_ADDRESSES, 4, e, is_reply);
	wire_store_be16(ip + 10, fold_event_packet(sum_words(0, ip, IPV4_BYTES)));
}

static void put_ipv6(uint8_t *ip, size_t total, const struct tap_event *e, bool is_reply)
{
	memset(ip, 0, IPV6_BYTES);
	ip[0] = 0x60;
	wire_store_be16(ip + 4, (uint16_t)(total - IPV6_BYTES));
	ip[6] = PROTOCOL_UDP;
	ip[7] = HOPS;
	put_event_packet_addresses(ip + IPV6_ADDRESSES, 16, e, is_reply);
}

/* The message must already follow the header. A sum of 0 would mean none: 0xffff is sent. */
static void put_udp(uint8_t *udp, size_t bytes, const uint8_t *addresses, size_t address_bytes,
		    const struct tap_event *e, bool is_reply)
{
	uint32_t sum = PROTOCOL_UDP + (uint32_t)bytes;
	uint16_t folded;

	memcpy(udp, is_reply ? &e->local_port : &e->peer_port, 2);
	memcpy(udp + 2, is_reply ? &e->peer_port : &e->local_port, 2);
	wire_store_be16(udp + 4, (uint16_t)bytes);
	wire_store_be16(udp + 6, 0);
	folded = fold_event_packet(
		sum_words(sum_words(sum, addresses, 2 * address_bytes), udp, bytes));
	wire_store_be16(udp + 6, folded ? folded : 0xffff);
}

size_t tap_packet_make(uint8_t *out, size_t cap, const struct tap_event *e, bool is_reply)
{
	const bool is_ipv4 = e->family == AF_INET;
	const size_t ip_bytes = is_ipv4 ? IPV4_BYTES : IPV6_BYTES;
	const uint8_t *msg = is_reply ? tap_event_reply(e) : tap_event_query(e);
	const size_t n = is_reply ? e->n_reply : e->n_query, total = ip_bytes + UDP_BYTES + n;

	if (e->transport != TAP_UDP || !n || total > cap || total > PACKET_MAX)
		return 0;
	if (is_ipv4)
		put_ipv4(out, total, e, is_reply);
	else
		put_ipv6(out, total, e, is_reply);
	memcpy(out + ip_bytes + UDP_BYTES, msg, n);
	put_udp(out + ip_bytes, UDP_BYTES + n, out + (is_ipv4 ? IPV4_ADDRESSES : IPV6_ADDRESSES),
		is_ipv4 ? 4 : 16, e, is_reply);
	return total;
}
