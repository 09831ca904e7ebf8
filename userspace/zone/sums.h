/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of a whole zone as sums over its names, so that an edit keeps them right by what
 * changed: subtract what was, add what is.
 *
 * The digest is the sum of a hash of each RRset with its owner, TTL and number of records.
 *
 * Whether a chain of NSEC or NSEC3 is closed: let each owner name its next one. If the names that
 * are named are the owners, each once, and each is greater than the one that names it but for one,
 * then each names its neighbour. (The last owner must be the one exception; the one before it can
 * only name the last, and so on.) The first is a comparison of two sums of hashes, the second a
 * count.
 */
#ifndef VOLLEY_ZONE_SUMS_H
#define VOLLEY_ZONE_SUMS_H

#include <stdbool.h>

#include "zone/image.h"

/*
 * Adds what one name of @z contributes, or takes it off; @node NULL: nothing. @scratch has
 * SUMS_SCRATCH_BYTES. Pure.
 */
#define SUMS_SCRATCH_BYTES (65536 * 2)
void sums_add(struct zone_sums *sums, const struct zone *z, const struct zone_node *node,
	      uint8_t *scratch);
void sums_subtract(struct zone_sums *sums, const struct zone *z, const struct zone_node *node,
		   uint8_t *scratch);

/* Fills in z->sums of a finished image. Returns 0 or -ENOMEM. */
int sums_of_image(struct zone *z) __attribute__((warn_unused_result));

/* Is the chain closed? True for a zone without one. O(1). */
bool sums_chain_is_closed(const struct zone *z);

/*
 * And that of the image, too? Then, of two neighbours in the version's chain, the first is not as
 * it was in the image unless the second was its neighbour there.
 */
static inline bool sums_chains_are_closed(const struct zone *z)
{
	return z->image_closed && !z->is_draft && sums_chain_is_closed(z);
}

#endif
