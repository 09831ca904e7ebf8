/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds frames with DNS, and checks the answer to a frame octet by octet. It is written from the
 * RFCs without a line of xdp/ or userspace/, so it does not share their faults.
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
	size_t pad_to; /* zeros make the frame this long */
};

/* From the client of the lab to its server (scripts/lab.sh), port 40000 to 53. */
extern const struct pkt pkt_ipv4;
extern const struct pkt pkt_ipv6;

/* A frame around n octets. Returns its length, or 0 if it were over PKT_FRAME_MAX. */
size_t pkt_build(uint8_t *frame, const struct pkt *p, const void *dns, size_t n);

/* Offset of the IP header, and of the DNS message. */
size_t pkt_ip_at(const struct pkt *p);
size_t pkt_dns_at(const struct pkt *p);

/* A query. 0 stands for the usual value: id 0x1234, class IN, type A. */
struct pkt_ask {
	const uint8_t *name; /* wire form */
	uint16_t id, flags, qtype, qclass;
	bool edns;
	uint16_t udp_size;
	uint16_t edns_flags;
	const uint8_t *options;
	size_t n_options; /* octets */
};

/* Builds a query. `dns` has room for 12 + 259 + 11 + n_options octets. Returns the message's
 * length. */
size_t pkt_ask(uint8_t *dns, const struct pkt_ask *ask);

/* Wire form of a name like "www.example" (no escapes); its length with the root label. */
size_t pkt_name(uint8_t *wire, const char *text);
size_t pkt_name_bytes(const uint8_t *wire);

/* The checksum of RFC 1071, in host order; 0 for octets that include their right checksum. */
uint16_t pkt_checksum(const void *data, size_t n, uint32_t start);

/* The parts of an answer; pointers point into the frame. */
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
 * Checks that `answer` is a right answer to `query`, a whole frame with a query of one question:
 * addresses and ports are swapped, tags unchanged, header fields as Volley writes them, lengths end
 * with the frame, and checksums are right. DNS header and question fit the query's, OPT is last if
 * the query has one, and the message is no longer than the client accepts (our maximum: max_udp).
 * NULL, or a text that says what is wrong.
 */
const char *pkt_check_answer(const uint8_t *query, size_t query_bytes, const uint8_t *answer,
			     size_t answer_bytes, size_t max_udp, struct pkt_answer *out);

#endif
