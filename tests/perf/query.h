/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Query frames for the benchmarks: Ethernet, IPv4 or IPv6, UDP, one question, with or without OPT.
 * Checksums are complete, over the given DNS id and source port.
 */
#ifndef VOLLEY_TESTS_PERF_QUERY_H
#define VOLLEY_TESTS_PERF_QUERY_H

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dns/name.h"
#include "xdp/sum.h"

#define QUERY_UDP_SIZE 1232 /* OPT's default */

struct perf_query {
	uint8_t to_mac[ETH_ALEN];
	uint8_t from_mac[ETH_ALEN];
	bool ipv6;
	uint8_t to[16]; /* the first 4 for IPv4 */
	uint8_t from[16];
	uint16_t from_port; /* host order, as all numbers here */
	uint16_t id;
	const uint8_t *name; /* wire form */
	uint16_t qtype;
	bool edns;
	const uint8_t *options; /* in OPT; NULL: no options */
	size_t n_options;       /* octets of these */
	bool dnssec_ok;
	uint16_t udp_size; /* that OPT offers; 0: QUERY_UDP_SIZE */
};

/* Offsets in the frame. */
static inline size_t query_udp_offset(bool ipv6)
{
	return (size_t)ETH_HLEN + (ipv6 ? 40u : 20u);
}

static inline size_t query_dns_offset(bool ipv6)
{
	return query_udp_offset(ipv6) + 8;
}

static inline uint8_t *query_put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

/* Sums big-endian 16-bit words; an odd last octet is the high one. */
static inline uint32_t query_sum(const uint8_t *at, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i & 1 ? at[i] : (uint32_t)at[i] << 8;
	return sum;
}

static inline void query_put_ipv4(uint8_t *ip, const struct perf_query *q, size_t udp_bytes)
{
	memset(ip, 0, 20);
	ip[0] = 0x45;
	query_put16(ip + 2, (uint32_t)(20 + udp_bytes));
	ip[6] = 0x40; /* do not fragment */
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, q->from, 4);
	memcpy(ip + 16, q->to, 4);
	query_put16(ip + 10, ~sum_fold(query_sum(ip, 20)));
}

static inline void query_put_ipv6(uint8_t *ip, const struct perf_query *q, size_t udp_bytes)
{
	memset(ip, 0, 8);
	ip[0] = 0x60;
	query_put16(ip + 4, (uint32_t)udp_bytes);
	ip[6] = 17;
	ip[7] = 64;
	memcpy(ip + 8, q->from, 16);
	memcpy(ip + 24, q->to, 16);
}

/* Returns the end of the message. */
static inline uint8_t *query_put_dns(uint8_t *dns, const struct perf_query *q, size_t name_bytes_)
{
	uint8_t *at = dns;

	memset(dns, 0, 12);
	query_put16(dns, q->id);
	dns[2] = 1; /* RD */
	dns[5] = 1;
	dns[11] = q->edns;
	memcpy(dns + 12, q->name, name_bytes_);
	at = query_put16(dns + 12 + name_bytes_, q->qtype);
	at = query_put16(at, 1);
	if (!q->edns)
		return at;
	memset(at, 0, 11);
	at[2] = 41;
	query_put16(at + 3, q->udp_size ? q->udp_size : QUERY_UDP_SIZE);
	at[7] = q->dnssec_ok ? 0x80 : 0;
	query_put16(at + 9, (uint32_t)q->n_options);
	if (q->n_options)
		memcpy(at + 11, q->options, q->n_options);
	return at + 11 + q->n_options;
}

static inline void query_put_udp(uint8_t *udp, const struct perf_query *q, size_t bytes)
{
	size_t address_bytes = q->ipv6 ? 16 : 4;
	uint32_t sum = 17 + (uint32_t)bytes, check;

	query_put16(udp, q->from_port);
	query_put16(udp + 2, 53);
	query_put16(udp + 4, (uint32_t)bytes);
	query_put16(udp + 6, 0);
	sum += query_sum(q->from, address_bytes) + query_sum(q->to, address_bytes);
	check = ~sum_fold(sum + query_sum(udp, bytes)) & 0xffff;
	query_put16(udp + 6, check ? check : 0xffff);
}

/* Returns the octets of the frame, or 0 if they exceed cap. */
static inline size_t query_frame(uint8_t *frame, size_t cap, const struct perf_query *q)
{
	size_t dns_offset = query_dns_offset(q->ipv6), udp_offset = query_udp_offset(q->ipv6);
	size_t name_octets = name_bytes(q->name);
	size_t bytes = dns_offset + 12 + name_octets + 4 + (q->edns ? 11 + q->n_options : 0);

	if (bytes > cap)
		return 0;
	memcpy(frame, q->to_mac, ETH_ALEN);
	memcpy(frame + ETH_ALEN, q->from_mac, ETH_ALEN);
	query_put16(frame + 2 * ETH_ALEN, q->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	query_put_dns(frame + dns_offset, q, name_octets);
	if (q->ipv6)
		query_put_ipv6(frame + ETH_HLEN, q, bytes - udp_offset);
	else
		query_put_ipv4(frame + ETH_HLEN, q, bytes - udp_offset);
	query_put_udp(frame + udp_offset, q, bytes - udp_offset);
	return bytes;
}

#endif
