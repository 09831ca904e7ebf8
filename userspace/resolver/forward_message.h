/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages of a forwarder: writes queries, compares replies with them, and reads replies to
 * their end. Pure functions; any thread.
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

/* The largest reply over UDP that queries allow: no fragments on common paths (flag day 2020) */
#define FORWARD_UDP_BYTES 1232

/* A query that is sent. */
struct forward_text {
	const uint8_t *name; /* wire form, lower case */
	uint16_t qtype;
	uint16_t qclass;
	uint16_t id;
	bool checking_disabled; /* CD: RFC 6840 section 5.9 */
	bool edns;              /* OPT with DO */
	uint64_t upper; /* bit n modulo 64: the n-th octet, if a letter, is upper case (0x20) */
	const uint8_t *cookie; /* with edns: the option's octets (RFC 7873); NULL: no option */
	uint8_t cookie_bytes;  /* 8 to UPSTREAM_COOKIE_MAX */
};

/* Writes the query, with RD. Returns its octets. */
size_t forward_message_write(uint8_t out[FORWARD_QUERY_MAX], const struct forward_text *text);

enum forward_match {
	FORWARD_MATCH,
	FORWARD_MATCH_NO_QUESTION, /* an error that is only a header, with an rcode */
	FORWARD_OTHER_CASE,        /* the question in other letter case */
	FORWARD_OTHER,             /* no reply to this query */
};

/*
 * Compares a message of n octets with the query (RFC 5452 section 4): QR, opcode QUERY, the ID, and
 * exactly one question, which is the query's.
 */
enum forward_match forward_message_match(const uint8_t *msg, size_t n,
					 const struct forward_text *text);

struct forward_reply {
	size_t end;     /* octets up to the end of the last record; the rest is ignored */
	uint16_t rcode; /* all 12 bits */
	bool has_opt;
	bool has_alias;        /* a CNAME or DNAME in the answer section */
	bool is_referral;      /* to other servers: the upstream does not recurse */
	int ede_code;          /* the first one, RFC 8914; EDNS_NO_EDE: none */
	const uint8_t *cookie; /* the first COOKIE option; points into the message; NULL: none */
	uint16_t cookie_bytes;
};

/*
 * Reads all records of a message that has matched and has at most one question. ERR_FORMAT: the
 * message ends too early, a name is malformed, or there are two OPT records.
 */
int forward_message_read(struct forward_reply *reply, const uint8_t *msg, size_t n)
	__attribute__((warn_unused_result));

/*
 * Turns a reply with one question into an answer, in place: ID 0, flags QR RD RA, the same rcode.
 * The question's name becomes `name`, which differs in letter case only.
 */
void forward_message_finish(uint8_t *msg, const uint8_t *name);

#endif
