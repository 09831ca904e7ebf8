/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit's events (base/audit.h) about requests of other name servers: client, port, transport,
 * key, zone, type, and why the request was refused, or which transfer was given. The loop's thread.
 */
#ifndef VOLLEY_TRANSFER_REQUEST_AUDIT_H
#define VOLLEY_TRANSFER_REQUEST_AUDIT_H

#include "base/audit.h"
#include "dns/proto.h"
#include "transfer/peer_request.h"
#include "xfr/xfr_out.h"

/* The client that asked. Members that are NULL or 0 are left out. */
struct request_audit {
	uint64_t now_ns;
	const struct port_addr *peer;
	const char *transport;
	const uint8_t *key;  /* its name, wire */
	const uint8_t *zone; /* wire */
	uint16_t qtype;
};

struct request_audit request_audit_of(const struct peer_request *rq, const uint8_t *zone);

/* The signature is wrong. The key may be unknown here. */
void request_audit_tsig(const struct peer_request *rq, enum tsig_verdict verdict);

/* The request was refused: @reason in words, rcode as in the reply. */
void request_audit_refused(enum audit_event event, const struct request_audit *audit,
			   unsigned int rcode, const char *reason);

/* A transfer has ended, complete or not: reports how much was sent. */
void request_audit_transfer(enum audit_event event, const struct request_audit *audit,
			    const struct xfr_out *out, uint32_t serial);

/* A change by UPDATE was made. */
void request_audit_update(const struct request_audit *audit);

#endif
