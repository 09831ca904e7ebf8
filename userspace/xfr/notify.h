/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NOTIFY: RFC 1996. tsig_sign() signs it. Pure; any thread. */
#ifndef VOLLEY_XFR_NOTIFY_H
#define VOLLEY_XFR_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/xfr_message.h"

struct notify {
	uint16_t id;
	uint16_t flags;
	uint8_t zone[NAME_FOLDED_BYTES]; /* folded wire */
	unsigned int zone_bytes;
	bool has_serial; /* a SOA is in the answer section; it is only a hint (section 3.7) */
	uint32_t serial;
};

/*
 * Writes a NOTIFY for @zone (wire). The answer section has its SOA, unless @soa is NULL or the SOA
 * does not fit into @cap. Returns the length, or ERR_SPACE, which does not occur if @cap is
 * DNS_UDP_MIN or more.
 */
int notify_build(uint8_t *buf, size_t cap, uint16_t id, const uint8_t *zone, const uint8_t *soa,
		 uint16_t soa_bytes, uint32_t soa_ttl) __attribute__((warn_unused_result));

/*
 * Reads a request. Returns 0; ERR_CLOSED if it must get no reply (QR set, or shorter than a
 * header); ERR_FORMAT if the reply is FORMERR; ERR_TYPE if the reply is NOTIMP (the opcode is not
 * NOTIFY, the type not SOA, or the class not IN). xfr_reply() with DNS_FLAG_AA makes the reply.
 */
int notify_parse(struct notify *n, const uint8_t *msg, size_t len)
	__attribute__((warn_unused_result));

/*
 * Checks that a message is the reply to the NOTIFY with this id for @zone (folded wire). Returns
 * its rcode (0..15; each counts as a reply: section 3.12), or ERR_FORMAT if it is no such reply.
 */
int notify_match(const uint8_t *msg, size_t len, uint16_t id, const uint8_t *zone)
	__attribute__((warn_unused_result));

#endif
