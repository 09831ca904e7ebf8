/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One message to us, from a worker or a connection, and its reply, signed as the message was (RFC
 * 8945 section 5). transfer/peer_dispatch.h decides which part answers it.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_PEER_REQUEST_H
#define VOLLEY_TRANSFER_PEER_REQUEST_H

#include "dns/edns.h"
#include "dns/query.h"
#include "transfer/reply_report.h"
#include "transfer/rules.h"

struct conn;

/* The caller sets the first ones, the rest is zeros. */
struct peer_request {
	struct transfer *t;
	uint8_t *msg; /* the TSIG is cut off from it */
	size_t n;
	struct rules_client client; /* its key comes of the signature */
	size_t cap;                 /* octets that a reply may have */
	struct conn *conn;          /* that it came by; or else: */
	struct handover_item *item; /* gets one reply, or a note that there is none */
	struct query q;
	struct tsig tsig;
	struct reply_report report;
	bool is_padded; /* the reply is: peer_request_is_padded() */
};

/* An address of a message; IPv4 behind an IPv6 socket is IPv4. */
struct port_addr peer_request_addr(uint8_t family, const uint8_t bytes[16], __be16 net_port);

/* Whether the reply gets padding (RFC 7830): the query had some, and came over TLS. */
bool peer_request_is_padded(const struct peer_request *rq);

/* Sends n octets as they are, and counts the reply; n 0: there is none. */
void peer_request_send(struct peer_request *rq, const uint8_t *out, size_t n);
/*
 * Pads and signs the n octets at out, which has room for peer_request.cap, and sends them; once for
 * each request. n 0: there is no reply.
 */
void peer_request_reply(struct peer_request *rq, uint8_t *out, size_t n);
/* The longest datagram that the client takes and we send. */
size_t peer_request_datagram_size(const struct peer_request *rq);

/*
 * A reply with nothing but header, question and, where the request had one, OPT: RFC 6891 section
 * 7.
 */
struct empty_reply {
	const uint8_t *request; /* of n octets, or the beginning of it with the question */
	size_t n;
	const struct query_edns *edns; /* of the request */
	const struct tsig *tsig;       /* for whose record room is left */
	uint16_t flags;                /* that are added */
	enum dns_rcode rcode;
	size_t cap; /* octets that it may have */
};

/* Writes it to t->primary->out, not signed. Its length; 0: there is nothing to reply to. */
size_t peer_request_write_empty(struct transfer *t, const struct empty_reply *reply);
/* The same as the reply to a request, signed and sent. */
void peer_request_refuse(struct peer_request *rq, uint16_t flags, enum dns_rcode rcode);

#endif
