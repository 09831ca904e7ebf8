/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames with DNS in them: built, and the answer to one checked octet by octet. Written from the
 * RFCs and without a line of xdp/ or userspace/, so that a fault there is not shared here.
 *
 * All numbers are in host order. Pure; any thread.
 */
#ifndef VOLLEY_TESTS_LIB_PACKET_H
#define VOLLEY_TESTS_LIB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PKT_FRAME_MAX   9216
#define PKT_NAME_MAX    255
#define PKT_TAGS_MAX    4
#define PKT_ETH_BYTES   14
#define PKT_DNS_HEADER  12
#define PKT_OPT_BYTES   11
#define PKT_HEADERS_MAX (PKT_ETH_BYTES + PKT_TAGS_MAX * 4 + 40 + 8)

enum {
	PKT_TPID_Q = 0x8100,
	PKT_TPID_AD = 0x88a8,
	PKT_QR = 0x8000,
	PKT_AA = 0x0400,
	PKT_TC = 0x0200,
	PKT_RD = 0x0100,
	PKT_AD = 0x0020,
	PKT_CD = 0x0010,
	PKT_DO = 0x8000,
};

/* Everything below the DNS message. */
struct pkt {
	uint8_t to_mac[6], from_mac[6];
	unsigned int n_tags;
	uint16_t tpid[PKT_TAGS_MAX]; /* 0: 802.1Q */
	uint16_t tci[PKT_TAGS_MAX];
	bool ipv6;
	uint8_t from[16], to[16]; /* IPv4 in the first 4 */
	uint16_t from_port, to_port;
	bool no_udp_checksum;
	size_t pad_to; /* zeros are put behind, up to a frame of so many octets */
};

/* From the client of the lab to its server (scripts/lab.sh), port 40000 to 53. */
extern const struct pkt pkt_ipv4;
extern const struct pkt pkt_ipv6;

/* A frame around n octets. Returns its length, or 0 if it were over PKT_FRAME_MAX. */
size_t pkt_build(uint8_t *frame, const struct pkt *p, const void *dns, size_t n);

/* Offset of the IP header, and of the DNS message. */
size_t pkt_ip_at(const struct pkt *p);
size_t pkt_dns_at(const struct pkt *p);

/* A query. What is 0 stays as a client would have it: id 0x1234, class IN, type A. */
struct pkt_ask {
	const uint8_t *name; /* wire form */
	uint16_t id, flags, qtype, qclass;
	bool edns;
	uint16_t udp_size;
	uint16_t edns_flags;
	const uint8_t *options;
	size_t n_options; /* octets */
};

/* Returns the length of the message. `dns` has room for 12 + 259 + 11 + n_options octets. */
size_t pkt_ask(uint8_t *dns, const struct pkt_ask *ask);

/* Wire form of a name like "www.example" (no escapes); its length with the root label. */
size_t pkt_name(uint8_t *wire, const char *text);
size_t pkt_name_bytes(const uint8_t *wire);

/* RFC 1071, over octets one after the other, as a number in host order; 0 for a whole and sum. */
uint16_t pkt_checksum(const void *data, size_t n, uint32_t start);

/* What an answer holds; pointers lie in the frame. */
struct pkt_answer {
	const uint8_t *dns;
	size_t dns_bytes;
	const uint8_t *body; /* behind the question, without OPT */
	size_t body_bytes;
	uint16_t flags, qdcount, ancount, nscount, arcount;
	const uint8_t *opt; /* NULL: none */
	uint16_t opt_udp_size, opt_flags;
	size_t opt_options; /* octets */
};

/*
 * Is `answer` what may leave for `query` (a whole frame that carries a query of one question)?
 * Addresses and ports swapped, tags as they came, header fields as Volley writes them, lengths that
 * end with the frame, checksums, and a DNS header and question that fit the query's, with an OPT at
 * the end if the query has one, no longer than the client takes (our maximum: max_udp). NULL: all
 * right; else what is wrong.
 */
const char *pkt_check_answer(const uint8_t *query, size_t query_bytes, const uint8_t *answer,
			     size_t answer_bytes, size_t max_udp, struct pkt_answer *out);

#endif
