/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NOTIFY: RFC 1996. Not signed here: tsig_sign() does it. Pure; any thread.
 */
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
	bool has_serial; /* a SOA is in the answer section: a hint, no more (section 3.7) */
	uint32_t serial;
};

/*
 * Writes a NOTIFY for @zone (wire) with its SOA in the answer section, where @soa is given (NULL:
 * none). A SOA that does not fit into cap is left out. Returns the length, or ERR_SPACE, never with
 * DNS_UDP_MIN.
 */
int notify_build(uint8_t *buf, size_t cap, uint16_t id, const uint8_t *zone, const uint8_t *soa,
		 uint16_t soa_bytes, uint32_t soa_ttl) __attribute__((warn_unused_result));

/*
 * Reads a request. 0; ERR_CLOSED where there is nothing to reply to (QR set, less than a header);
 * ERR_FORMAT: FORMERR; ERR_TYPE: another opcode than NOTIFY, another type than SOA or class than
 * IN: NOTIMP. The reply: xfr_reply() with DNS_FLAG_AA.
 */
int notify_parse(struct notify *n, const uint8_t *msg, size_t len)
	__attribute__((warn_unused_result));

/*
 * Is it the reply to the NOTIFY of this id for @zone (folded wire)? Its rcode (0..15; any is a
 * reply: section 3.12), or ERR_FORMAT: none, or not to this one.
 */
int notify_match(const uint8_t *msg, size_t len, uint16_t id, const uint8_t *zone)
	__attribute__((warn_unused_result));

#endif
