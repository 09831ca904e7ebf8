/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The OPT record of an unchecked message, and its options. All are pure; any thread. */
#ifndef VOLLEY_TAP_EDNS_OPTIONS_H
#define VOLLEY_TAP_EDNS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_options {
	const uint8_t *msg;
	uint32_t ttl; /* OPT's: upper bits of the rcode, version, flags (RFC 6891 section 6.1.3) */
	size_t at, end;
};

/* Finds OPT in a message of n octets. False: it has none, or is malformed before it. */
bool tap_options_find(struct tap_options *o, const uint8_t *msg, size_t n);

/* The next option: its code, the offset of its value in the message, and the value's octets. False:
 * there are no more. */
bool tap_options_next(struct tap_options *o, uint16_t *code, size_t *at, size_t *bytes);

#endif
