/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a cached answer is still what the zones that are served lead to.
 *
 * Which zone is asked for a name is a matter of the set of zones (zone/set.h), and a rendering asks
 * so for two kinds of names: that of the question, and the target of each alias. Additional
 * addresses come from the alias's own zone, whatever others hold. An answer that looked into a
 * second zone is not cached (engine/render.h). So of all that is cached it is true that
 *
 *   - the question's name leads to the zone that the entry is of;
 *   - each target leads there too, or to no zone at all, where the chain ended,
 *
 * and it stays true until a zone comes: one below the question's name or a target, one where an
 * alias led out of all zones, or, for DS at an apex, one above (RFC 4035 section 3.1.4.1). A zone
 * that goes changes no answer of another. An answer from upstream holds while its question's name
 * leads to no zone of ours, or lies below a cut of the one that it leads to; where its aliases lead
 * is for those upstream to say.
 */
#ifndef VOLLEY_ENGINE_ROUTES_H
#define VOLLEY_ENGINE_ROUTES_H

#include <stdbool.h>

#include "xdp/abi.h"
#include "zone/set.h"

/*
 * False if the answer, rendered from these zones (NULL: there are none) or fetched beside them,
 * might be of another zone or have more in it. Of answers to ANY some that would be the same are
 * among these. The entry is whole (in the index of a cache); a body that cannot be read does not
 * hold. The members of the set have the slots that entries carry. Pure; any thread that may read
 * entry, set and zones; O(labels) for the question and for each alias.
 */
bool routes_hold(const struct zone_set *set, const struct volley_entry *entry);

#endif
