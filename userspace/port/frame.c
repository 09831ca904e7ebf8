/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/frame.h"

#include <arpa/inet.h>
#include <assert.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/wire.h"
#include "xdp/abi.h"
#include "xdp/source.h"

#define GROUP_BIT      0x01 /* in the first octet of a MAC address */
#define VLAN_TAGS_MAX  2
#define VLAN_TAG_BYTES 4
#define IPV4_BARE      0x45 /* version 4, no options */
#define IPV4_FRAGMENT  0x3fff
#define IPV4_DF        0x4000
#define REPLY_TTL      64
#define UDP_CHECK_NONE 0
#define UDP_CHECK_ZERO 0xffff /* sent in place of a computed 0 (RFC 768) */
#define GUE_BYTES      4
#define GUE_VARIANT(b) ((b) >> 6)
#define GUE_IP_BIT     0x20 /* of the first byte of variant 1: set for IPv6, clear for IPv4 */

_Static_assert(sizeof(struct iphdr) == FRAME_IPV4_BYTES, "no options");
_Static_assert(sizeof(struct ipv6hdr) == FRAME_IPV6_BYTES, "no extension headers");
_Static_assert(sizeof(struct udphdr) == FRAME_UDP_BYTES, "UDP");

/* Returns the ethertype after the tags, and the offset of the next header. 0: the frame is too
 * short, or its source is a group. */
static uint16_t parse_l2(const uint8_t *bytes, uint32_t len, uint32_t *net_off)
{
	uint32_t at = offsetof(struct ethhdr, h_proto);
	uint16_t type;

	if (len > ETH_ALEN && bytes[ETH_ALEN] & GROUP_BIT)
		return 0;
	for (int tags = 0; at + 2 <= len; tags++) {
		type = wire_load_be16(bytes + at);
		if ((type != ETH_P_8021Q && type != ETH_P_8021AD) || tags == VLAN_TAGS_MAX) {
			*net_off = at + 2;
			return type;
		}
		at += VLAN_TAG_BYTES;
	}
	return 0;
}

/* Returns the number of octets after the IP header, or ERR_FORMAT. len includes the header. */
static int parse_ipv4(struct frame *f, const uint8_t *bytes, uint32_t len)
{
	struct iphdr ip;
	uint32_t total;

	if (len < sizeof(ip))
		return ERR_FORMAT;
	memcpy(&ip, bytes, sizeof(ip));
	total = ntohs(ip.tot_len);
	if (bytes[0] != IPV4_BARE || ip.frag_off & htons(IPV4_FRAGMENT) ||
	    ip.protocol != IPPROTO_UDP || total < sizeof(ip) || total > len ||
	    volley_is_odd_source4(ip.saddr, ip.daddr))
		return ERR_FORMAT;
	f->family = AF_INET;
	f->peer = bytes + offsetof(struct iphdr, saddr);
	f->local = bytes + offsetof(struct iphdr, daddr);
	return (int)(total - sizeof(ip));
}

static int parse_ipv6(struct frame *f, const uint8_t *bytes, uint32_t len)
{
	struct ipv6hdr ip;
	uint32_t room;

	if (len < sizeof(ip))
		return ERR_FORMAT;
	memcpy(&ip, bytes, sizeof(ip));
	room = ntohs(ip.payload_len);
	if (ip.version != 6 || ip.nexthdr != IPPROTO_UDP || room > len - sizeof(ip) ||
	    volley_is_odd_source6(ip.saddr.s6_addr32, ip.daddr.s6_addr32))
		return ERR_FORMAT;
	f->family = AF_INET6;
	f->peer = bytes + offsetof(struct ipv6hdr, saddr);
	f->local = bytes + offsetof(struct ipv6hdr, daddr);
	return (int)room;
}

int frame_parse(struct frame *f, const uint8_t *bytes, uint32_t len)
{
	uint32_t net_off = 0, net_bytes;
	struct udphdr udp;
	int room;

	switch (parse_l2(bytes, len, &net_off)) {
	case ETH_P_IP:
		room = parse_ipv4(f, bytes + net_off, len - net_off);
		net_bytes = sizeof(struct iphdr);
		break;
	case ETH_P_IPV6:
		room = parse_ipv6(f, bytes + net_off, len - net_off);
		net_bytes = sizeof(struct ipv6hdr);
		break;
	default:
		return ERR_FORMAT;
	}
	if (room < (int)sizeof(udp))
		return ERR_FORMAT;
	memcpy(&udp, bytes + net_off + net_bytes, sizeof(udp));
	/* Over IPv6 a UDP checksum is mandatory (RFC 8200 section 8.1). */
	if (ntohs(udp.len) != room || volley_is_reflector(udp.source) ||
	    (f->family == AF_INET6 && udp.check == UDP_CHECK_NONE))
		return ERR_FORMAT;
	f->net_off = (uint16_t)net_off;
	f->data_off = (uint16_t)(net_off + net_bytes + sizeof(udp));
	f->data_len = (uint16_t)((size_t)room - sizeof(udp));
	f->peer_port = udp.source;
	f->local_port = udp.dest;
	return 0;
}

