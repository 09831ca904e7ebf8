/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/tunnel.h"

#include <string.h>

#include "tests/lib/packet.h"

enum { PROTO_IPIP = 4, PROTO_UDP = 17, PROTO_IPV6 = 41 };

const struct tunnel tunnels[TUNNELS] = {
	{ "IPIP over IPv4", TUNNEL_IPIP, false },
	{ "IPIP over IPv6", TUNNEL_IPIP, true },
	{ "GUE variant 0 over IPv4", TUNNEL_GUE_0, false },
	{ "GUE variant 0 over IPv6", TUNNEL_GUE_0, true },
	{ "GUE variant 1 over IPv4", TUNNEL_GUE_1, false },
	{ "GUE variant 1 over IPv6", TUNNEL_GUE_1, true },
};

static const uint8_t balancer4[4] = { 10, 0, 0, 9 };
static const uint8_t balancer6[16] = { 1, [15] = 9 }; /* 100::9, as in Katran */
const uint8_t tunnel_end4[4] = { 198, 51, 100, 7 };
const uint8_t tunnel_end6[16] = { 0x20, 1, 0x0d, 0xb8, [5] = 7, [15] = 7 };

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint8_t *put16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static uint8_t *put(uint8_t *at, const void *from, size_t n)
{
	memcpy(at, from, n);
	return at + n;
}

static uint8_t *put_ip(uint8_t *at, const struct tunnel *t, uint8_t proto, size_t payload)
{
	uint8_t *start = at;

	if (t->ipv6) {
		at = put16(at, 0x6000);
		at = put16(at, 0);
		at = put16(at, payload);
		*at++ = proto;
		*at++ = 61;
		at = put(at, balancer6, 16);
		return put(at, tunnel_end6, 16);
	}
	at = put16(at, 0x4500);
	at = put16(at, 20 + payload);
	at = put16(at, 0xcafe);
	at = put16(at, 0x4000);
	*at++ = 61;
	*at++ = proto;
	at = put16(at, 0);
	at = put(at, balancer4, 4);
	at = put(at, tunnel_end4, 4);
	put16(start + 10, pkt_checksum(start, 20, 0));
	return at;
}

size_t tunnel_bytes(const struct tunnel *t)
{
	static const size_t more[] = { [TUNNEL_IPIP] = 0, [TUNNEL_GUE_0] = 12, [TUNNEL_GUE_1] = 8 };

	return (t->ipv6 ? 40 : 20) + more[t->kind];
}

/* UDP, with the checksum 0 that balancers send, and GUE. */
static uint8_t *put_gue(uint8_t *at, const struct tunnel *t, uint8_t proto, size_t payload)
{
	if (t->kind == TUNNEL_IPIP)
		return at;
	at = put16(at, 55555);
	at = put16(at, TUNNEL_GUE_PORT);
	at = put16(at, payload);
	at = put16(at, 0);
	if (t->kind == TUNNEL_GUE_1)
		return at;
	at = put16(at, proto);
	return put16(at, 0);
}

size_t tunnel_wrap(uint8_t *out, const struct tunnel *t, const uint8_t *frame, size_t n)
{
	size_t l2 = PKT_ETH_BYTES, payload;
	uint8_t proto, *at;

	while (get16(frame + l2 - 2) == PKT_TPID_Q || get16(frame + l2 - 2) == PKT_TPID_AD)
		l2 += 4;
	proto = get16(frame + l2 - 2) == 0x86dd ? PROTO_IPV6 : PROTO_IPIP;
	payload = proto == PROTO_IPV6 ? 40u + get16(frame + l2 + 4) : get16(frame + l2 + 2);
	payload += tunnel_bytes(t) - (t->ipv6 ? 40 : 20);
	at = put(out, frame, l2);
	put16(at - 2, t->ipv6 ? 0x86dd : 0x0800);
	at = put_ip(at, t, t->kind == TUNNEL_IPIP ? proto : PROTO_UDP, payload);
	at = put_gue(at, t, proto, payload);
	at = put(at, frame + l2, n - l2);
	return (size_t)(at - out);
}
