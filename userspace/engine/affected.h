/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cached answers may be others since a zone changed.
 *
 * An answer says itself what it rests on. What a rendering looks up is the question's name, then
 * each alias's target, then the names whose addresses are added; and all of these stand in the
 * answer: as its key, as owners, or in the RDATA of CNAME, DNAME, NS, MX, SRV, ... So an entry is
 * unaffected when
 *
 *   - the way to each of these names is as before, and at those that changed no type that was
 *     looked for (engine/changes.h);
 *   - no RRset in it changed, signatures included;
 *   - the zone's NS RRset, where it was left out for want of room, is the same.
 *
 * Proofs need no rule of their own: they are RRsets of the answer, and in a closed chain a record
 * that is unchanged proves the same as before (zone/chain_compare.h).
 *
 * One thing is let pass. A negative answer may keep an older SOA record, if nothing of it changed
 * but the serial number: RFC 2308 section 5 uses its TTL and MINIMUM only. Its signature has to
 * hold as long as the proofs beside it, which are the zone's own: each signature over the SOA must
 * have one over a proof beside it, by the same key, that expires no later. So when an old one
 * expires, or its key goes, the zone itself has had to replace the proofs, and with these the
 * answer.
 */
#ifndef VOLLEY_ENGINE_AFFECTED_H
#define VOLLEY_ENGINE_AFFECTED_H

#include <stdbool.h>

#include "cache/dependency_filter.h"
#include "engine/changes.h"
#include "xdp/abi.h"

/*
 * False only if the answer, rendered from the new zone under the same settings and among the same
 * zones, would be the same octets, letter case and the older SOA apart (among other zones:
 * engine/routes.h). The entry is whole (in the index of a cache), and of the zone that changed; a
 * body that cannot be read is affected. Pure; any thread that may read the entry.
 */
bool affected_by(const struct changes *changes, const struct volley_entry *entry);

/*
 * The same question the other way round: which answers could be affected? Each rule above is a
 * dependency (cache/dependency_filter.h), a hash, that an entry has, and that a change touches:
 *
 *      dependency    an entry has it for                             a change touches it
 *      name x        x looked up; owner x, but for the next three    x has other RRsets, not SOA alone;
 *                                                                    x, below
 *      below x       what is above any name; the next two            x, below; x, wild
 *      x of type T   owner of NS, DS, NSEC, NSEC3 in authority; of   x has other RRsets of type T
 *                    SOA elsewhere; x looked up for its SOA
 *      old SOA x     SOA in the authority section                    SOA, if it may not stay older
 *      servers       something was left out for want of room         NS RRset of the zone
 *      signed SOA    one whose signature may not stay                SOA RRset of the zone
 *      any           what cannot be read, or has too many            always
 *
 * An entry that affected_by() calls affected has a dependency that the changes touch: of an apex,
 * whose SOA changes always and stands in every negative answer, that is the reason for the types.
 * An answer from upstream has none. A dependencies_fn; pure.
 */
void affected_dependencies(uint64_t seed, const struct volley_entry *entry,
			   struct dependencies *dependencies);

/* The dependencies that changes touch. `items` is the caller's to free, also where it is an
 * error. */
struct dependency_list {
	uint64_t *items;
	size_t n, cap;
};

/* Adds them to the list. 0 or -ENOMEM. Any thread; O(names that changed). */
int affected_list(uint64_t seed, const struct changes *changes, struct dependency_list *list)
	__attribute__((warn_unused_result));

#endif
