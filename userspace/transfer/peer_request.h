/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One message to us, from a worker, and its reply, signed as the message was (RFC 8945 section 5).
 * transfer/primary_state.h decides which module answers it.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_PEER_REQUEST_H
#define VOLLEY_TRANSFER_PEER_REQUEST_H

#include "dns/edns.h"
#include "dns/query.h"
#include "transfer/reply_report.h"
#include "transfer/rules.h"
#include "worker/handover_queue.h"

/* The caller sets the first members; the others are zeros. */
struct peer_request {
	struct transfer *t;
	uint8_t *msg; /* its TSIG is cut off */
	size_t n;
	struct rules_client client; /* its key comes from the signature */
	size_t cap;                 /* octets that a reply may have */
	bool is_stream;             /* it came over TCP or TLS */
	struct handover_item *item; /* to be ended; NULL: another module will do that */
	struct query q;
	struct tsig tsig;
	struct reply_report report;
	bool is_padded; /* peer_request_is_padded() */
};

/* The address of a message. An IPv4-mapped IPv6 address becomes an IPv4 address. */
struct port_addr peer_request_addr(uint8_t family, const uint8_t bytes[16], __be16 net_port);

/* True if the reply is padded (RFC 7830): the query was padded and came over TLS. */
bool peer_request_is_padded(const struct peer_request *rq);

/* Sends n octets as they are, and counts the reply. n 0: there is no reply. */
void peer_request_send(struct peer_request *rq, const uint8_t *out, size_t n);
/* Pads, signs and sends the n octets at out, which has room for peer_request.cap octets. Once for
 * each request. n 0: there is no reply. */
void peer_request_reply(struct peer_request *rq, uint8_t *out, size_t n);
/* The longest message that the client takes and we send. */
size_t peer_request_size(const struct peer_request *rq);

/* A request that is answered later hears of its item's events: item->user points to this. */
struct peer_task {
	void (*tell)(struct transfer *t, struct peer_task *task, enum handover_event event);
};

/*
 * What the rate limit leaves of a reply of n octets over UDP, for an address that may be forged:
 * all octets, none, or those of a reply without records, which takes their place in
 * t->primary->out: with TC=1 for opcode QUERY, else with the rcode and flags of @reply. A message
 * that is signed well is not limited, as one with a good cookie is not: its sender has the key.
 * @reply: as for peer_request_write_empty().
 */
struct empty_reply;
size_t peer_request_limit(struct transfer *t, const struct port_addr *client,
			  const struct empty_reply *reply, size_t n);

/* A reply that has only a header, a question and, if the request had one, an OPT record: RFC 6891
 * section 7. */
struct empty_reply {
	const uint8_t *request; /* n octets: the whole, or its beginning with the question */
	size_t n;
	const struct query_edns *edns; /* of the request */
	const struct tsig *tsig;       /* room is left for its record */
	uint16_t flags;                /* added to those of the request */
	enum dns_rcode rcode;
	size_t cap;   /* octets that it may have */
	bool is_slip; /* over the rate limit: without an extended error */
};

/*
 * Writes it to t->primary->out, unsigned. Returns its length; 0: the message must not be answered.
 */
size_t peer_request_write_empty(struct transfer *t, const struct empty_reply *reply);
/* Writes such a reply to the request, signs it and sends it. */
void peer_request_refuse(struct peer_request *rq, uint16_t flags, enum dns_rcode rcode);

#endif
