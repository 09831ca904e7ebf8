/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of a transfer: each call makes the next message of it, as large as the buffer lets it,
 * signed. It can be left between two messages for as long as the receiver is slow.
 *
 *      AXFR  │ SOA │ all names in canonical order, RRsets as they are │ SOA │            RFC 5936
 *      IXFR  │ SOA │ old SOA │ removed │ new SOA │ added │ next set ... │ SOA │         RFC 1995
 *      SOA   │ SOA │              the client is up to date, or has to ask over TCP
 *
 * RRSIGs are sent with the TTL of what they cover. The question is in the first message only, OPT too
 * (where the query had one, or padding is asked for: then in each).
 *
 * One thread per writer. The zone (or rather its version) must live until xfr_out_fini(): hold a
 * reference, not RCU. About 5 KiB.
 */
#ifndef VOLLEY_XFR_OUT_H
#define VOLLEY_XFR_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/pack.h"
#include "xfr/tsig.h"
#include "zone/changeset.h"
#include "zone/zone_walk.h"
#include "zone/zone.h"

#define XFR_OUT_UDP_SIZE 1232 /* what we say that we take */

/* What the request was. */
struct xfr_out_request {
	const uint8_t *qname; /* wire, the client's case; copied */
	uint16_t id, qtype;
	uint16_t flags; /* of the request: RD is echoed */
	bool has_edns;
	bool has_expire; /* EXPIRE was asked for: how long the zone is good for (RFC 7314), seconds */
	uint32_t expire_s;
	uint16_t pad_to; /* over TLS: messages are padded to a multiple of it (RFC 8467: 468); 0: no */
	/* A server's transaction, after tsig_verify_request(); NULL: not signed. Borrowed. */
	struct tsig *tsig;
};

/*
 * The next change set of a chain to @set, which is empty: 1, 0 at the end, or an error, which ends the
 * transfer. As store_chain_next().
 */
typedef int xfr_out_next_set(void *user, struct changeset *set);

enum xfr_out_kind { XFR_OUT_AXFR, XFR_OUT_IXFR, XFR_OUT_SOA };

/* Fields are private but for those said. */
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
	unsigned int n_rrsets;   /* of the node, from rrset on */
	unsigned int n_left;     /* records of rrset */
	const uint8_t *rdata_at; /* the next of these */
	unsigned int owner_bytes;
	uint8_t owner[NAME_FOLDED_BYTES];
	/* IXFR. */
	xfr_out_next_set *next_set;
	void *user;
	struct changeset set;
	size_t set_at; /* the next record of it */
	bool has_set;
	/* The first and last record. */
	uint8_t soa[2 * DNS_NAME_MAX + 20];
	uint16_t soa_bytes;
	uint32_t soa_ttl;
};

/* All of @zone. */
void xfr_out_axfr(struct xfr_out *out, const struct xfr_out_request *request,
		  const struct zone *zone);
/*
 * The changes that lead from the client's version to that of @zone. The sets have to chain; the last
 * must end with the zone's serial number, or the transfer ends with ERR_ZONE before its last SOA, so
 * that the client throws it away.
 */
void xfr_out_ixfr(struct xfr_out *out, const struct xfr_out_request *request,
		  const struct zone *zone, xfr_out_next_set *next, void *user);
/* The SOA alone, in one message. */
void xfr_out_soa(struct xfr_out *out, const struct xfr_out_request *request,
		 const struct zone *zone);
void xfr_out_fini(struct xfr_out *out);

/*
 * Writes the next message, without the length that TCP puts in front of it, to buf; of cap octets, of which
 * no more than DNS_MESSAGE_MAX are used. Returns its length; 0: the last
 * one has been made; ERR_SPACE: a record does not fit into a message of its own; ERR_ZONE, -ENOMEM, or
 * what next() said: the connection is to be closed.
 */
int xfr_out_next(struct xfr_out *out, uint8_t *buf, size_t cap, uint64_t now_s)
	__attribute__((warn_unused_result));

/*
 * After xfr_out_next(): was it the last? Over UDP an answer of more than one message does not fit, and
 * xfr_out_soa() follows: with the transaction as it was before (a copy of the struct will do).
 */
bool xfr_out_is_done(const struct xfr_out *out);

#endif
