/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a secondary asks: SOA, AXFR, IXFR; and the reply to the first. Not signed here: tsig_sign(),
 * tsig_verify(). Pure; any thread.
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
	bool wants_expire; /* EDNS EXPIRE (RFC 7314): SOA, AXFR and IXFR answers may carry it */
	bool pads; /* over TLS (RFC 9103, RFC 8467): to a multiple of XFR_REQUEST_PAD_BYTES, */
	/* of which so many are kept for a TSIG: tsig_room(). OPT has to be asked for */
	size_t pad_room;
	/* IXFR: our SOA. */
	const uint8_t *soa;
	uint16_t soa_bytes;
	uint32_t soa_ttl;
};

/* Writes it: the length, or ERR_SPACE (never with XFR_REQUEST_MAX octets). */
int xfr_request_build(uint8_t *buf, size_t cap, const struct xfr_request *r)
	__attribute__((warn_unused_result));

struct xfr_request_soa {
	uint8_t rcode;     /* the header's */
	bool is_truncated; /* TC: ask over TCP; nothing else is set */
	bool is_authority; /* AA */
	bool has_soa;      /* there is exactly one for the zone in the answer section */
	bool has_expire;   /* EXPIRE was there */
	uint32_t serial, refresh_s, retry_s, expire_s, minimum_s;
	uint32_t expire_left_s; /* where has_expire: RFC 7314 */
};

/*
 * Reads the reply to a SOA query of this id for @zone (folded wire). 0; ERR_FORMAT: malformed;
 * ERR_CLOSED: no reply to it (another id or question): over UDP wait for another. The signature is
 * the caller's.
 */
int xfr_request_read_soa(struct xfr_request_soa *out, const uint8_t *msg, size_t len, uint16_t id,
			 const uint8_t *zone) __attribute__((warn_unused_result));

#endif
