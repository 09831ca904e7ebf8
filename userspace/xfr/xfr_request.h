/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queries of a secondary, SOA, AXFR and IXFR, and the reply to the SOA query. tsig_sign() and
 * tsig_verify() do the signatures. Pure; any thread.
 */
#ifndef VOLLEY_XFR_XFR_REQUEST_H
#define VOLLEY_XFR_XFR_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/xfr_message.h"

#define XFR_REQUEST_PAD_BYTES 128 /* RFC 8467 section 4.1 */
#define XFR_REQUEST_MAX       (2 * XFR_REQUEST_PAD_BYTES + 4 * DNS_NAME_MAX)

struct xfr_request {
	const uint8_t *zone; /* checked wire name */
	uint16_t id;
	uint16_t type;     /* DNS_TYPE_SOA, _AXFR, _IXFR */
	uint16_t udp_size; /* in OPT; 0: without OPT */
	/* ask for EXPIRE (RFC 7314), which answers to SOA, AXFR and IXFR may have */
	bool wants_expire;
	/* over TLS, with OPT: pad to a multiple of XFR_REQUEST_PAD_BYTES (RFC 9103, RFC 8467) */
	bool pads;
	/* octets that a TSIG will add to it: tsig_room() */
	size_t pad_room;
	/* IXFR: our SOA. */
	const uint8_t *soa;
	uint16_t soa_bytes;
	uint32_t soa_ttl;
};

/* Writes the query. Returns the length, or ERR_SPACE (never with XFR_REQUEST_MAX octets). */
int xfr_request_build(uint8_t *buf, size_t cap, const struct xfr_request *r)
	__attribute__((warn_unused_result));

struct xfr_request_soa {
	uint16_t rcode;    /* with the bits of OPT */
	bool is_truncated; /* TC: ask over TCP; the fields below are not set */
	bool is_authority; /* AA */
	bool has_soa;      /* the answer section has exactly one SOA for the zone */
	bool has_expire;   /* the reply has EXPIRE */
	uint32_t serial, refresh_s, retry_s, expire_s, minimum_s;
	uint32_t expire_left_s; /* with has_expire: RFC 7314 */
};

/*
 * Reads the reply to the SOA query with this id for @zone (folded wire). Returns 0; ERR_FORMAT if
 * it is malformed; ERR_CLOSED if it is no reply to this query (another id or question): over UDP,
 * wait for another message. The caller verifies the signature.
 */
int xfr_request_read_soa(struct xfr_request_soa *out, const uint8_t *msg, size_t len, uint16_t id,
			 const uint8_t *zone) __attribute__((warn_unused_result));

#endif
