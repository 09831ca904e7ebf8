/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes records into the messages of a transfer. Names are compressed against the few that were
 * written last: the owner before, with which an owner in canonical order shares the most labels,
 * and the names in the data of the last records.
 *
 *      last owner   mail . host . example .        next   www . host . example .
 *      its offsets   900    905    12                      \3www → 905
 *
 * Unlike dns/writer.h, this writer hashes nothing, and letter case counts: a transfer keeps the
 * case of names (RFC 5936 section 3.4). A transfer may have any length.
 *
 * One thread for each struct pack. No allocation.
 */
#ifndef VOLLEY_XFR_PACK_H
#define VOLLEY_XFR_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

#define PACK_RDATA_NAMES 4 /* one of them is being written */

/* A name that was written. */
struct pack_name {
	unsigned int n_labels;
	/* where labels, also the root, begin in octets */
	uint8_t at[DNS_LABELS_MAX + 1];
	/* of each label in the message; 0: a pointer cannot reach it */
	uint16_t offset[DNS_LABELS_MAX + 1];
	uint8_t octets[NAME_FOLDED_BYTES];
};

struct pack {
	uint8_t *msg;
	size_t at, limit;       /* offsets in the message: of the next octet, and of the end */
	unsigned int n_records; /* in this message */
	unsigned int owner;     /* index of the last owner */
	unsigned int rdata;     /* index of the next name in data */
	struct pack_name owners[2];
	struct pack_name rdatas[PACK_RDATA_NAMES];
};

/*
 * Begins a message. Records go to msg, from offset at up to limit. qname (wire) is at offset 12, or
 * is NULL if the message has no question.
 */
void pack_begin(struct pack *p, uint8_t *msg, size_t at, size_t limit, const uint8_t *qname);

/*
 * Writes a record of class IN. owner is a checked name; rdata is uncompressed and checked. Names in
 * rdata are compressed only for the types of RFC 1035 (RFC 3597 section 4). ERR_SPACE: the record
 * is not written, and no other record may be written to this message.
 */
int pack_record(struct pack *p, const uint8_t *owner, uint16_t type, uint32_t ttl,
		const uint8_t *rdata, size_t rdata_bytes) __attribute__((warn_unused_result));

#endif
