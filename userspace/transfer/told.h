/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit's events (base/audit.h) about requests of other name servers: client, port, transport, key, zone, type, and why the request
 * was refused, or which transfer was given. The loop's thread.
 */
#ifndef VOLLEY_TRANSFER_TOLD_H
#define VOLLEY_TRANSFER_TOLD_H

#include "base/audit.h"
#include "dns/proto.h"
#include "transfer/inquiry.h"
#include "xfr/xfr_out.h"

/* The client that asked. Members that are NULL or 0 are left out. */
struct told {
	uint64_t now_ns;
	const struct port_addr *peer;
	const char *transport;
	const uint8_t *key;  /* its name, wire */
	const uint8_t *zone; /* wire */
	uint16_t qtype;
};

struct told told_of(const struct inquiry *i, const uint8_t *zone);

/* A signature that does not hold; by a key that may not be ours. */
void told_tsig(const struct inquiry *i, enum tsig_verdict verdict);

/* It was refused, for a reason in words; rcode as the reply has it. */
void told_refused(enum audit_event event, const struct told *who, unsigned int rcode,
		  const char *reason);

/* A transfer has ended, whole or not: how much of it was sent. */
void told_transfer(enum audit_event event, const struct told *who, const struct xfr_out *out,
		   uint32_t serial);

/* A change by UPDATE was made. */
void told_update(const struct told *who);

#endif
