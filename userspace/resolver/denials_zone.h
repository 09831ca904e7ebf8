/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a zone's NSEC3 chain that is known, and what it proves (RFC 5155 section 8).
 *
 *	sorted ──► interval ──► interval ──► ...     by the hash of the owner
 *	           [owner, next)                     the last one of a chain wraps to the first
 *
 * A hash is found by bisection: the interval with the greatest owner that is not greater than the
 * hash matches it, covers it, or says nothing of it. An array is enough: the bound of all zones
 * (DENIALS_BYTES_MAX) keeps it below a megabyte. `struct denials` is the store: all its zones.
 */
#ifndef VOLLEY_RESOLVER_DENIALS_ZONE_H
#define VOLLEY_RESOLVER_DENIALS_ZONE_H

#include <urcu/list.h>

#include "base/siphash.h"
#include "dns/writer.h"
#include "resolver/denials_read.h"

/* The most names hashed for one question; questions for deeper names go upstream. */
#define DENIALS_HASHES_MAX 8
#define DENIALS_PROOF_MAX  3

struct denials_interval {
	struct cds_list_head used; /* of all zones' intervals, the most recently used first */
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
	size_t n_bytes; /* allocated for the zone */
	uint8_t apex[NAME_FOLDED_BYTES];
};

/* A new zone without intervals and SOA. NULL: out of memory. */
struct denials_zone *denials_zone_new(const uint8_t *apex, const struct nsec3_params *params);

/* Frees the zone with all its intervals, and takes them out of the list of used ones. */
void denials_zone_free(struct denials_zone *z);

/* Copies the SOA, unless the known one lives longer. -ENOMEM: the known one stays. */
int denials_zone_set_soa(struct denials_zone *z, const struct denials_draft *draft, uint64_t now_ns)
	__attribute__((warn_unused_result));

/*
 * Copies an interval, unless the known one lives longer, and moves it to the front of the list. The
 * latest answer is right about the chain: known intervals that overlap the new one are removed.
 * -ENOMEM: nothing has changed.
 */
int denials_zone_put(struct denials_zone *z, const struct denials_draft *draft, uint64_t now_ns,
		     struct cds_list_head *used) __attribute__((warn_unused_result));

/* Takes out and frees an interval. The zone stays, even if it has no more. */
void denials_zone_drop(struct denials_zone *z, struct denials_interval *interval);

struct denials_proof {
	uint16_t rcode; /* NXDOMAIN, or NOERROR: NODATA */
	unsigned int n;
	struct denials_interval *used[DENIALS_PROOF_MAX]; /* each once */
};

/*
 * True if the known intervals, which may have expired, prove that the folded name, at or below the
 * apex, does not exist or has no records of qtype, which is a data type. At most DENIALS_HASHES_MAX
 * + 1 names are hashed. Never true:
 *
 *	- by an interval with Opt-Out that would have to cover a name (RFC 8198 section 5.1)
 *	- below a delegation or a DNAME, or at a delegation for types other than DS
 *	- for DS at the apex, which the parent zone has
 */
bool denials_zone_prove(struct denials_zone *z, const uint8_t *name, uint16_t qtype,
			struct denials_proof *out);

#define DENIALS_CHAINS 1024 /* in the table of zones */

/* An upper bound: it counts owner names without compression. */
#define DENIALS_RECORD_BYTES (DNS_NAME_MAX + DNS_RR_FIXED_BYTES)
#define DENIALS_MESSAGE_MAX                                           \
	(DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES + \
	 (1 + DENIALS_PROOF_MAX) *                                    \
		 (DENIALS_SET_BYTES + (1 + DENIALS_SIGNATURES_MAX) * DENIALS_RECORD_BYTES))

struct denials {
	size_t bytes; /* allocated for zones and intervals, with malloc()'s overhead */
	size_t bytes_max;
	uint32_t max_life_s;
	/* libunbound makes AAAA records from A records, so NODATA proves nothing */
	bool has_dns64;
	uint8_t key[SIPHASH_KEY_BYTES];
	struct cds_list_head used; /* all intervals, the most recently used first */
	struct cds_list_head zones[DENIALS_CHAINS];
	uint8_t (*stubs)[NAME_FOLDED_BYTES];
	size_t n_stubs;
	/* Work space of one call. */
	struct denials_reading reading;
	struct writer writer;
	uint8_t msg[DENIALS_MESSAGE_MAX];
};

#endif
