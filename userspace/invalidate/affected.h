/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cached answers a change of a zone may affect.
 *
 * An answer shows what it depends on. A rendering looks up the question's name, then the target of
 * each alias, then the names whose addresses are added. All of these are in the answer: as its key,
 * as owners, or in the RDATA of CNAME, DNAME, NS, MX, SRV, ... So an entry is unaffected when
 *
 *   - the path to each of these names is unchanged, and at a name that changed, no type that was
 *     looked for changed (invalidate/changes.h);
 *   - no RRset in it changed, nor the signatures of one;
 *   - the zone's NS RRset is unchanged, if the answer omits it for want of room.
 *
 * Proofs need no rule of their own: they are RRsets of the answer, and in a closed chain an
 * unchanged record proves the same as before (zone/denial.h).
 *
 * One difference is allowed. A negative answer may keep an older SOA record if only its serial
 * number changed: RFC 2308 section 5 uses only its TTL and MINIMUM. The old signatures over the SOA
 * must be valid as long as the proofs: for each of them, the answer must have a signature over a
 * proof, by the same key, that expires no later. So when an old signature expires, or its key is
 * removed, the zone has already replaced the proofs, and that affects the answer.
 */
#ifndef VOLLEY_INVALIDATE_AFFECTED_H
#define VOLLEY_INVALIDATE_AFFECTED_H

#include <stdbool.h>

#include "cache/dependency_filter.h"
#include "invalidate/changes.h"
#include "xdp/abi.h"
#include "zone/set.h"

/*
 * False only if a new rendering would give the same octets, apart from letter case and the older
 * SOA: from the new zone, under the same settings and among the same zones (for other zones see
 * routes_hold()). The entry is whole (in the index of a cache), and of the zone that changed.
 * An entry whose body cannot be read is affected. Pure; any thread that may read the entry.
 */
bool affected_by(const struct changes *changes, const struct volley_entry *entry);

/*
 * The same rules in the other direction: which answers could a change affect? Each rule above is a
 * dependency (cache/dependency_filter.h), a hash. An entry has it, and a change touches it:
 *
 *      dependency    an entry has it for                             a change touches it
 *      name x        x looked up; owner x, but for the next three    RRsets of x, not only its SOA;
 *                                                                    x, below
 *      below x       x above any name of it; the next two            x, below; x, wild
 *      x of type T   owner x of NS, DS, NSEC, NSEC3 in authority,    RRset of x with type T
 *                    of SOA elsewhere; x looked up for its SOA
 *      old SOA x     SOA of x in the authority section               SOA, if no older one may stay
 *      servers       records omitted for want of room                NS RRset of the zone
 *      signed SOA    signature over the SOA that may not stay        SOA RRset of the zone
 *      any           unreadable body, or too many dependencies       always
 *
 * An entry that affected_by() calls affected has at least one dependency that the changes touch.
 * The dependencies on types are for the apex: its SOA changes each time and is in every negative
 * answer. An answer from upstream has no dependencies. A dependencies_fn; pure.
 */
void affected_dependencies(uint64_t seed, const struct volley_entry *entry,
			   struct dependencies *dependencies);

/* The dependencies that changes touch. The caller frees `items`, after an error, too. */
struct dependency_list {
	uint64_t *items;
	size_t n, cap;
};

/*
 * Adds the dependencies of answers that look up the folded name, or names below it: a zone comes
 * there. Answers from upstream have none. 0 or -ENOMEM. Any thread.
 */
int affected_list_below(uint64_t seed, const uint8_t *name, struct dependency_list *list)
	__attribute__((warn_unused_result));

/* Adds them to the list. 0 or -ENOMEM. Any thread; O(names that changed). */
int affected_list(uint64_t seed, const struct changes *changes, struct dependency_list *list)
	__attribute__((warn_unused_result));

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
