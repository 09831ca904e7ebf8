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

#include "cache/cache.h"
#include "dns/query.h"
#include "engine/engine_state.h"
#include "engine/render_state.h"

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
 * answer that e has just rendered for q and published under e->now.key. Counted as `denials` or
 * `wildcards`. Caller's QSBR read section; no allocation.
 */
void shared_publish(struct engine *e, const struct query *q, const struct cache_answer *a,
		    uint32_t now_s);

/*
 * Compares the answer that the driver would give to a query, from a shared answer
 * (shared_publish()), with the answer that a worker has rendered.
 *
 *	query ─► walk over the filter ─► key ─────────► entry ─► pointers moved ┐
 *	         (shield/name_filter.h)  (xdp/deny.h)            (xdp/shared.h) ├─► alike_compare()
 *	query ─► zone ─► rendered ──────────────────────────────────────────────┘
 *
 * The entry is found by the driver's steps, not by the worker's choice of a key to publish under.
 * So the check finds not only an entry with other octets, but also a lost name, mark or point that
 * leads to another entry.
 *
 * An entry of the version before is legitimate from the moment when a new version serves to the end
 * of its withdrawal (zonemgr/withdraw.h). Control keeps shield.edition odd during this time, and
 * the check says GIVEN_UNSURE. If the edition is even, and the same before the walk and after the
 * comparison, then:
 *
 *   - The rendered answer is of the version that serves: while the edition is odd, a publish waits
 *     for all renderings to end.
 *   - All entries that this version changed have been withdrawn, and no entry is of a later
 *     version.
 *
 * An entry that the withdrawal keeps may have an older SOA; alike_compare() allows it. Entries do
 * not change and their memory is not used again before the caller's read section ends, so no copy
 * and no sequence number are needed.
 */

enum given {
	GIVEN_NONE,   /* the driver has no shared answer to it, or may not give it */
	GIVEN_SAME,   /* the driver would say the same */
	GIVEN_OTHER,  /* the driver would say something else */
	GIVEN_UNSURE, /* they differ, and that may be right; or this cannot be decided now */
};

/*
 * Checks the answer `a` that e has just rendered for q over UDP and has not published yet.
 * e->now.key is the question's, in the view of the client. GIVEN_OTHER is noted for control
 * (shield/shield.h). Overwrites e->shared. Caller's QSBR read section, the same as for rendering a;
 * no lock, no allocation; one walk, up to three look-ups, one comparison.
 */
enum given given_check(struct engine *e, const struct query *q, const struct cache_answer *a,
		       uint32_t now_s) __attribute__((warn_unused_result));

#endif
