/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/zonenode.h"

#include "tests/lib/must.h"
#include "zone/image.h"

const struct zone_node *zone_node_at(const struct zone *z, size_t i)
{
	MUST(!z->tree && i < z->n_nodes);
	return &z->nodes[i];
}
