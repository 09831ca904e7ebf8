/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a negative answer says of a zone's NSEC3 chain: its SOA and its NSEC3 records, each with its
 * signatures. Only the form is checked here: that the signatures hold, libunbound has found.
 */
#ifndef VOLLEY_RESOLVER_DENIALS_READ_H
#define VOLLEY_RESOLVER_DENIALS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "zone/nsec3_hash.h"

#define DENIALS_NSEC3_MAX      8    /* NSEC3 records of one message: a proof has three */
#define DENIALS_SIGNATURES_MAX 4    /* of one record */
#define DENIALS_SET_BYTES      2048 /* one record and its signatures, each with its length before it */

/*
 * A zone's work for each hash is iterations + 1 times SHA-1 over the salt. Validators may take more
 * than 0 iterations for unsigned (RFC 9276 section 3.2), and zones that have some have few.
 */
#define DENIALS_ITERATIONS_MAX 10
#define DENIALS_SALT_MAX       64 /* octets */

/* A record and behind it its signatures: for each two octets of length, and its uncompressed
 * data. */
struct denials_draft {
	uint8_t owner[NSEC3_HASH_BYTES]; /* of NSEC3: the hash that its owner's first label is */
	uint32_t life_s;                 /* it may be used for so long from now */
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
 * Reads a whole message of n octets, in any state. True: it denies (NXDOMAIN or NODATA, and its
 * answer section is empty), and has one SOA and at least one NSEC3 record that can be used. "Can be
 * used" means: the record is well formed; it has signatures, not too many, whose signer is the
 * SOA's owner; it is not made from a wildcard; and of NSEC3, that its owner is one label below the
 * SOA's owner and that all have the same algorithm (1), salt and iterations, within the bounds
 * above.
 *
 * life_s is the least of: the record's TTL, those of its signatures, their original TTL, the time
 * to their expiration at wall_s (seconds since 1970), the SOA's TTL, the SOA's MINIMUM (RFC 8198
 * section 5.4, RFC 9077), and max_s. Pure but for *out; any thread.
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
