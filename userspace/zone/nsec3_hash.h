/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NSEC3 (RFC 5155): hashes of names, the parameters of a chain, and what a record of it says. The
 * records by hash are in zone/nsec3_index.h.
 */
#ifndef VOLLEY_ZONE_NSEC3_HASH_H
#define VOLLEY_ZONE_NSEC3_HASH_H

#include "zone/image.h"

#define NSEC3_HASH_BYTES  20
#define NSEC3_LABEL_CHARS 32

/*
 * Iterations of NSEC3 above the first number: a warning at load, since validators take the zone as
 * unsigned (RFC 9276 section 3.2); it is served, as named 9.18 does. Above the second, which RFC
 * 5155 section 10.3 allows to no zone: refused, for each negative answer would cost milliseconds.
 */
#define ZONE_NSEC3_ITERATIONS_WARN 150
#define ZONE_NSEC3_ITERATIONS_MAX  2500

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

/* The next owner's label, from the only NSEC3 of a node in the chain; false: it has another
 * form. */
bool nsec3_next(const struct zone *z, const struct zone_node *node, struct nsec3_label *out);

#endif
