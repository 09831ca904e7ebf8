/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of a whole zone as sums over its names, so that an edit subtracts the old content of
 * the changed names and adds the new one.
 *
 * The digest is the sum of a hash of each RRset with its owner, TTL and number of records.
 *
 * How to know that a chain of NSEC or NSEC3 is closed: each record has an owner and a next name. If
 * the next names are the owners, each once, and all but one of them are greater than their owner,
 * then each next name is the neighbour of its owner. (The last owner must be the exception. The one
 * before it can only have the last one as its next name, and so on.) The first condition is a
 * comparison of two sums of hashes, the second is a count.
 */
#ifndef VOLLEY_ZONE_SUMS_H
#define VOLLEY_ZONE_SUMS_H

#include <stdbool.h>

#include "zone/image.h"
#include "zone/zone.h"

/* Adds or subtracts a name of @z (@node NULL: none); @scratch has SUMS_SCRATCH_BYTES. Pure. */
#define SUMS_SCRATCH_BYTES (65536 * 2)
void sums_add(struct zone_sums *sums, const struct zone *z, const struct zone_node *node,
	      uint8_t *scratch);
void sums_subtract(struct zone_sums *sums, const struct zone *z, const struct zone_node *node,
		   uint8_t *scratch);

/* Fills in z->sums of a finished image. */
void sums_of_image(struct zone *z);

/* True if the chain is closed, or there is none. O(1). */
bool sums_chain_is_closed(const struct zone *z);

/*
 * True if the chain of the image is closed, too. Then a record of the image's chain that is
 * unchanged in the version has the same neighbour in both.
 */
static inline bool sums_chains_are_closed(const struct zone *z)
{
	return z->image_closed && !z->is_draft && sums_chain_is_closed(z);
}

/* Checks the digest that a zone has of itself (RFC 8976) when the zone is loaded. */

/*
 * Checks the ZONEMD records at the apex, if there are any, as RFC 8976 section 4 says: at least one
 * record with a supported scheme (SIMPLE) and hash (SHA-384, SHA-512) must have the right digest.
 * Only unsupported records: a warning. @file is for messages. Control plane only: allocates,
 * O(zone). Returns 0, -ENOMEM, or ERR_ZONE with @err filled in.
 */
int zonemd_check(const struct zone *z, const char *file, struct zone_error *err)
	__attribute__((warn_unused_result));

/* True if a record at the apex has a scheme and a hash that zonemd_check() supports. Pure. */
bool zonemd_is_stated(const struct zone *z);

#endif
