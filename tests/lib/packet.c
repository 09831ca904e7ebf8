/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/packet.h"

#include <string.h>

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES  8
#define PROTO_UDP  17

const struct pkt pkt_ipv4 = {
	.to_mac = { 2, 0, 0, 0, 0, 0x53 },
	.from_mac = { 2, 0, 0, 0, 0, 1 },
	.from = { 192, 0, 2, 1 },
	.to = { 192, 0, 2, 53 },
	.from_port = 40000,
	.to_port = 53,
};

const struct pkt pkt_ipv6 = {
	.to_mac = { 2, 0, 0, 0, 0, 0x53 },
	.from_mac = { 2, 0, 0, 0, 0, 1 },
	.ipv6 = true,
	.from = { 0x20, 1, 0x0d, 0xb8, [15] = 1 },
	.to = { 0x20, 1, 0x0d, 0xb8, [15] = 0x53 },
	.from_port = 40000,
	.to_port = 53,
};

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
	if (n)
		memcpy(at, from, n);
	return at + n;
}

uint16_t pkt_checksum(const void *data, size_t n, uint32_t start)
{
	const uint8_t *octet = data;
	uint32_t sum = start;

	for (size_t i = 0; i < n; i++) {
		sum += i % 2 ? octet[i] : (uint32_t)octet[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)~sum;
}

/* The checksum of UDP header and payload with the pseudo header of RFC 768 or RFC 8200 section
 * 8.1. */
static uint16_t udp_checksum(const uint8_t *udp, size_t n, const uint8_t *addresses,
			     size_t address_bytes)
{
	uint16_t start = (uint16_t)~pkt_checksum(addresses, 2 * address_bytes, 0);

	return pkt_checksum(udp, n, start + (uint32_t)n + PROTO_UDP);
}

size_t pkt_ip_at(const struct pkt *p)
{
	return PKT_ETH_BYTES + 4 * (size_t)p->n_tags;
}

size_t pkt_dns_at(const struct pkt *p)
{
	return pkt_ip_at(p) + (p->ipv6 ? IPV6_BYTES : IPV4_BYTES) + UDP_BYTES;
}

static uint8_t *put_ethernet(uint8_t *at, const struct pkt *p)
{
	at = put(at, p->to_mac, 6);
	at = put(at, p->from_mac, 6);
	for (unsigned int i = 0; i < p->n_tags; i++) {
		at = put16(at, p->tpid[i] ? p->tpid[i] : PKT_TPID_Q);
		at = put16(at, p->tci[i]);
	}
	return put16(at, p->ipv6 ? 0x86dd : 0x0800);
}

/* Puts marks into the fields that an answer must not copy. */
static uint8_t *put_ipv4(uint8_t *at, const struct pkt *p, size_t udp_bytes)
{
	uint8_t *start = at;

	at = put16(at, 0x4502); /* ECN: ECT(0) */
	at = put16(at, IPV4_BYTES + udp_bytes);
	at = put16(at, 0xbeef); /* identification */
	at = put16(at, 0);
	*at++ = 57;
	*at++ = PROTO_UDP;
	at = put16(at, 0);
	at = put(at, p->from, 4);
	at = put(at, p->to, 4);
	put16(start + 10, pkt_checksum(start, IPV4_BYTES, 0));
	return at;
}

static uint8_t *put_ipv6(uint8_t *at, const struct pkt *p, size_t udp_bytes)
{
	at = put16(at, 0x6b8a); /* traffic class and flow label: an answer has others */
	at = put16(at, 0xbcde);
	at = put16(at, udp_bytes);
	*at++ = PROTO_UDP;
	*at++ = 57;
	at = put(at, p->from, 16);
	return put(at, p->to, 16);
}

static uint8_t *put_udp(uint8_t *at, const struct pkt *p, const void *dns, size_t n)
{
	size_t bytes = UDP_BYTES + n;
	size_t address_bytes = p->ipv6 ? 16 : 4;
	uint8_t *start = at;
	uint16_t sum;

	at = put16(at, p->from_port);
	at = put16(at, p->to_port);
	at = put16(at, bytes);
	at = put16(at, 0);
	at = put(at, dns, n);
	sum = udp_checksum(start, bytes, start - 2 * address_bytes, address_bytes);
	if (!p->no_udp_checksum)
		put16(start + 6, sum ? sum : 0xffff);
	return at;
}

size_t pkt_build(uint8_t *frame, const struct pkt *p, const void *dns, size_t n)
{
	uint8_t *at;
	size_t bytes;

	if (pkt_dns_at(p) + n > PKT_FRAME_MAX || p->pad_to > PKT_FRAME_MAX)
		return 0;
	at = put_ethernet(frame, p);
	at = p->ipv6 ? put_ipv6(at, p, UDP_BYTES + n) : put_ipv4(at, p, UDP_BYTES + n);
	at = put_udp(at, p, dns, n);
	bytes = (size_t)(at - frame);
	if (bytes >= p->pad_to)
		return bytes;
	memset(at, 0, p->pad_to - bytes);
	return p->pad_to;
}

size_t pkt_name_bytes(const uint8_t *wire)
{
	size_t at = 0;

	while (wire[at])
		at += 1u + wire[at];
	return at + 1;
}

size_t pkt_name(uint8_t *wire, const char *text)
{
	size_t at = 0;

	while (*text) {
		size_t n = strcspn(text, ".");

		wire[at] = (uint8_t)n;
		memcpy(wire + at + 1, text, n);
		at += 1 + n;
		text += n + (text[n] == '.');
	}
	wire[at] = 0;
	return at + 1;
}

static uint8_t *put_opt(uint8_t *at, const struct pkt_ask *ask)
{
	*at++ = 0;
	at = put16(at, 41);
	at = put16(at, ask->udp_size);
	at = put16(at, 0); /* extended rcode, version */
	at = put16(at, ask->edns_flags);
	at = put16(at, ask->n_options);
	return put(at, ask->options, ask->n_options);
}

size_t pkt_ask(uint8_t *dns, const struct pkt_ask *ask)
{
	uint8_t *at = dns;

	at = put16(at, ask->id ? ask->id : 0x1234);
	at = put16(at, ask->flags);
	at = put16(at, 1);
	at = put16(at, 0);
	at = put16(at, 0);
	at = put16(at, ask->edns);
	at = put(at, ask->name, pkt_name_bytes(ask->name));
	at = put16(at, ask->qtype ? ask->qtype : 1);
	at = put16(at, ask->qclass ? ask->qclass : 1);
	if (ask->edns)
		at = put_opt(at, ask);
	return (size_t)(at - dns);
}

/* The positions up to which query and answer are read. */
struct check {
	const uint8_t *query, *answer; /* the frames */
	size_t query_bytes, answer_bytes;
	size_t ip_at, udp_at, dns_at;
	bool ipv6;
	struct pkt_answer *out;
};

static const char *check_ethernet(struct check *c)
{
	if (c->query_bytes < PKT_ETH_BYTES + IPV4_BYTES || c->answer_bytes < c->ip_at)
		return "shorter than its headers";
	if (memcmp(c->answer, c->query + 6, 6) || memcmp(c->answer + 6, c->query, 6))
		return "MAC addresses are not swapped";
	c->ip_at = PKT_ETH_BYTES;
	while (get16(c->query + c->ip_at - 2) == PKT_TPID_Q ||
	       get16(c->query + c->ip_at - 2) == PKT_TPID_AD)
		c->ip_at += 4;
	if (memcmp(c->answer + 12, c->query + 12, c->ip_at - 12))
		return "VLAN tags or ethertype changed";
	c->ipv6 = get16(c->query + c->ip_at - 2) == 0x86dd;
	return NULL;
}

static const char *check_ipv4(struct check *c)
{
	const uint8_t *ip = c->answer + c->ip_at, *asked = c->query + c->ip_at;

	c->udp_at = c->ip_at + IPV4_BYTES;
	if (c->answer_bytes < c->udp_at + UDP_BYTES + PKT_DNS_HEADER)
		return "shorter than its headers";
	if (get16(ip) != 0x4500)
		return "IPv4 version, IHL or TOS";
	if (get16(ip + 2) != c->answer_bytes - c->ip_at)
		return "IPv4 total length is not the frame's";
	if (get16(ip + 4) != 0 || get16(ip + 6) != 0x4000)
		return "IPv4 identification is not 0, or DF not set alone";
	if (ip[8] != 64 || ip[9] != PROTO_UDP)
		return "IPv4 TTL or protocol";
	if (memcmp(ip + 12, asked + 16, 4) || memcmp(ip + 16, asked + 12, 4))
		return "IPv4 addresses are not swapped";
	if (pkt_checksum(ip, IPV4_BYTES, 0))
		return "IPv4 header checksum";
	return NULL;
}

static const char *check_ipv6(struct check *c)
{
	const uint8_t *ip = c->answer + c->ip_at, *asked = c->query + c->ip_at;

	c->udp_at = c->ip_at + IPV6_BYTES;
	if (c->answer_bytes < c->udp_at + UDP_BYTES + PKT_DNS_HEADER)
		return "shorter than its headers";
	if (get16(ip) != 0x6000 || get16(ip + 2) != 0)
		return "IPv6 version, traffic class or flow label";
	if (get16(ip + 4) != c->answer_bytes - c->udp_at)
		return "IPv6 payload length is not the frame's";
	if (ip[6] != PROTO_UDP || ip[7] != 64)
		return "IPv6 next header or hop limit";
	if (memcmp(ip + 8, asked + 24, 16) || memcmp(ip + 24, asked + 8, 16))
		return "IPv6 addresses are not swapped";
	return NULL;
}

static const char *check_udp(struct check *c)
{
	const uint8_t *udp = c->answer + c->udp_at, *asked = c->query + c->udp_at;
	size_t address_bytes = c->ipv6 ? 16 : 4;
	size_t bytes = c->answer_bytes - c->udp_at;

	c->dns_at = c->udp_at + UDP_BYTES;
	if (memcmp(udp, asked + 2, 2) || memcmp(udp + 2, asked, 2))
		return "ports are not swapped";
	if (get16(udp + 4) != bytes)
		return "UDP length is not the frame's";
	if (!get16(udp + 6))
		return "UDP checksum is 0";
	if (udp_checksum(udp, bytes, udp - 2 * address_bytes, address_bytes))
		return "UDP checksum";
	return NULL;
}

static const char *check_dns_header(struct check *c)
{
	const uint8_t *dns = c->answer + c->dns_at, *asked = c->query + c->dns_at;
	struct pkt_answer *a = c->out;
	const uint16_t copied = PKT_RD | PKT_CD;

	*a = (struct pkt_answer){ .dns = dns, .dns_bytes = c->answer_bytes - c->dns_at };
	a->flags = get16(dns + 2);
	a->qdcount = get16(dns + 4);
	a->ancount = get16(dns + 6);
	a->nscount = get16(dns + 8);
	a->arcount = get16(dns + 10);
	if (memcmp(dns, asked, 2))
		return "another ID";
	if (!(a->flags & PKT_QR) || (a->flags & 0x7800))
		return "not a response, or another opcode";
	if ((a->flags & copied) != (get16(asked + 2) & copied))
		return "RD or CD is not the query's";
	if (a->qdcount != 1)
		return "not one question";
	return NULL;
}

/* Whether the answer ends with OPT with n octets of options. */
static bool is_last_opt(const struct pkt_answer *a, size_t n)
{
	const uint8_t *opt = a->body + a->body_bytes - PKT_OPT_BYTES - n;
	/* BADCOOKIE's low bits: no answer here is YXRRSET. */
	const bool is_badcookie = (a->flags & 15) == (23 & 15);

	return PKT_OPT_BYTES + n <= a->body_bytes && !memcmp(opt, "\0\0\x29", 3) && !opt[6] &&
	       opt[5] == is_badcookie && get16(opt + 9) == n;
}

static const char *check_opt(struct check *c, const uint8_t *asked_opt)
{
	struct pkt_answer *a = c->out;

	size_t n = 0; /* octets of options */

	if (!a->arcount)
		return "no OPT for a query with one";
	while (!is_last_opt(a, n))
		if (PKT_OPT_BYTES + ++n > a->body_bytes)
			return "no OPT at the end with rcode 0 or BADCOOKIE and version 0, or not "
			       "of its length";
	a->body_bytes -= PKT_OPT_BYTES + n;
	a->opt = a->body + a->body_bytes;
	a->opt_options = n;
	a->opt_udp_size = get16(a->opt + 3);
	a->opt_flags = get16(a->opt + 7);
	if (a->opt_flags != (get16(asked_opt + 7) & PKT_DO))
		return "OPT: DO is not copied, or another flag is set";
	return NULL;
}

static const char *check_message(struct check *c, size_t max_udp)
{
	const uint8_t *asked = c->query + c->dns_at;
	size_t question_end = PKT_DNS_HEADER + pkt_name_bytes(asked + PKT_DNS_HEADER) + 4;
	struct pkt_answer *a = c->out;
	size_t limit = 512, wanted;
	const char *wrong;

	if (a->dns_bytes < question_end)
		return "shorter than its question";
	if (memcmp(a->dns + PKT_DNS_HEADER, asked + PKT_DNS_HEADER, question_end - PKT_DNS_HEADER))
		return "the question is not the query's, octet by octet";
	a->body = a->dns + question_end;
	a->body_bytes = a->dns_bytes - question_end;
	if (get16(asked + 10)) {
		wanted = get16(asked + question_end + 3);
		wrong = check_opt(c, asked + question_end);
		if (wrong)
			return wrong;
		wanted = wanted < max_udp ? wanted : max_udp;
		limit = wanted > limit ? wanted : limit;
	}
	if (a->dns_bytes > limit)
		return "longer than the client takes";
	if ((a->flags & PKT_TC) && (a->body_bytes || a->ancount || a->nscount))
		return "TC=1 with records";
	return NULL;
}

const char *pkt_check_answer(const uint8_t *query, size_t query_bytes, const uint8_t *answer,
			     size_t answer_bytes, size_t max_udp, struct pkt_answer *out)
{
	struct check c = { .query = query,
			   .answer = answer,
			   .query_bytes = query_bytes,
			   .answer_bytes = answer_bytes,
			   .ip_at = PKT_ETH_BYTES,
			   .out = out };
	const char *wrong = check_ethernet(&c);

	if (!wrong)
		wrong = c.ipv6 ? check_ipv6(&c) : check_ipv4(&c);
	if (!wrong)
		wrong = check_udp(&c);
	if (!wrong)
		wrong = check_dns_header(&c);
	return wrong ? wrong : check_message(&c, max_udp);
}
