/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The OPT record of a reply (RFC 6891 section 6.1.2): its size, for which the caller keeps room,
 * and its bytes. It follows all other records, but not a TSIG; the caller counts it in ARCOUNT. */
#ifndef VOLLEY_DNS_EDNS_H
#define VOLLEY_DNS_EDNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"
#include "dns/proto.h"

#define EDNS_NO_EDE -1

/* The record's contents. Pointers are the caller's, and only read by edns_reply_write(); NULL: no
 * such option. Initialise with EDNS_REPLY_INIT or set ede_code, because 0 is a code. */
struct edns_reply {
	uint16_t udp_size; /* our payload size, octets */
	uint16_t rcode;    /* all 12 bits: the upper 8 go into OPT, the lower 4 into the header */
	bool dnssec_ok;    /* DO of the query, echoed: RFC 3225 section 3 */
	const uint8_t *cookie; /* client and server cookie together: RFC 7873 section 4 */
	uint16_t cookie_bytes; /* 16..40 */
	const uint8_t *nsid;   /* RFC 5001; an empty one is an option of length 0 */
	uint16_t nsid_bytes;
	const uint8_t *expire;    /* RFC 7314: 4 octets, seconds in network order */
	const uint8_t *keepalive; /* RFC 7828: 2 octets, units of 100 ms in network order */
	int ede_code;             /* RFC 8914: 0..65535, or EDNS_NO_EDE */
	const char *ede_text;     /* UTF-8, or NULL for none */
	uint16_t ede_text_bytes;
};

/* clang-format off */
#define EDNS_REPLY_INIT { .ede_code = EDNS_NO_EDE }
/* clang-format on */

/* Bytes that edns_reply_write() will write; without options DNS_OPT_FIXED_BYTES. */
size_t edns_reply_bytes(const struct edns_reply *e);

/*
 * Writes the record. If it does not fit, writes nothing: ERR_SPACE, and the writer's error is set.
 */
int edns_reply_write(struct wire_writer *w, const struct edns_reply *e)
	__attribute__((warn_unused_result));

/* Padding of messages on encrypted connections, so that their length tells less (RFC 7830). Pure;
 * any thread. */

#define PADDING_REPLY_BYTES 468 /* RFC 8467 section 4.1: replies are a multiple of it */

/*
 * Adds a PADDING option to the OPT record of a message of n octets, in a buffer of cap. With the
 * option and the `room` octets that will follow (a signature), the message is a multiple of
 * PADDING_REPLY_BYTES, or as long as cap. Returns its new length, or n, with nothing changed, if
 * the last record is not OPT or the option has no room.
 */
size_t padding_add(uint8_t *msg, size_t n, size_t cap, size_t room);

#define PADDING_QUERY_BYTES 128 /* RFC 8467 section 4.1: queries are a multiple of it */

/* The same for a query, which nothing follows. */
size_t padding_add_query(uint8_t *msg, size_t n, size_t cap);

#endif
