/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The canonical order of the names of a zone that is being built (RFC 4034 section 6.1), in linear
 * time: a counting sort by parent, and for the children of each a radix sort by the first eight
 * octets of their labels.
 */
#ifndef VOLLEY_ZONE_ORDER_H
#define VOLLEY_ZONE_ORDER_H

#include <stdint.h>

#include "zone/building.h"

/*
 * Fills in @place: for each node number of the builder its index in preorder. Control plane only.
 * Returns 0 or -ENOMEM.
 */
int order_nodes(const struct zone_builder *b, uint32_t *place) __attribute__((warn_unused_result));

#endif
