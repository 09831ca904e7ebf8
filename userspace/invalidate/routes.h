/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells whether a cached answer is still the one that the present zones lead to.
 *
 * The set of zones (zone/set.h) decides which zone is asked for a name. A rendering asks it for two
 * kinds of names: the question's name, and the target of each alias. Additional addresses come only
 * from the zone of the answer. An answer for which a second zone was read is not cached
 * (engine/render.h). So this is true of each cached answer:
 *
 *   - the question's name leads to the zone of the entry;
 *   - each target leads there too, or to no zone at all, and the chain ended there.
 *
 * It stays true until a zone is added: a deeper one that has the question's name or a target, one
 * that has a target where the chain left our zones, or, for DS at an apex, one above (RFC 4035
 * section 3.1.4.1). Removing a zone changes no answer of another. An answer from upstream holds
 * while its question's name leads to no zone of ours, or lies below a cut of the zone that it leads
 * to. Upstream alone decides where its aliases lead.
 */
#ifndef VOLLEY_INVALIDATE_ROUTES_H
#define VOLLEY_INVALIDATE_ROUTES_H

#include <stdbool.h>

#include "xdp/abi.h"
#include "zone/set.h"

/*
 * False if the answer, which was rendered from zones or fetched from upstream, might belong to
 * another zone of `set` (NULL: no zones) or have more in it. For ANY the result may be false
 * although the answer would be the same. The entry must be whole (in the index of a cache); if its
 * body cannot be read, the result is false. The members of the set have the slots that entries
 * carry. Pure; any thread that may read entry, set and zones; O(labels) for the question and for
 * each alias.
 */
bool routes_hold(const struct zone_set *set, const struct volley_entry *entry);

#endif
