/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NSEC3 chain of a zone: hashes of names, and the records by hash (RFC 5155).
 *
 * NSEC3 owners are children of the apex named by their hash in base32hex, whose order is that of the
 * hashes; so the index is their node numbers in canonical order, four octets each, and a lookup is a
 * search by interpolation, for hashes are spread evenly.
 */
#ifndef VOLLEY_ZONE_NSEC3_H
#define VOLLEY_ZONE_NSEC3_H

#include "zone/image.h"

#define NSEC3_HASH_BYTES  20
#define NSEC3_LABEL_CHARS 32

/* What stands in the owner of an NSEC3: a label, length octet first, in lower case. */
struct nsec3_label {
	uint8_t label[1 + NSEC3_LABEL_CHARS];
};

/* Hashes @name (folded wire) as a chain with these parameters does. Pure. */
void nsec3_hash(const struct nsec3_params *params, const uint8_t *name, struct nsec3_label *out);

/* The same as the octets of the hash. */
void nsec3_hash_octets(const struct nsec3_params *params, const uint8_t *name,
		       uint8_t out[NSEC3_HASH_BYTES]);

/* The label that stands for the octets of a hash. Pure. */
void nsec3_label_of(const uint8_t hash[NSEC3_HASH_BYTES], struct nsec3_label *out);

bool nsec3_params_equal(const struct nsec3_params *a, const struct nsec3_params *b);

/*
 * The parameters of the chain of a version: of the first NSEC3PARAM of which the apex has an NSEC3.
 * False where there is none. More iterations than ZONE_NSEC3_ITERATIONS_MAX end the search: true.
 */
bool nsec3_find_params(const struct zone *z, struct nsec3_params *params);

/* Is there a record of the zone's chain at the node? Pure. */
bool nsec3_in_chain(const struct zone *z, const struct zone_node *node);

/* The next owner's label, from the only NSEC3 of a node in the chain; false: it has another form. */
bool nsec3_next(const struct zone *z, const struct zone_node *node, struct nsec3_label *out);

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