/* The payload of the outer header of a packet in a tunnel. */
struct inner {
	uint32_t at;  /* offset in the frame */
	uint32_t end; /* of the outer packet, as offset in the frame */
	uint8_t proto;
};

/* Parses the outer header at `at`. False: not whole, a fragment, or with options. */
static bool outer_ipv4(struct inner *in, const uint8_t *bytes, uint32_t at, uint32_t len)
{
	struct iphdr ip;
	uint32_t total;

	if (len - at < sizeof(ip))
		return false;
	memcpy(&ip, bytes + at, sizeof(ip));
	total = ntohs(ip.tot_len);
	*in = (struct inner){ .at = at + sizeof(ip), .end = at + total, .proto = ip.protocol };
	return bytes[at] == IPV4_BARE && !(ip.frag_off & htons(IPV4_FRAGMENT)) &&
	       total >= sizeof(ip) && total <= len - at;
}

static bool outer_ipv6(struct inner *in, const uint8_t *bytes, uint32_t at, uint32_t len)
{
	struct ipv6hdr ip;

	if (len - at < sizeof(ip))
		return false;
	memcpy(&ip, bytes + at, sizeof(ip));
	*in = (struct inner){ .at = at + sizeof(ip), .proto = ip.nexthdr };
	in->end = in->at + ntohs(ip.payload_len);
	return ip.version == 6 && in->end <= len;
}

/* Skips UDP and GUE (draft-ietf-intarea-gue section 3). False: the headers are not supported. */
static bool skip_frame_gue(struct inner *in, const uint8_t *bytes, __be16 port)
{
	const uint8_t *gue;
	struct udphdr udp;

	if (in->end - in->at < FRAME_UDP_BYTES + GUE_BYTES)
		return false;
	memcpy(&udp, bytes + in->at, sizeof(udp));
	if (udp.dest != port || ntohs(udp.len) != in->end - in->at)
		return false;
	in->at += FRAME_UDP_BYTES;
	gue = bytes + in->at;
	if (GUE_VARIANT(*gue) == 1) {
		in->proto = *gue & GUE_IP_BIT ? IPPROTO_IPV6 : IPPROTO_IPIP;
		return true;
	}
	in->at += GUE_BYTES;
	in->proto = gue[1];
	return !gue[0] && !gue[2] && !gue[3];
}

uint32_t frame_decap(const struct frame_tunnels *tunnels, uint8_t *bytes, uint32_t *len)
{
	uint32_t net_off = 0, n;
	struct inner in;
	uint16_t type = parse_l2(bytes, *len, &net_off);

	if (!(type == ETH_P_IP && outer_ipv4(&in, bytes, net_off, *len)) &&
	    !(type == ETH_P_IPV6 && outer_ipv6(&in, bytes, net_off, *len)))
		return 0;
	if (in.proto == IPPROTO_UDP) {
		if (!(tunnels->kinds & VOLLEY_TUNNEL_GUE) ||
		    !skip_frame_gue(&in, bytes, tunnels->gue_port))
			return 0;
	} else if (!(tunnels->kinds & VOLLEY_TUNNEL_IPIP)) {
		return 0;
	}
	if (in.proto != IPPROTO_IPIP && in.proto != IPPROTO_IPV6)
		return 0;
	n = in.at - net_off;
	memmove(bytes + n, bytes, net_off);
	wire_store_be16(bytes + in.at - 2, in.proto == IPPROTO_IPIP ? ETH_P_IP : ETH_P_IPV6);
	*len = in.end - n;
	return n;
}

/*
 * One's complement sum (RFC 1071) of the octets in memory order, not folded. Adds words of 32 bits:
 * the sum of 64 KiB stays far below 2^64.
 */
static uint64_t sum_frame_bytes(const uint8_t *p, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t word;
	uint8_t rest[4] = { 0 };

	for (; n >= 4; n -= 4, p += 4) {
		memcpy(&word, p, sizeof(word));
		sum += word;
	}
	memcpy(rest, p, n);
	memcpy(&word, rest, sizeof(word));
	return sum + word;
}

