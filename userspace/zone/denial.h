/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records that prove a negative answer: RFC 4035 section 3.1.3 with NSEC, RFC 5155 section 7.2
 * with NSEC3. For a referral also the DS RRset.
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
 * "Of": a record whose owner (or hashed owner) is the name. "Covering": a record whose span the
 * name (or its hash) is in.
 */
#ifndef VOLLEY_ZONE_DENIAL_H
#define VOLLEY_ZONE_DENIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "zone/zone.h"

#define ZONE_PROOFS_MAX 4

struct zone_proof {
	const struct zone_node *node; /* owner: zone_node_owner(); signatures: zone_rrsigs() */
	const struct zone_rrset *rrset;
};

struct zone_denial {
	unsigned n;
	struct zone_proof proof[ZONE_PROOFS_MAX]; /* each once */
};

/*
 * Fills in @d for the result @r of zone_find() of @qname (folded wire, @qname_len octets), in the
 * order of the table. If the query has DO set, the proofs go to the authority section, each with
 * its signatures. @d is empty for answers that deny nothing, in an unsigned zone, and where the
 * chain of a badly signed zone has a hole. @r may be the result of one step in a chain of aliases:
 * each step has its own proofs, also a positive one that comes from a wildcard.
 *
 * Pure; any thread; no allocation. NSEC: O(log names). NSEC3: as a rule at most three hashes of
 * iterations + 1 rounds of SHA-1, and one more for each ancestor without an NSEC3 (opt-out).
 */
void zone_denial(const struct zone *z, const uint8_t *qname, unsigned qname_len,
		 const struct zone_result *r, struct zone_denial *d);

/*
 * The last name with an NSEC before @name (folded wire, under the apex), which may exist or not;
 * NULL for the apex. The chain of the version must be closed. Pure; O(log names).
 */
const struct zone_node *zone_nsec_before(const struct zone *z, const uint8_t *name);

/*
 * Compares the chains of NSEC or NSEC3 of two versions. If a record of the chain is in both, it
 * proves the same in both, as long as both chains are closed:
 *
 *      a ─────────────────────► d        The record of a, unchanged, says that nothing is between a
 *      │  b? c?  not there      │        and d. In a closed chain that is true in both.
 */

/*
 * True if the chains of both versions are of one kind (NSEC3: with the same parameters) and closed,
 * and for two zones without proofs. A chain is closed if each record names the next owner, the last
 * one names the first, and, with NSEC, each name with records has an NSEC. Then zone_denial()
 * chooses the same records for a name in both versions, if both have these records and the way to
 * the name is the same. With NSEC3 this also needs an NSEC3 at all names above a name with one (RFC
 * 5155 section 7.1). Pure; O(1).
 */
bool zone_chains_agree(const struct zone *a, const struct zone *b);

#endif
