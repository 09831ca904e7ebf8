/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cached answer, read as the message that it was made for, or a message as it came: all offsets
 * are those of the message, as the pointers of compressed names are (RFC 1035 section 4.1.4).
 *
 *	  0        DNS_HEADER_BYTES      name_end          body_at                      end
 *	  | header | name of the question | type, class    | answer | authority | additional |
 *	             (the entry's key)                       (the entry's body)
 *
 * All are pure; any thread that may read the entry. What lies in a cache may be damaged, and what
 * comes from upstream may be anything, so nothing here trusts it.
 */
#ifndef VOLLEY_ENGINE_MESSAGE_H
#define VOLLEY_ENGINE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "xdp/abi.h"

struct message {
	const uint8_t *name; /* of an entry: folded */
	const uint8_t *body;
	uint32_t name_end, body_at, end;
};

/* Lives as long as the entry, which is whole: in the index of a cache. */
struct message message_of_entry(const struct volley_entry *entry);

/* The same of a message of n octets with one question. False: it has none, or a malformed one. */
bool message_of_wire(struct message *m, const uint8_t *msg, size_t n);

/* The octets from @at on, and how many: of the question's name, or of the body. NULL: of
 * neither. */
const uint8_t *message_octets(const struct message *m, uint32_t at, uint32_t *n);

/* The offset behind the name at @at, or 0 where it does not end. A pointer ends it. */
uint32_t message_name_end(const struct message *m, uint32_t at);

/* The name at @at, uncompressed, in the letter case that it has; its length, or 0: there is no
 * name. */
unsigned message_copy_name(const struct message *m, uint32_t at, uint8_t name[NAME_FOLDED_BYTES]);

/* The name at @at, uncompressed and folded; its length in octets, or 0 when there is no name. */
unsigned message_read_name(const struct message *m, uint32_t at, uint8_t folded[NAME_FOLDED_BYTES]);

/* A record, but for its owner. */
struct message_record {
	uint16_t type, class;
	uint32_t ttl;
	uint16_t len;      /* of RDATA */
	uint32_t rdata_at; /* in the message; the record ends at rdata_at + len */
	const uint8_t *rdata;
};

/* Reads what follows the owner's name, which ends at @at. False where the message ends before. */
bool message_read_record(const struct message *m, uint32_t at, struct message_record *record);

#endif
