/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Padding of messages on encrypted connections, so that their length tells less (RFC 7830). Pure;
 * any thread. */
#ifndef VOLLEY_DNS_PADDING_H
#define VOLLEY_DNS_PADDING_H

#include <stddef.h>
#include <stdint.h>

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
