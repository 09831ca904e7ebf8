/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The canonical order of the names of a zone that is being built (RFC 4034 section 6.1), in linear
 * time: a counting sort by parent, and for the children of each a radix sort by their labels. Then
 * the parts, in place, in the order of the names that they belong to.
 */
#ifndef VOLLEY_ZONE_ORDER_H
#define VOLLEY_ZONE_ORDER_H

#include <stdint.h>

#include "zone/building.h"

/*
 * Makes *@place, which the caller frees: for each node number of the builder its index in preorder.
 * NULL after an error. Control plane only. Returns 0 or -ENOMEM.
 */
int order_nodes(const struct zone_builder *b, uint32_t **place) __attribute__((warn_unused_result));

/*
 * Puts the parts and their origins in order: by @place of their node, then by type, then in that of
 * adding, which the origins' numbers tell from now on. Makes *@first, which the caller frees: for
 * each index in preorder that of its first part, and the end of all; NULL after an error. Returns 0
 * or -ENOMEM.
 */
int order_parts(struct zone_builder *b, const uint32_t *place, uint32_t **first)
	__attribute__((warn_unused_result));

#endif
