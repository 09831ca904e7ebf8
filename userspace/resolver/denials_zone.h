/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a zone's NSEC3 chain that is known, and what it proves (RFC 5155 section 8).
 *
 *	sorted ──► interval ──► interval ──► ...     by the hash of the owner
 *	           [owner, next)                     the last one of a chain wraps to the first
 *
 * A hash is found by bisection: the interval with the greatest owner that is not greater than it
 * either matches it, covers it, or says nothing. An array is enough: the bound of all zones
 * (DENIALS_BYTES_MAX) keeps it below a megabyte.
 */
#ifndef VOLLEY_RESOLVER_DENIALS_ZONE_H
#define VOLLEY_RESOLVER_DENIALS_ZONE_H

#include <urcu/list.h>

#include "resolver/denials_read.h"

/* Names that are hashed for one question at most; deeper ones are asked upstream. */
#define DENIALS_HASHES_MAX 8
#define DENIALS_PROOF_MAX  3

struct denials_interval {
	struct cds_list_head used; /* of all zones' intervals, the latest first */
	struct denials_zone *zone;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	uint8_t owner[NSEC3_HASH_BYTES];
	uint16_t n_bytes;
	uint8_t bytes[]; /* as struct denials_draft */
};

/* The SOA. */
struct denials_soa {
	uint64_t until_ns;
	uint16_t n_bytes;
	uint8_t bytes[]; /* as struct denials_draft */
};

struct denials_zone {
	struct cds_list_head chain; /* of the table of zones */
	struct nsec3_params params;
	uint8_t apex_hash[NSEC3_HASH_BYTES];
	struct denials_interval **sorted;
	uint32_t n, cap;
	struct denials_soa *soa;
	size_t n_bytes; /* of all that the zone has allocated */
	uint8_t apex[NAME_FOLDED_BYTES];
};

/* A new zone without intervals and SOA. NULL: out of memory. */
struct denials_zone *denials_zone_new(const uint8_t *apex, const struct nsec3_params *params);

/* With all its intervals, which are taken out of the list that they are in. */
void denials_zone_free(struct denials_zone *z);

/* Copies the SOA, unless it is known for longer. -ENOMEM: there is the one that was. */
int denials_zone_set_soa(struct denials_zone *z, const struct denials_draft *draft, uint64_t now_ns)
	__attribute__((warn_unused_result));

/*
 * Copies an interval, unless it is known for longer, and moves it to the front of the list. The
 * chain is as the latest answer says: an interval with the same owner goes, so do one that its
 * owner lies in and those whose owners lie in it. -ENOMEM: nothing has changed.
 */
int denials_zone_put(struct denials_zone *z, const struct denials_draft *draft, uint64_t now_ns,
		     struct cds_list_head *used) __attribute__((warn_unused_result));

/* Takes out and frees an interval. The zone stays, even without any. */
void denials_zone_drop(struct denials_zone *z, struct denials_interval *interval);

struct denials_proof {
	uint16_t rcode; /* NXDOMAIN, or NOERROR: NODATA */
	unsigned int n;
	struct denials_interval *used[DENIALS_PROOF_MAX]; /* each once */
};

/*
 * Whether what is known, though it may have expired, proves that name, folded, at or below the
 * apex, does not exist, or has no records of this type, which is a type of data. No more than
 * DENIALS_HASHES_MAX + 1 names are hashed. Never true:
 *
 *	- by an interval with Opt-Out that would have to cover a name (RFC 8198 section 5.1)
 *	- below a delegation or a DNAME, at a delegation for other types than DS
 *	- for DS at the apex, which is the parent's to say
 */
bool denials_zone_prove(struct denials_zone *z, const uint8_t *name, uint16_t qtype,
			struct denials_proof *out);

#endif
