/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TSIG record (RFC 8945 section 4.2) as octets: reads it, writes it, and writes the one of an
 * error. xfr/tsig_signature.h makes and checks signatures.
 */
#ifndef VOLLEY_DNS_TSIG_RECORD_H
#define VOLLEY_DNS_TSIG_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "dns/query.h"

#define TSIG_ERROR_MAX (2 * DNS_NAME_MAX + DNS_RR_FIXED_BYTES + 16)

/* Seconds since 1970 have 48 bits here. */
#define TSIG_TIME_MAX 0xffffffffffff

/* One record. mac and other point into the message that was read. */
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

/* Reads the record whose owner begins at offset at of a message of len octets. The caller checks by
 * *end that it is the last record. Class must be ANY and TTL 0. Returns 0 or ERR_FORMAT. Pure. */
int tsig_read(struct tsig_record *t, const uint8_t *msg, size_t len, size_t at, size_t *end)
	__attribute__((warn_unused_result));

/* Writes the record with uncompressed names. Returns its length or ERR_SPACE. Pure. */
int tsig_write(const struct tsig_record *t, uint8_t *out, size_t cap)
	__attribute__((warn_unused_result));

/*
 * Writes the unsigned TSIG record of a reply with TSIG error `error` (RFC 8945 section 5.2 and
 * 5.3.2): key, algorithm, time and fudge are the query's. q must have a TSIG and be read from msg.
 * It comes after all other records; the caller counts it in ARCOUNT. Returns its length, or
 * ERR_RDATA if the query's is malformed. Pure.
 */
int tsig_write_error(uint8_t out[TSIG_ERROR_MAX], const uint8_t *msg, const struct query *q,
		     uint16_t error) __attribute__((warn_unused_result));

#endif
