/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cached answer read as the message that it was made for, or a message as it was received. All
 * offsets count from the start of that message, like compression pointers (RFC 1035 section 4.1.4).
 *
 *	  0        DNS_HEADER_BYTES      name_end          body_at                      end
 *	  | header | name of the question | type, class    | answer | authority | additional |
 *	             (the entry's key)                       (the entry's body)
 *
 * All functions are pure; a thread that may read the entry may call them. An entry may be damaged
 * and a message from upstream may hold anything, so nothing here trusts the octets.
 */
#ifndef VOLLEY_CACHE_MESSAGE_H
#define VOLLEY_CACHE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "xdp/abi.h"

struct message {
	const uint8_t *name; /* in an entry: folded */
	const uint8_t *body;
	uint32_t name_end, body_at, end;
};

/* The entry must be whole: in the index of a cache. The message lives as long as the entry. */
struct message message_of_entry(const struct volley_entry *entry);

/* Reads a message of n octets. False: it does not have one question, or a malformed one. */
bool message_of_wire(struct message *m, const uint8_t *msg, size_t n);

/* The *n octets from @at to the end of the question's name or of the body. NULL: in neither. */
const uint8_t *message_octets(const struct message *m, uint32_t at, uint32_t *n);

/* The offset of the octet after the name at @at; 0: the name has no end. A pointer ends a name. */
uint32_t message_name_end(const struct message *m, uint32_t at);

/* Copies the name at @at uncompressed, with its letter case. Returns its length; 0: no name. */
unsigned message_copy_name(const struct message *m, uint32_t at, uint8_t name[NAME_FOLDED_BYTES]);

/* As message_copy_name(), and folds the name. */
unsigned message_read_name(const struct message *m, uint32_t at, uint8_t folded[NAME_FOLDED_BYTES]);

/* A record without its owner. */
struct message_record {
	uint16_t type, class;
	uint32_t ttl;
	uint16_t len;      /* of RDATA */
	uint32_t rdata_at; /* in the message; the record ends at rdata_at + len */
	const uint8_t *rdata;
};

/* Reads the rest of a record whose owner ends at @at. False: the message ends before the record. */
bool message_read_record(const struct message *m, uint32_t at, struct message_record *record);

/*
 * Names in record data that may be compressed: those of RFC 1035, and of the types that a receiver
 * must accept so by RFC 3597 section 4. This section forbids it in the data of all other types, but
 * named and unbound accept it there too (NSEC, RRSIG, SVCB and so on), and so does this module.
 */

/*
 * Writes the data with its names uncompressed to out, at most cap octets. Returns their number; 0:
 * no name needs this, and the data in the message is complete as it is. ERR_RDATA: the data
 * does not fit its type. ERR_SPACE: out is too small.
 */
int rdnames_expand(const struct message *m, const struct message_record *record, uint8_t *out,
		   size_t cap) __attribute__((warn_unused_result));

#endif
