/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NSEC3 (RFC 5155): hashes of names, the parameters of a chain, and the fields of its records.
 * zone/nsec3_index.h finds records by hash.
 */
#ifndef VOLLEY_ZONE_NSEC3_HASH_H
#define VOLLEY_ZONE_NSEC3_HASH_H

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

#endif
