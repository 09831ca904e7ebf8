/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the driver would give to a query by a shared answer (engine/shared_answer.h), compared with
 * what a worker has rendered.
 *
 *	query ─► walk over the filter ─► key ─► entry ─► pointers moved ─┐
 *	         (engine/name_filter.h)      (xdp/deny.h)     (xdp/shared.h)   ├─► alike_compare()
 *	query ─► zone ─► rendered ───────────────────────────────────────┘
 *
 * The way to the entry is the driver's, step by step, and not that by which a worker chooses a key
 * to publish under. So a lost name, mark or point that leads to another entry is found as well as
 * an entry with other octets.
 *
 * An entry of a version before is legitimate from the moment at which a new version serves to the
 * end of its withdrawal (zonemgr/withdraw.h). Control says so by shield.edition, which is odd
 * meanwhile, and the check says GIVEN_UNSURE. An even one, the same before the walk and behind the
 * comparison, proves this:
 *
 *   - What was rendered is of the version that serves: a publish waits, while it is odd, for all
 *     who render.
 *   - All entries that this version changed have been withdrawn, and no entry is of a later
 *     version.
 *
 * What the withdrawal lets pass, an older SOA, alike_compare() lets pass, too. Entries do not
 * change and are not used again before the caller's read section ends, so they need no copy and no
 * sequence number.
 */
#ifndef VOLLEY_ENGINE_GIVEN_H
#define VOLLEY_ENGINE_GIVEN_H

#include "cache/cache.h"
#include "dns/query.h"

struct engine;

enum given {
	GIVEN_NONE,   /* the driver has no shared answer to it, or none that it may give */
	GIVEN_SAME,   /* it would say the same */
	GIVEN_OTHER,  /* it would say something else */
	GIVEN_UNSURE, /* they differ, and that may be right; or nobody can tell just now */
};

/*
 * For the answer `a` that e has just rendered for q over UDP and has not published yet: as above.
 * e->key is the question's, in the view of the client. GIVEN_OTHER is noted for control
 * (engine/shield.h). Uses e->shared as room. Caller's QSBR read section, in which a was rendered;
 * no lock, no allocation; one walk, up to three look-ups, one comparison.
 */
enum given given_check(struct engine *e, const struct query *q, const struct cache_answer *a,
		       uint32_t now_s) __attribute__((warn_unused_result));

#endif
