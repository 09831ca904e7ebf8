/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the chains of NSEC or NSEC3 of two versions. If a record of the chain is in both, it
 * proves the same in both, as long as both chains are closed:
 *
 *      a ─────────────────────► d        The record of a, unchanged, says that nothing is between a
 *      │  b? c?  not there      │        and d. In a closed chain that is true in both.
 */
#ifndef VOLLEY_ZONE_CHAIN_COMPARE_H
#define VOLLEY_ZONE_CHAIN_COMPARE_H

#include <stdbool.h>

#include "zone/zone.h"

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
