/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a question to the body of its answer: the records from the zones that we hold (RFC 1034
 * section 4.3.2, RFC 2308, RFC 4592, RFC 6604, RFC 6672, RFC 9471).
 *
 *	 question_end                           short_bytes           full_bytes
 *	 | answer | authority | required glue   | optional additional |
 *
 * The body does not depend on the client: not on its letter case, not on its EDNS size. So what is
 * optional is decided for all clients over UDP at once:
 *  - Optional additional records are taken as far as they fit into our largest UDP reply.
 *  - The NS RRset of a positive answer must cost no client a retry over TCP (RFC 2181 section 9),
 *    so it is there only where it does not push the message, with an OPT record, over 512 octets,
 *    or, where the answer alone is larger than these, over our largest UDP reply. DS has none: as
 *    knotd, nsd, named.
 *  - In-domain glue of a referral is required (RFC 9471 section 3.1). Where there is none, the
 *    addresses of the first sibling are, so that each referral can be followed.
 * Over TCP nothing is left out. Mostly that is the same body; where it is not, it is rendered for
 * each query, and the cached one is marked as partial.
 *
 * An answer that looked into a second zone of ours is not cached: an entry carries the generation
 * of one zone, so it would outlive a reload of the other.
 */
#ifndef VOLLEY_ENGINE_RENDER_H
#define VOLLEY_ENGINE_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/render_state.h"

/*
 * Renders the answer to q, of class IN, from set (NULL: no zones), for TCP (stream) or UDP. a->body
 * lies in r until the next call. a->zone_slot and zone_gen say under which zone it may be cached,
 * slot 0: not. REFUSED where no zone of ours is asked, SERVFAIL where it is not loaded: with an
 * empty body. Returns 0, or -EMSGSIZE when the records fit no message, ERR_RDATA when the zone
 * holds a record that is no wire form. Caller's QSBR read section; no allocation.
 */
int render_answer(struct render *r, const struct engine_config *config, const struct zone_set *set,
		  const struct query *q, bool stream, struct cache_answer *a)
	__attribute__((warn_unused_result));

/*
 * An answer of which is known only that it fits no message: reply_write() over UDP truncates it
 * (RFC 2181 section 9).
 * flags: all of them, host order. Never cached, nor for TCP. Pure.
 */
void render_too_large(struct cache_answer *a, uint16_t flags);

/* An answer without records: an error, or the empty NOERROR. Never cached. */
void render_empty(struct cache_answer *a, uint16_t flags);

#endif
