/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NSEC3 chain of a zone: its records by hash (RFC 5155).
 *
 * The owner of an NSEC3 is a child of the apex, and its label is the hash in base32hex. The order
 * of the labels is that of the hashes, so the index is the node numbers in canonical order, four
 * octets each. Hashes are spread evenly, so a lookup is a search by interpolation.
 */
#ifndef VOLLEY_ZONE_NSEC3_INDEX_H
#define VOLLEY_ZONE_NSEC3_INDEX_H

#include "zone/nsec3_hash.h"

/* The node of the chain with this hash, or NULL. Pure, O(1). */
const struct zone_node *nsec3_match(const struct zone *z, const struct nsec3_label *hash);

/* The node of the chain whose span covers the hash, or NULL: a node has this hash. Pure. */
const struct zone_node *nsec3_cover(const struct zone *z, const struct nsec3_label *hash);

/*
 * Finds the chain in the finished arrays: sets NODE_NSEC3 at the nodes with only NSEC3, and makes
 * the index. Sets z->chain. Control plane only. Returns 0, -ENOMEM, or ERR_LIMIT: more iterations
 * than ZONE_NSEC3_ITERATIONS_MAX.
 */
int zone_find_chain(struct zone *z) __attribute__((warn_unused_result));

#endif
