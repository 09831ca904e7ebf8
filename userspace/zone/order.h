/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts the names of a zone that is being built in canonical order (RFC 4034 section 6.1), in
 * linear time: a counting sort by parent, then a radix sort of the children of each parent by their
 * labels. Then it sorts the parts in place, in the order of their names.
 */
#ifndef VOLLEY_ZONE_ORDER_H
#define VOLLEY_ZONE_ORDER_H

#include <stdint.h>

#include "zone/building.h"

/*
 * Makes *@place, which the caller frees: the index in preorder of each node number of the builder.
 * NULL after an error. Control plane only. Returns 0 or -ENOMEM.
 */
int order_nodes(const struct zone_builder *b, uint32_t **place) __attribute__((warn_unused_result));

/*
 * Sorts the parts and their origins by @place of their node, then by type, then in the order in
 * which they were added, which is in the origins' @number from now on. Makes *@first, which the
 * caller frees: the index of the first part of each node in preorder, and the end of all; NULL
 * after an error. Returns 0 or -ENOMEM.
 */
int order_parts(struct zone_builder *b, const uint32_t *place, uint32_t **first)
	__attribute__((warn_unused_result));

#endif
