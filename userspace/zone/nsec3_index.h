/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NSEC3 chain of a zone: its records by hash (RFC 5155).
 *
 * NSEC3 owners are children of the apex named by their hash in base32hex, whose order is that of
 * the hashes; so the index is their node numbers in canonical order, four octets each, and a lookup
 * is a search by interpolation, for hashes are spread evenly.
 */
#ifndef VOLLEY_ZONE_NSEC3_INDEX_H
#define VOLLEY_ZONE_NSEC3_INDEX_H

#include "zone/nsec3_hash.h"

/* The node of the chain with this hash, or NULL. Pure, O(1). */
const struct zone_node *nsec3_match(const struct zone *z, const struct nsec3_label *hash);

/* The node of the chain whose span covers the hash, or NULL: it matches one. Pure. */
const struct zone_node *nsec3_cover(const struct zone *z, const struct nsec3_label *hash);

/*
 * Finds the chain in the finished arrays: marks the nodes that are NSEC3 only, and makes the index.
 * Sets z->chain. Control plane only. Returns 0, -ENOMEM, or ERR_LIMIT: more iterations than
 * ZONE_NSEC3_ITERATIONS_MAX.
 */
int zone_find_chain(struct zone *z) __attribute__((warn_unused_result));

#endif
