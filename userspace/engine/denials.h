/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver denies names with (xdp/deny.h): an NXDOMAIN of a zone, as an entry of the cache that fits every name of
 * the zone that does not exist.
 *
 *      NXDOMAIN for a name of the zone ──► denial_make() ──► key: apex, the filter's id
 *                                                            short body: the SOA, as for a question for the apex
 *                                                            full body: and a struct volley_denial
 *
 * An answer makes one if it is the SOA and nothing else: no alias before it, no proof beside it.
 */
#ifndef VOLLEY_ENGINE_DENIALS_H
#define VOLLEY_ENGINE_DENIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/proto.h"
#include "dns/query.h"
#include "zone/set.h"

/* More than an SOA record with its owner (542 octets at most) and a struct volley_denial; others make no denial. */
#define DENIAL_ROOM 1024u

struct denial {
	struct cache_answer answer; /* body: below */
	uint8_t body[DENIAL_ROOM];
};

/*
 * Makes the denial of the zone whose answer to q is `a`, an NXDOMAIN that may be cached; `zone` is the version that it is from,
 * `names` the filter that has all names of that version. False: this answer makes none. Caller's QSBR read section; no allocation.
 */
bool denial_make(struct denial *out, const struct cache_answer *a, const struct query *q,
		 const struct zone *zone, const struct volley_names_state *names);

/* The key of the denial of this zone for queries with these key flags, in this view. Pure. */
void denial_key(struct cache_key *key, const struct cache *cache, const struct zone_member *member,
		uint32_t names_id, uint8_t key_flags, uint8_t view);

#endif
