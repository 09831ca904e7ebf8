/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records prove what an answer denies: RFC 4035 section 3.1.3 with NSEC, RFC 5155 section 7.2
 * with NSEC3. For a referral also the DS RRset, which is the proof of the contrary.
 *
 *      answer                 NSEC                          NSEC3
 *      NODATA                 of the name, or the one that  of the name; without one (opt-out)
 *                             covers an empty non-terminal  closest encloser + next closer name
 *      NXDOMAIN               covering the name, covering   closest encloser + next closer name
 *                             the wildcard                  + wildcard covered
 *      from a wildcard        covering the name             next closer name covered
 *      NODATA of a wildcard   of the wildcard, covering     closest encloser + next closer name
 *                             the name                      covered, of the wildcard
 *      referral, signed       the DS RRset                  the DS RRset
 *      referral, unsigned     of the cut                    of the cut; without one as NODATA
 *
 * "Of" is a record whose owner (or hashed owner) is the name, "covering" one whose span it is in.
 */
#ifndef VOLLEY_ZONE_DENIAL_H
#define VOLLEY_ZONE_DENIAL_H

#include <stdint.h>

#include "zone/zone.h"

#define ZONE_PROOFS_MAX 4

struct zone_proof {
	const struct zone_node *node; /* the owner: zone_node_owner(); signatures: zone_rrsigs() */
	const struct zone_rrset *rrset;
};

struct zone_denial {
	unsigned n;
	struct zone_proof proof[ZONE_PROOFS_MAX]; /* each once */
};

/*
 * Fills in @d for what zone_find() of @qname (folded wire, @qname_len octets) said in @r. They go
 * to the authority section, each with its signatures, when the query has DO set; the order is that
 * of the table. Empty for answers that deny nothing, in an unsigned zone, and where the chain of a
 * badly signed zone has a hole. The result may be that of a step in a chain of aliases: each step
 * has its own proofs, and a step from a wildcard needs them though it answers.
 *
 * Pure; any thread; no allocation. NSEC: O(log names). NSEC3: as a rule at most three hashes of
 * zone's iterations + 1 rounds of SHA-1, one more for each ancestor that opt-out left without.
 */
void zone_denial(const struct zone *z, const uint8_t *qname, unsigned qname_len,
		 const struct zone_result *r, struct zone_denial *d);

/*
 * The last name with an NSEC before @name (folded wire, under the apex), which may be there or not;
 * NULL for the apex. Of a version whose chain is closed. Pure; O(log names).
 */
const struct zone_node *zone_nsec_before(const struct zone *z, const uint8_t *name);

#endif
