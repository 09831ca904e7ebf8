/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts an answer together that comes from several places, for clients that may recurse (RFC 1034
 * section 4.3.2, step 3a):
 *
 *	name ─┬─► a zone of ours ──┬─► data, a denial ─────────────► the end
 *	  ▲   │                    └─► an alias out of our zones ─► head ─┐
 *	  │   └─► any other name, ─┬─► an answer ─────────────────► the end
 *	  │       or below a cut   └─► an alias of an RPZ rule ────► head ─┤
 *	  └───────────────── the target of the head ◄─────────────────────┘
 *
 * The head is written first: CNAMEs and DNAMEs with their signatures in the answer section, and for
 * DO their proofs in the authority section. The target is handled like a question of the client:
 * RPZ applies to it, too, but after a rule of a list no more lists. At most FOLLOW_MAX heads are
 * joined, and the whole chain has at most CONVERT_CHAIN_MAX names; a longer chain, or a loop, is
 * SERVFAIL.
 *
 * No such answer is cached under the question's name: it depends on a zone, on RPZ and on
 * upstream, and each may change by itself. So a change of one of them needs no withdrawal.
 * Upstream's answer for the last target is cached under that name; a worker renders the rest for
 * each query.
 *
 * The rcode is that of the last name (RFC 6604). AA says that the first name is in a zone of ours
 * (RFC 1035 section 4.1.1). AD is never set, because no resolver has validated the head (RFC 4035
 * section 3.1.6). All signatures are kept for clients that validate.
 */
#ifndef VOLLEY_ENGINE_FOLLOW_H
#define VOLLEY_ENGINE_FOLLOW_H

#include "engine/engine_state.h"

#define FOLLOW_MAX 8

/*
 * True if the answer that e has just rendered for q from our zones is to be followed for this
 * client: it leads out of them, RD is set, and the question is not for the alias itself. Pure.
 */
bool follow_is_wanted(const struct engine *e, const struct engine_request *rq,
		      const struct query *q, const struct engine_client *client);

/*
 * Makes the whole answer to q: *a and the rcode, or e->now.outcome is not ENGINE_REPLIES. If
 * upstream has to be asked, rq->pending gets the question for the target. As engine_answer().
 */
uint16_t follow_answer(struct engine *e, const struct engine_request *rq, const struct query *q,
		       const struct engine_client *client, struct cache_answer *a);

/*
 * Makes the answer to q when p has completed, also if an alias led to p's question. rq and q are of
 * the client that waited. Without a client, only the times in rq are set, and the answer is for the
 * cache alone. As engine_finish().
 */
uint16_t follow_completion(struct engine *e, const struct engine_request *rq, const struct query *q,
			   struct engine_pending *p, struct cache_answer *a);

#endif
