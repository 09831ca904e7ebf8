/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: the names of a zone by their number. The server walks them (zone/zone_walk.h). */
#ifndef VOLLEY_TESTS_LIB_ZONENODE_H
#define VOLLEY_TESTS_LIB_ZONENODE_H

#include "zone/zone.h"

/*
 * The node at i < zone_n_names() in canonical order; 0 is the apex. Only for an image without
 * edits.
 */
const struct zone_node *zone_node_at(const struct zone *z, size_t i);

#endif
