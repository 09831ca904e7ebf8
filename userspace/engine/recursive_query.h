/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a name that no zone of ours has is answered, for clients that may recurse:
 *
 *	cache: valid ───────────────────────────────────────► answer; fetched anew if it ends soon
 *	  │ no
 *	RPZ: local data, block lists ───────────────────────► the answer of the rule,
 *	  │ nothing                                           or of the alias's target (follow.h)
 *	a name that is not in the public DNS (special.h) ───► the answer of its RFC
 *	  │ no
 *	a name above that does not exist (RFC 8020) ────────► NXDOMAIN
 *	  │ no
 *	expired, and upstream has failed lately (RFC 8767) ─► the stale answer
 *	  │ no
 *	pending ─► upstream ─► valid ───────────────────────► answer, into the cache
 *	                │  (RPZ rules of name servers hold it: servers.h)
 *	                │ fails, or takes long
 *	                ├─► expired ────────────────────────► the stale answer; upstream goes on
 *	                └─► SERVFAIL, for a short time into the cache
 *
 * A name above that does not exist counts only if this is validated, as in unbound: zones whose
 * servers say NXDOMAIN for an empty non-terminal are not signed. The answer is not cached again.
 * For a name in a stub zone only names in that zone count.
 *
 * Answers are cached under the question, CD and DO (RFC 4035 section 3.2.2), for
 * VOLLEY_VIEW_RECURSIVE only. A bogus answer that is given with CD=1 stays a minute at most (RFC
 * 4035 section 4.7), and so does the SERVFAIL for it. Any other SERVFAIL stays 5 seconds (RFC 2308
 * section 7). A SERVFAIL does not replace data that is valid or may still be given. An answer with
 * a TTL of 0 is never cached.
 *
 * The resolver has two memories. To fetch an entry anew before it ends, the other memory is asked,
 * so the answer is a fresh one. After an entry has ended, the memory that it came from is asked.
 * This memory knows the servers of the zone and asks them at once, also while the servers of the
 * zones above are silent. If it still has the old answer, in its last second, that answer lives
 * RECURSION_LAST_S here (docs/decisions/0043).
 *
 * If upstream fails and serve-stale is on, a question that has no answer of its own gets that of a
 * question with other DO and CD bits, valid or expired. Without DO, signatures and proofs are
 * taken out; with DO they may be missing, and AD is clear. An answer with CD that is known as bogus
 * (its extended error says so) is for clients with CD only. If the forwarder sends CD upstream, an
 * answer with CD serves a question without CD only if upstream is silent: if it replies with a
 * failure, its validation may have failed.
 *
 * A client that does not set RD gets a stale answer, too: nothing would be asked for it.
 *
 * If a fresh answer may not be cached (its TTL is 0), the expired ones are withdrawn, because they
 * would be given in its place.
 *
 * An extended error (RFC 8914) is kept with the entry and sent with each answer to a query with
 * EDNS.
 *
 * EDNS client subnet (RFC 7871) is neither sent nor read: one answer is for all clients.
 */
#ifndef VOLLEY_ENGINE_RECURSIVE_QUERY_H
#define VOLLEY_ENGINE_RECURSIVE_QUERY_H

#include "engine/engine_state.h"
#include "engine/rpz_act.h"

#define RECURSION_BOGUS_S 60u
#define RECURSION_LAST_S  1u /* TTL of an answer that a memory gives in its last second */
#define RECURSION_CUT_MAX 8  /* names above that are looked up */

/*
 * An entry that is asked for in the last tenth of its life is fetched anew, once
 * (volley_entry.refreshing). So a name in steady use is fetched every nine tenths of its TTL. A
 * tenth of the longest TTL, 7 days, fits into volley_entry.refresh_s.
 */
#define RECURSION_REFRESH_PART  10u
#define RECURSION_REFRESH_MIN_S 8u /* an entry with a shorter life is not fetched anew */

/*
 * Looks up the question in the recursive view; e->now.key is its key. On a hit *a is the answer,
 * and if it ends soon, rq->pending is filled to fetch it anew. Notes an expired one that may be
 * given.
 */
enum cache_verdict recursion_lookup(struct engine *e, const struct engine_request *rq,
				    const struct query *q, const struct engine_recursion *rules,
				    struct cache_answer *a);

/* The answer to a client that may not ask upstream: REFUSED. */
uint16_t recursion_refuse(struct engine *e, const struct query *q, struct cache_answer *a);

/* The answer if no question can be sent upstream: SERVFAIL, with the extended error "not ready".
 * Counted in not_asked. */
uint16_t recursion_not_asked(struct engine *e, struct cache_answer *a);

struct recursion_want {
	bool is_target; /* an alias led to the name: it was not looked up in the cache yet */
	bool no_lists;  /* only local data is used, since a list made one of the aliases */
	/* if upstream must be asked without rq->pending: set is_unasked instead of a failure */
	bool may_wait;
	bool is_unasked;
	/* The alias that was found. If alias.n_bytes is not 0, *a is this alias, and the question
	 * goes on with its target. */
	struct rpz_alias alias;
};

/* Turns e to the question of q: sets its key, and clears what was noted of the cache. */
void recursion_turn(struct engine *e, const struct query *q);

/* Whether a question of this type is asked upstream: not of OPT, TSIG or another meta type but ANY
 * (RFC 6895 section 3.1). */
static inline bool recursion_asks_for(uint16_t qtype)
{
	return qtype && qtype != DNS_TYPE_OPT && (qtype < 128 || qtype >= DNS_TYPE_ANY);
}

/*
 * Answers a name that none of our zones answers. The result is *a and the rcode, or an alias in
 * *want, or e->now.outcome is not ENGINE_REPLIES. With ENGINE_DEFERS rq->pending has the question
 * for q's name, and the caller must call recursion_note_client(). client->recursion must not be
 * NULL.
 */
uint16_t recursion_find(struct engine *e, const struct engine_request *rq, const struct query *q,
			const struct engine_client *client, struct recursion_want *want,
			struct cache_answer *a);

/*
 * p has completed, but a rule has made an alias of the answer. p becomes the same question for the
 * target of the alias, `folded`, and its client waits on. Sets e->now.outcome to ENGINE_DEFERS.
 */
void recursion_ask_on(struct engine *e, const struct engine_request *rq, struct engine_pending *p,
		      const uint8_t *folded, const struct rpz_alias *alias);

/* As engine_refresh(). */
bool recursion_refresh(struct engine *e, const struct volley_refresh *refresh,
		       const struct engine_times *times, struct engine_pending *p)
	__attribute__((warn_unused_result));

/* Notes the query that waits for p; q was read from rq. */
void recursion_note_client(struct engine_pending *p, const struct engine_request *rq,
			   const struct query *q);

/* p has completed. Uses an answer about name servers, and sets e->now.key for p's question. */
void recursion_resume(struct engine *e, struct engine_pending *p, const struct engine_times *times);

/*
 * The next step: makes the answer to p's question, and caches it if it may be kept. rq belongs to
 * the client that waited, if there is one; else only its times are set. With alias->n_bytes *a is
 * not set, and the question goes on with the alias's target.
 */
uint16_t recursion_finish(struct engine *e, const struct engine_request *rq,
			  struct engine_pending *p, struct rpz_alias *alias,
			  struct cache_answer *a);

/* Makes p a question without a client, with a new deadline. */
void recursion_ask_again(struct engine *e, struct engine_pending *p,
			 const struct engine_times *times);

#endif
