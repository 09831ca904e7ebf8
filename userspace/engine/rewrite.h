/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A question for a name that stands for another one, as a rule of a policy says (engine/policy.h):
 *
 *	NAME ─ rule ─► TARGET ─┬─► a zone of ours, local data, special.h, the cache ──► rewrite_wrap() ──► NAME CNAME TARGET, and on
 *	                       └─► pending, by TARGET ─► upstream ─► cache ──────┘
 *
 * Lists are not asked about the target. The answer to NAME is not cached, so each query for it comes to a worker; the answer of
 * upstream to TARGET is cached as any other. AD and AA are never set: nobody has signed the alias.
 */
#ifndef VOLLEY_ENGINE_REWRITE_H
#define VOLLEY_ENGINE_REWRITE_H

#include "engine/internal.h"
#include "engine/policy.h"

/* Whether the answer to the target is here; then it is *a, of a question for the target, whatever its rcode. */
bool rewrite_find(struct engine *e, const struct engine_request *rq, const struct query *q,
		  const struct engine_client *client, const struct policy_alias *alias,
		  struct cache_answer *a);

/*
 * Makes of *a, the answer to a question for the alias's target, the answer to q: with the alias before it and with its
 * extended error. A failure stays one. Its body lies in e->convert until the next use. The rcode.
 */
uint16_t rewrite_wrap(struct engine *e, const struct query *q, const struct policy_alias *alias,
		      struct cache_answer *a);

#endif