static __sum16 sum_finish(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (__sum16)~sum;
}

static void swap_frame(uint8_t *a, uint8_t *b, uint32_t n)
{
	uint8_t t[16];

	memcpy(t, a, n);
	memcpy(a, b, n);
	memcpy(b, t, n);
}

/* Returns the sum of the addresses, for the pseudo header. */
static uint64_t reply_frame_ipv4(uint8_t *net, uint32_t udp_len)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = sizeof(ip) / 4,
		.tot_len = htons((uint16_t)(sizeof(ip) + udp_len)),
		.frag_off = htons(IPV4_DF),
		.ttl = REPLY_TTL,
		.protocol = IPPROTO_UDP,
	};

	memcpy(&ip.saddr, net + offsetof(struct iphdr, daddr), 4);
	memcpy(&ip.daddr, net + offsetof(struct iphdr, saddr), 4);
	ip.check = sum_finish(sum_frame_bytes((const uint8_t *)&ip, sizeof(ip)));
	memcpy(net, &ip, sizeof(ip));
	return (uint64_t)ip.saddr + ip.daddr;
}

static uint64_t reply_frame_ipv6(uint8_t *net, uint32_t udp_len)
{
	struct ipv6hdr ip = {
		.version = 6,
		.payload_len = htons((uint16_t)udp_len),
		.nexthdr = IPPROTO_UDP,
		.hop_limit = REPLY_TTL,
	};

	memcpy(&ip.saddr, net + offsetof(struct ipv6hdr, daddr), 16);
	memcpy(&ip.daddr, net + offsetof(struct ipv6hdr, saddr), 16);
	memcpy(net, &ip, sizeof(ip));
	return sum_frame_bytes((const uint8_t *)&ip.saddr, 32);
}

uint32_t frame_reply(const struct frame *f, uint8_t *bytes, uint32_t data_len)
{
	uint32_t net_bytes = f->family == AF_INET ? FRAME_IPV4_BYTES : FRAME_IPV6_BYTES;
	uint8_t *net = bytes + f->net_off, *at = net + net_bytes;
	uint32_t udp_len = FRAME_UDP_BYTES + data_len;
	struct udphdr udp;
	uint64_t sum;

	assert(net_bytes + udp_len <= UINT16_MAX);
	swap_frame(bytes, bytes + ETH_ALEN, ETH_ALEN);
	sum = f->family == AF_INET ? reply_frame_ipv4(net, udp_len) :
				     reply_frame_ipv6(net, udp_len);
	swap_frame(at, at + 2, 2);
	memcpy(&udp, at, sizeof(udp));
	udp.len = htons((uint16_t)udp_len);
	udp.check = UDP_CHECK_NONE;
	memcpy(at, &udp, sizeof(udp));
	sum += (uint64_t)htons(IPPROTO_UDP) + udp.len + sum_frame_bytes(at, udp_len);
	udp.check = sum_finish(sum);
	if (udp.check == UDP_CHECK_NONE)
		udp.check = UDP_CHECK_ZERO;
	memcpy(at, &udp, sizeof(udp));
	return f->net_off + net_bytes + udp_len;
}

/* Restores the fields of the query's headers that frame_reply() reads, and then calls it. */
uint32_t frame_write(const struct frame *f, const uint8_t *l2, uint8_t *bytes, const uint8_t *data,
		     uint32_t data_len)
{
	uint8_t *net = bytes + f->net_off, *udp;

	assert(f->net_off <= FRAME_L2_MAX);
	memcpy(bytes, l2, f->net_off);
	if (f->family == AF_INET) {
		memcpy(net + offsetof(struct iphdr, saddr), f->peer, 4);
		memcpy(net + offsetof(struct iphdr, daddr), f->local, 4);
		udp = net + FRAME_IPV4_BYTES;
	} else {
		memcpy(net + offsetof(struct ipv6hdr, saddr), f->peer, 16);
		memcpy(net + offsetof(struct ipv6hdr, daddr), f->local, 16);
		udp = net + FRAME_IPV6_BYTES;
	}
	memcpy(udp + offsetof(struct udphdr, source), &f->peer_port, 2);
	memcpy(udp + offsetof(struct udphdr, dest), &f->local_port, 2);
	memcpy(udp + FRAME_UDP_BYTES, data, data_len);
	return frame_reply(f, bytes, data_len);
}
