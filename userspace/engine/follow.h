/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question whose answer is not all in one place, for clients that may recurse (RFC 1034 section
 * 4.3.2, step 3a):
 *
 *	name ─┬─► a zone of ours: data, a denial ─────────────────────► the end
 *	  ▲   │                   an alias that leads out of our zones ─► head ─┐
 *	  │   └─► not ours, or below a cut: recursive_query.h ──────────────► the end │
 *	  │                   local data, a rule of a list: an alias ─► head ─┤
 *	  └────────────────────────── where the head ends ◄───────────────────┘
 *
 * The head is written before what comes: CNAMEs and DNAMEs with their signatures in the answer
 * section, and for DO in the authority section the proofs that they need. The target is looked for
 * as if the client had asked for it by itself: policies apply to it as well, but lists not behind a
 * rule of a list. FOLLOW_MAX heads at most are joined, and the chain of all has at most
 * CONVERT_CHAIN_MAX names: what is longer, or a loop, is SERVFAIL.
 *
 * No such answer is cached under the name that was asked for: it rests on a zone, on a policy and
 * on upstream, of which each may change by itself. So a change of one of them needs no withdrawal.
 * What upstream says of the last target is cached under that name, and the rest is rendered for
 * each query, by a worker.
 *
 * The rcode is that of the last name (RFC 6604). AA says that a zone of ours has the first (RFC
 * 1035 section 4.1.1). AD is never set: nobody has validated the head (RFC 4035 section 3.1.6), and
 * none of the signatures is lost for who does.
 */
#ifndef VOLLEY_ENGINE_FOLLOW_H
#define VOLLEY_ENGINE_FOLLOW_H

#include "engine/engine_state.h"

#define FOLLOW_MAX 8

/*
 * Whether the answer that e has just rendered for q from our zones is to be followed for this
 * client: it leads out of them, RD is set, and it is not the alias itself that was asked for. Pure.
 */
bool follow_is_wanted(const struct engine *e, const struct engine_request *rq,
		      const struct query *q, const struct engine_client *client);

/*
 * The whole answer to q: *a and the rcode, or e->outcome is not ENGINE_REPLIES. Where upstream has
 * to be asked, rq->pending is filled with the question for the target. As engine_answer().
 */
uint16_t follow_answer(struct engine *e, const struct engine_request *rq, const struct query *q,
		       const struct engine_client *client, struct cache_answer *a);

/*
 * The answer to q when p has completed, whether or not an alias led to p's question. rq and q are
 * of the client that waited, if there is one: else only the times are, and the answer is for the
 * cache alone. As engine_finish().
 */
uint16_t follow_completion(struct engine *e, const struct engine_request *rq, const struct query *q,
			   struct engine_pending *p, struct cache_answer *a);

#endif
