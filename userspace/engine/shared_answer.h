/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that many names share, as entries of the cache (xdp/shared.h). The driver gives them to
 * names that the filter of names (xdp/names.h) does not know.
 *
 *      answer from a zone                               entry
 *      NXDOMAIN: the SOA and nothing else           ──► kind DENIAL, the apex
 *      of a wildcard: data, an alias, or no data    ──► kind WILDCARD, the wildcard's name, the query's type
 *      either of them with proofs                   ──► kind INTERVAL, the interval and the closest encloser; and
 *                                                       kind DENIAL, the apex: where the zone's
 *                                                       intervals are
 *
 *      short body: the answer, as to a question for the key's name
 *      full body:  and a struct volley_shared
 */
#ifndef VOLLEY_ENGINE_SHARED_ANSWER_H
#define VOLLEY_ENGINE_SHARED_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/query.h"
#include "engine/render_state.h"
#include "engine/shared_draft.h"

struct engine;

/*
 * Whether an answer whose name was found so may be one for many names: what does not exist; data of
 * a wildcard, its alias, or none. Not what a cut or a DNAME says. Pure.
 */
bool shared_is_possible(const struct render_origin *origin);

/*
 * The key of the shared answer to q of out->kind, out->is_expanded and out->base_at: out->first and
 * name. `asked` is the first word of the question's own key; `start` the point that an INTERVAL
 * begins with; names_id the id of the filter. False: there is no such name. Pure.
 */
bool shared_put_key(struct shared *out, const struct query *q, const struct volley_key *asked,
		    uint64_t start, uint32_t names_id) __attribute__((warn_unused_result));

/*
 * Publishes the shared answer, if there is one, unless a valid one is there: `a` is what e has just
 * rendered for q and published under e->key. Counted as `denials` or `wildcards`. As above.
 */
void shared_publish(struct engine *e, const struct query *q, const struct cache_answer *a,
		    uint32_t now_s);

#endif
