/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records into the messages of a transfer, with names compressed against the few that were written
 * last: the owner before, which in canonical order shares all that can be shared, and the names in
 * the last records' data.
 *
 *      last owner   mail . host . example .        next   www . host . example .
 *      its offsets   900    905    12                      \3www → 905
 *
 * Other than dns/writer.h nothing is hashed, and letter case counts: a transfer keeps the case of
 * names (RFC 5936 section 3.4), and is of any length.
 *
 * One thread per packer; no allocation.
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
	uint8_t at[DNS_LABELS_MAX + 1];      /* where each label begins in octets; the root's too */
	uint16_t offset[DNS_LABELS_MAX + 1]; /* where it is in the message; 0: out of reach */
	uint8_t octets[NAME_FOLDED_BYTES];
};

struct pack {
	uint8_t *msg;
	size_t at, limit; /* offsets in the message: of the next octet, and that is not passed */
	unsigned int n_records; /* in this message */
	unsigned int owner;     /* which of owners is the last one */
	unsigned int rdata;     /* which of rdatas is the next one */
	struct pack_name owners[2];
	struct pack_name rdatas[PACK_RDATA_NAMES];
};

/*
 * Begins a message: records go to msg from offset at on, up to limit. qname (wire) stands at offset
 * 12;
 * NULL: there is no question.
 */
void pack_begin(struct pack *p, uint8_t *msg, size_t at, size_t limit, const uint8_t *qname);

/*
 * Writes a record of class IN. owner is a checked name, rdata uncompressed and checked; names in it
 * are compressed for the types of RFC 1035 only (RFC 3597 section 4). ERR_SPACE: it is not written,
 * and the message is at its end: a shorter one must not follow.
 */
int pack_record(struct pack *p, const uint8_t *owner, uint16_t type, uint32_t ttl,
		const uint8_t *rdata, size_t rdata_bytes) __attribute__((warn_unused_result));

#endif
