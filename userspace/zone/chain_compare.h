/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two snapshots and their chains of NSEC or NSEC3: when does a proof that is still in the zone
 * still prove the same?
 *
 *      a ─────────────────────► d        The record of a, unchanged, says that nothing is between a
 *      │  b? c?  not there      │        and d. In a closed chain that is so, in both snapshots.
 */
#ifndef VOLLEY_ZONE_CHAIN_COMPARE_H
#define VOLLEY_ZONE_CHAIN_COMPARE_H

#include <stdbool.h>

#include "zone/zone.h"

/*
 * Are the chains of both snapshots of one kind, NSEC3 with the same parameters, and closed: does
 * each record name the next owner, the last one the first, and has with NSEC each name one that has
 * records? Then zone_denial() chooses for a name the same records in both, as long as these are in
 * both and the way to the name is the same; of NSEC3, where all names above one with an NSEC3 have
 * one too (RFC 5155 section 7.1). True for two zones without proofs. Pure; O(1).
 */
bool zone_chains_agree(const struct zone *a, const struct zone *b);

#endif
