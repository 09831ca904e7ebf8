/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that many names share, as entries of the cache (xdp/shared.h). The driver gives them to
 * names that the filter of names (xdp/names.h) does not know.
 *
 *      answer from a zone                          entry
 *      NXDOMAIN: the SOA and nothing else      ──► kind DENIAL, the apex
 *      a wildcard's data, alias, or no data    ──► kind WILDCARD, the wildcard's name, the type
 *      either of them with proofs              ──► kind INTERVAL, the interval and the closest
 *                                                  encloser; and kind DENIAL, the apex: the place
 *                                                  of the zone's intervals
 *
 *      short body: the answer, as to a question for the key's name
 *      full body:  the same and a struct volley_shared
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
 * True if an answer whose name was found in this way may serve many names: the name does not exist,
 * or a wildcard gives data, an alias, or no data. An answer by a cut or a DNAME may not. Pure.
 */
bool shared_is_possible(const struct render_origin *origin);

/*
 * Makes out->first and out->name, the key of the shared answer to q, from out->kind,
 * out->is_expanded and out->base_at. `asked` is the first word of the question's own key; `start`
 * is the point where an INTERVAL begins; names_id is the id of the filter. False: there is no such
 * name. Pure.
 */
bool shared_put_key(struct shared *out, const struct query *q, const struct volley_key *asked,
		    uint64_t start, uint32_t names_id) __attribute__((warn_unused_result));

/*
 * Publishes the shared answer, if there is one, unless a valid one is in the cache. `a` is the
 * answer that e has just rendered for q and published under e->key. Counted as `denials` or
 * `wildcards`. Caller's QSBR read section; no allocation.
 */
void shared_publish(struct engine *e, const struct query *q, const struct cache_answer *a,
		    uint32_t now_s);

#endif
