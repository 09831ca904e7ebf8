/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages of a forwarder: queries are written, replies are compared with them and read to
 * their end. Pure; any thread.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_MESSAGE_H
#define VOLLEY_RESOLVER_FORWARD_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"
#include "resolver/upstream_cookie.h"

#define FORWARD_QUERY_MAX                                                                   \
	(DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES + DNS_OPT_FIXED_BYTES + \
	 DNS_OPTION_FIXED_BYTES + UPSTREAM_COOKIE_MAX)

/* What we take over UDP: no fragments on common paths (DNS flag day 2020). */
#define FORWARD_UDP_BYTES 1232

/* A query that is sent. */
struct forward_text {
	const uint8_t *name; /* wire form, lower case */
	uint16_t qtype;
	uint16_t qclass;
	uint16_t id;
	bool checking_disabled; /* CD: RFC 6840 section 5.9 */
	bool edns;              /* OPT with DO */
	uint64_t upper; /* bit n modulo 64: the n-th octet, where a letter, is upper case (0x20) */
	const uint8_t *cookie; /* with edns: the option's octets (RFC 7873); NULL: it is left out */
	uint8_t cookie_bytes;  /* 8 to UPSTREAM_COOKIE_MAX */
};

/* Writes it with RD; octets written. */
size_t forward_message_write(uint8_t out[FORWARD_QUERY_MAX], const struct forward_text *text);

enum forward_match {
	FORWARD_MATCH,
	FORWARD_MATCH_NO_QUESTION, /* an error in a header alone: it says nothing but its rcode */
	FORWARD_OTHER_CASE,        /* the question in other letter case */
	FORWARD_OTHER,             /* no reply to this query */
};

/*
 * Whether a message of n octets is a reply to the query (RFC 5452 section 4): QR, opcode QUERY, its
 * ID, its question and no other.
 */
enum forward_match forward_message_match(const uint8_t *msg, size_t n,
					 const struct forward_text *text);

struct forward_reply {
	size_t end;     /* octets up to the last record's end; what is behind means nothing */
	uint16_t rcode; /* all 12 bits */
	bool has_opt;
	bool is_referral;      /* to other servers, by one that does not recurse */
	int ede_code;          /* RFC 8914, the first; EDNS_NO_EDE: none */
	const uint8_t *cookie; /* the first COOKIE option, in the message; NULL: none */
	uint16_t cookie_bytes;
};

/*
 * Reads a message that has matched, with at most one question, through all of its records.
 * ERR_FORMAT: it ends before them, a name is malformed, or there are two OPT.
 */
int forward_message_read(struct forward_reply *reply, const uint8_t *msg, size_t n)
	__attribute__((warn_unused_result));

/*
 * Makes an answer of a reply with one question, in place: ID 0, QR RD RA and the rcode, the
 * question's name as given, which is the same in other letter case.
 */
void forward_message_finish(uint8_t *msg, const uint8_t *name);

#endif
