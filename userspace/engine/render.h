/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the body of an answer from the records of our zones (RFC 1034 section 4.3.2, RFC 2308, RFC
 * 4592, RFC 6604, RFC 6672, RFC 9471).
 *
 *	 question_end                           short_bytes           full_bytes
 *	 | answer | authority | required glue   | optional additional |
 *
 * The body does not depend on the client: neither on its letter case nor on its EDNS size. So the
 * choice of optional records is made for all clients over UDP at once:
 *  - Optional additional records are added as long as they fit into our largest UDP reply.
 *  - The NS RRset of a positive answer must cost no client a retry over TCP (RFC 2181 section 9).
 *    So it is added only if the message with an OPT record then has at most 512 octets. If the
 *    answer alone is larger, our largest UDP reply is the limit instead. An answer for DS or DNSKEY
 *    has no NS RRset, as in knotd, nsd, named.
 *  - In-domain glue of a referral is required (RFC 9471 section 3.1). If there is none, the
 *    addresses of the first sibling are required, so that each referral can be followed.
 * Over TCP nothing is left out. In most cases the body is the same. If it is not, it is rendered
 * for each query, and the cached one is marked as partial.
 *
 * An answer for which a second zone of ours was read is not cached. An entry carries the generation
 * of one zone, so it would outlive a reload of the other.
 */
#ifndef VOLLEY_ENGINE_RENDER_H
#define VOLLEY_ENGINE_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/render_state.h"

/*
 * Renders the answer to q (class IN) from set (NULL: no zones), for TCP (stream) or UDP. a->body
 * lies in r until the next call. a->zone_slot and zone_gen say under which zone it may be cached;
 * slot 0: it may not. The rcode is REFUSED if no zone of ours has the name, and SERVFAIL if the
 * zone is not loaded; the body is then empty. Returns 0; -EMSGSIZE: the records fit no message;
 * ERR_RDATA: a record of the zone is no wire form. Caller's QSBR read section; no allocation.
 */
int render_answer(struct render *r, const struct engine_config *config, const struct zone_set *set,
		  const struct query *q, bool stream, struct cache_answer *a)
	__attribute__((warn_unused_result));

/*
 * An answer that is known only to fit no message: reply_write() truncates it over UDP (RFC 2181
 * section 9). flags: all of them, host order. Never cached, and not for TCP. Pure.
 */
void render_too_large(struct cache_answer *a, uint16_t flags);

/* An answer without records: an error, or the empty NOERROR. Never cached. */
void render_empty(struct cache_answer *a, uint16_t flags);

/* Class CH: what the server says of itself (RFC 4892), if the configuration sets it. */

/*
 * Answers q, of class CH: TXT (or ANY) of version.bind and version.server with identity->version,
 * of id.server and hostname.bind with identity->name. REFUSED for all other names and types, and if
 * identity is NULL. a->body points into r until the next call. Never cached. Returns the rcode.
 */
uint16_t chaos_answer(struct render *r, const struct engine_identity *identity,
		      const struct query *q, struct cache_answer *a);

#endif
