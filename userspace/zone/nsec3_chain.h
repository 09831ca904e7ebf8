/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NSEC3 (RFC 5155): hashes of names, the parameters of a chain, the fields of its records, and the
 * records of a zone by hash.
 */
#ifndef VOLLEY_ZONE_NSEC3_CHAIN_H
#define VOLLEY_ZONE_NSEC3_CHAIN_H

#include "zone/image.h"

#define NSEC3_HASH_BYTES  20
#define NSEC3_LABEL_CHARS 32

/*
 * More NSEC3 iterations than the first number: a warning at load, since validators treat the zone
 * as unsigned (RFC 9276 section 3.2); it is served, as by named 9.18. More than the second, the
 * highest that RFC 5155 section 10.3 allows: the zone is refused, since each negative answer would
 * take milliseconds.
 */
#define ZONE_NSEC3_ITERATIONS_WARN 150
#define ZONE_NSEC3_ITERATIONS_MAX  2500

/* The first label of the owner of an NSEC3: length octet first, in lower case. */
struct nsec3_label {
	uint8_t label[1 + NSEC3_LABEL_CHARS];
};

/* Hashes @name (folded wire) with these parameters. Pure. */
void nsec3_hash(const struct nsec3_params *params, const uint8_t *name, struct nsec3_label *out);

/* The same, as octets. */
void nsec3_hash_octets(const struct nsec3_params *params, const uint8_t *name,
		       uint8_t out[NSEC3_HASH_BYTES]);

/* The label for the octets of a hash. Pure. */
void nsec3_label_of(const uint8_t hash[NSEC3_HASH_BYTES], struct nsec3_label *out);

bool nsec3_params_equal(const struct nsec3_params *a, const struct nsec3_params *b);

/*
 * Finds the parameters of the chain of a version: those of the first NSEC3PARAM with which the apex
 * has an NSEC3. False if there is none. An NSEC3PARAM with more iterations than
 * ZONE_NSEC3_ITERATIONS_MAX ends the search: true.
 */
bool nsec3_find_params(const struct zone *z, struct nsec3_params *params);

/* True if the node has a record of the zone's chain. Pure. */
bool nsec3_in_chain(const struct zone *z, const struct zone_node *node);

/* Reads the next owner's label from the only NSEC3 of a node in the chain; false: another form. */
bool nsec3_next(const struct zone *z, const struct zone_node *node, struct nsec3_label *out);

/*
 * The index of a chain. The owner of an NSEC3 is a child of the apex, and its label is the hash in
 * base32hex. The order of the labels is that of the hashes, so the index is the node numbers in
 * canonical order, four octets each. Hashes are spread evenly, so a lookup is a search by
 * interpolation.
 */

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
