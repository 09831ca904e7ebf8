/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of a transfer. Each call makes the next message, as large as the buffer allows, and
 * signs it. If the receiver is slow, the writer may wait between two messages for any time.
 *
 *      AXFR  │ SOA │ all names in canonical order, RRsets as they are │ SOA │            RFC 5936
 *      IXFR  │ SOA │ old SOA │ removed │ new SOA │ added │ next set ... │ SOA │         RFC 1995
 *      SOA   │ SOA │              the client is current, or has to ask over TCP
 *
 * An RRSIG is sent with the TTL of the RRset that it covers. Only the first message has the
 * question. The first message has an OPT if the query had one; with padding, each message has one.
 *
 * One thread for each writer. The version of the zone must live until xfr_out_fini(): hold a
 * reference, not RCU. About 5 KiB.
 */
#ifndef VOLLEY_XFR_XFR_OUT_H
#define VOLLEY_XFR_XFR_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/pack.h"
#include "xfr/tsig_signature.h"
#include "zone/changeset.h"
#include "zone/zone_walk.h"
#include "zone/zone.h"

#define XFR_OUT_UDP_SIZE 1232 /* the UDP size in our OPT */

/* The request that the transfer answers. */
struct xfr_out_request {
	const uint8_t *qname; /* wire, the client's case; copied */
	uint16_t id, qtype;
	uint16_t flags; /* of the request: RD is echoed */
	bool has_edns;
	/* the client asked for EXPIRE: the seconds until the zone expires (RFC 7314) */
	bool has_expire;
	uint32_t expire_s;
	/* over TLS: pad messages to a multiple of this (RFC 8467: 468); 0: no padding */
	uint16_t pad_to;
	/* A server's transaction, after tsig_verify_request(); NULL: unsigned. Borrowed. */
	struct tsig *tsig;
};

/*
 * Puts the next change set of a chain into @set, which is empty. Returns 1, 0 at the end, or an
 * error, which ends the transfer: like store_chain_next().
 */
typedef int xfr_out_next_set(void *user, struct changeset *set);

enum xfr_out_kind { XFR_OUT_AXFR, XFR_OUT_IXFR, XFR_OUT_SOA };

/* Fields are private unless marked public. */
struct xfr_out {
	struct pack pack;
	enum xfr_out_kind kind;
	struct xfr_out_request request;
	uint8_t qname[NAME_FOLDED_BYTES];
	const struct zone *zone;
	uint8_t stage;
	uint64_t n_messages, n_records, n_bytes; /* public: so far */
	/* AXFR: the next record. */
	struct zone_walk walk;
	const struct zone_node *node;
	const struct zone_rrset *rrset;
	unsigned int n_rrsets;   /* of the node, beginning with rrset */
	unsigned int n_left;     /* records of rrset */
	const uint8_t *rdata_at; /* the next record of rrset */
	unsigned int owner_bytes;
	uint8_t owner[NAME_FOLDED_BYTES];
	/* IXFR. */
	xfr_out_next_set *next_set;
	void *user;
	struct changeset set;
	size_t set_at; /* offset of its next record */
	bool has_set;
	/* The first and last record. */
	uint8_t soa[2 * DNS_NAME_MAX + 20];
	uint16_t soa_bytes;
	uint32_t soa_ttl;
};

/* Begins a transfer of all of @zone. */
void xfr_out_axfr(struct xfr_out *out, const struct xfr_out_request *request,
		  const struct zone *zone);
/*
 * Begins a transfer of the changes from the client's version to that of @zone. The sets must form a
 * chain, and the last must end with the zone's serial number. Otherwise the transfer ends with
 * ERR_ZONE before its last SOA, so that the client throws it away.
 */
void xfr_out_ixfr(struct xfr_out *out, const struct xfr_out_request *request,
		  const struct zone *zone, xfr_out_next_set *next, void *user);
/* Begins an answer that is only the SOA, in one message. */
void xfr_out_soa(struct xfr_out *out, const struct xfr_out_request *request,
		 const struct zone *zone);
void xfr_out_fini(struct xfr_out *out);

/*
 * Writes the next message to buf, without the length that TCP puts before it. It uses at most cap
 * and at most DNS_MESSAGE_MAX octets. Returns the length; 0 if the last message has been made;
 * ERR_SPACE if a record does not fit into a message of its own; ERR_ZONE, -ENOMEM, or the error of
 * next(). After an error, close the connection.
 */
int xfr_out_next(struct xfr_out *out, uint8_t *buf, size_t cap, uint64_t now_s)
	__attribute__((warn_unused_result));

/*
 * After xfr_out_next(): true if that message was the last. Over UDP an answer that needs more than
 * one message does not fit. Then send xfr_out_soa(), with the transaction as it was before (a copy
 * of the struct is enough).
 */
bool xfr_out_is_done(const struct xfr_out *out);

#endif
