/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the answer that the driver would give to a query, from a shared answer
 * (engine/shared_answer.h), with the answer that a worker has rendered.
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
#ifndef VOLLEY_ENGINE_GIVEN_H
#define VOLLEY_ENGINE_GIVEN_H

#include "cache/cache.h"
#include "dns/query.h"

struct engine;

enum given {
	GIVEN_NONE,   /* the driver has no shared answer to it, or may not give it */
	GIVEN_SAME,   /* the driver would say the same */
	GIVEN_OTHER,  /* the driver would say something else */
	GIVEN_UNSURE, /* they differ, and that may be right; or this cannot be decided now */
};

/*
 * Checks the answer `a` that e has just rendered for q over UDP and has not published yet. e->key
 * is the question's, in the view of the client. GIVEN_OTHER is noted for control (shield/shield.h).
 * Overwrites e->shared. Caller's QSBR read section, the same as for rendering a; no lock, no
 * allocation; one walk, up to three look-ups, one comparison.
 */
enum given given_check(struct engine *e, const struct query *q, const struct cache_answer *a,
		       uint32_t now_s) __attribute__((warn_unused_result));

#endif
