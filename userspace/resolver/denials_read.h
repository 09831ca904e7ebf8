/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from a negative answer what it says of a zone's NSEC3 chain: the SOA and the NSEC3 records,
 * each with its signatures. Only the form is checked here; libunbound has validated the signatures.
 */
#ifndef VOLLEY_RESOLVER_DENIALS_READ_H
#define VOLLEY_RESOLVER_DENIALS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "zone/nsec3_chain.h"

#define DENIALS_NSEC3_MAX      8    /* NSEC3 records of one message: a proof has three */
#define DENIALS_SIGNATURES_MAX 4    /* of one record */
#define DENIALS_SET_BYTES      2048 /* of a record and its signatures */

/*
 * A hash costs iterations + 1 rounds of SHA-1. Validators may treat a zone with more than 0
 * iterations as insecure (RFC 9276 section 3.2), so zones have few or none.
 */
#define DENIALS_ITERATIONS_MAX 10
#define DENIALS_SALT_MAX       64 /* octets */

/* A record and then its signatures: each is two octets of length and the uncompressed data. */
struct denials_draft {
	uint8_t owner[NSEC3_HASH_BYTES]; /* of NSEC3: the hash in the first label of its owner */
	uint32_t life_s;                 /* how long it may be used from now */
	uint8_t n_signatures;
	uint16_t n_bytes;
	uint8_t bytes[DENIALS_SET_BYTES];
};

struct denials_reading {
	uint8_t apex[NAME_FOLDED_BYTES]; /* owner of the SOA, folded */
	struct nsec3_params params;
	struct denials_draft soa;
	struct denials_draft nsec3[DENIALS_NSEC3_MAX];
	unsigned int n_nsec3;
};

/*
 * Reads a whole message of n octets, which may be malformed. True if it is a denial (NXDOMAIN or
 * NODATA with an empty answer section) with one usable SOA and at least one usable NSEC3 record. A
 * usable record is well formed, was not expanded from a wildcard, and has signatures by the SOA's
 * owner, at most DENIALS_SIGNATURES_MAX. The owner of a usable NSEC3 record is one label below the
 * SOA's owner. All NSEC3 records have the same algorithm (1), salt and iterations, within the
 * bounds above.
 *
 * life_s is the least of: the TTL of the record, the TTLs of its signatures, their original TTLs,
 * the time from wall_s (seconds since 1970) to their expiration, the SOA's TTL, the SOA's MINIMUM
 * (RFC 8198 section 5.4, RFC 9077), and max_s. Any thread.
 */
bool denials_read(struct denials_reading *out, const uint8_t *msg, size_t n, uint64_t wall_s,
		  uint32_t max_s);

/* The parts of NSEC3 data that denials_read() has accepted. */
struct denials_nsec3 {
	uint8_t flags;
	const uint8_t *next; /* NSEC3_HASH_BYTES */
	const uint8_t *bitmap;
	size_t bitmap_bytes;
};

/* The first record of a draft's bytes. */
struct denials_nsec3 denials_nsec3_of(const uint8_t *bytes);

#endif
