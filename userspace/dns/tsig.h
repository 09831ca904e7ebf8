/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TSIG record (RFC 8945 section 4.2) as octets: read, written, and the one that says "not this
 * key". The signatures themselves are xfr/tsig.h's.
 */
#ifndef VOLLEY_DNS_TSIG_H
#define VOLLEY_DNS_TSIG_H

#include <stddef.h>
#include <stdint.h>

#include "dns/query.h"

#define TSIG_ERROR_MAX (2 * DNS_NAME_MAX + DNS_RR_FIXED_BYTES + 16)

/* Seconds since 1970 have 48 bits here. */
#define TSIG_TIME_MAX 0xffffffffffff

/* One record. mac and other point into what was read. */
struct tsig_record {
	uint8_t key[NAME_FOLDED_BYTES];       /* folded wire */
	uint8_t algorithm[NAME_FOLDED_BYTES]; /* folded wire */
	unsigned int key_bytes, algorithm_bytes;
	uint64_t time_s;
	uint16_t fudge_s;
	uint16_t original_id;
	uint16_t error;
	uint16_t mac_bytes, other_bytes;
	const uint8_t *mac, *other;
};

/*
 * Reads the record whose owner begins at offset at of a message of len octets; it has to end with
 * the message's records, which the caller sees by *end. Class ANY and TTL 0 are asked for. Returns
 * 0, or ERR_FORMAT. Pure.
 */
int tsig_read(struct tsig_record *t, const uint8_t *msg, size_t len, size_t at, size_t *end)
	__attribute__((warn_unused_result));

/* Writes the record, its names uncompressed. Its length, or ERR_SPACE. Pure. */
int tsig_write(const struct tsig_record *t, uint8_t *out, size_t cap)
	__attribute__((warn_unused_result));

/*
 * Writes the unsigned TSIG record of a reply with TSIG error `error` (RFC 8945 section 5.2 and
 * 5.3.2): key, algorithm, time and fudge of the query's. q has a TSIG and was read from msg. It
 * goes behind all other records; the caller counts it in ARCOUNT. Returns its length, or ERR_RDATA
 * where the query's is malformed. Pure.
 */
int tsig_write_error(uint8_t out[TSIG_ERROR_MAX], const uint8_t *msg, const struct query *q,
		     uint16_t error) __attribute__((warn_unused_result));

#endif
