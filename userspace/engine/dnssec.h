/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a signed zone adds for a query with DO: signatures beside each RRset, and the records that
 * prove what an answer denies (RFC 4035 section 3.1, RFC 5155 section 7.2).
 *
 * A chain of aliases may come from several wildcards before it ends at a name that does not exist,
 * and each of these steps has its own proofs. They belong into the authority section, which begins
 * when the answer section is complete. So they are noted at each step and written at the end.
 */
#ifndef VOLLEY_ENGINE_DNSSEC_H
#define VOLLEY_ENGINE_DNSSEC_H

#include <stdint.h>

#include "engine/render_state.h"

/*
 * Adds an RRset of node to the writer's current section and, for a query with DO, its signatures
 * behind it, all with this owner and TTL. node is NULL for glue, which has no signatures.
 * ERR_SPACE: the records before stay.
 */
int dnssec_add_rrset(struct render *r, const struct zone_node *node, const uint8_t *owner,
		     const struct zone_rrset *rrset, uint32_t ttl)
	__attribute__((warn_unused_result));

/* Notes the proofs for the chain's step that r->zone answered with `found`. */
void dnssec_note_proofs(struct render *r, const struct zone_result *found);

/* Writes the noted proofs, each record once, to the authority section. Errors: ERR_SPACE,
 * ERR_RDATA. */
int dnssec_add_proofs(struct render *r) __attribute__((warn_unused_result));

#endif
