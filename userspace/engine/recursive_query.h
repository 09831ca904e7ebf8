/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of a name that no zone of ours has, for clients that may recurse:
 *
 *	cache: valid ───────────────────────────────────────────► answer; fetched anew when it ends soon
 *	  │ no
 *	policy: local data, block lists ────────────────────────► what these say
 *	  │ nothing                                               an alias: follow.h, and on with its target
 *	a name that has no place in the public DNS (special.h) ─► what its RFC says
 *	  │ no
 *	a name above that does not exist (RFC 8020) ────────────► NXDOMAIN
 *	  │ no
 *	expired, and upstream has failed lately (RFC 8767) ─────► the stale answer
 *	  │ no
 *	pending ─► upstream ─► valid ───────────────────────────► answer, into the cache
 *	                │  (policies that look at name servers hold it until these are known: servers.h)
 *	                │ fails, or takes long
 *	                ├─► expired ────────────────────────────► the stale answer; upstream goes on
 *	                └─► SERVFAIL, for a short time into the cache
 *
 * A name above that does not exist counts where that is validated, as in unbound: servers that say
 * NXDOMAIN for an empty non-terminal are not signed. Its answer is not cached again. For a name in
 * a stub zone only names in that zone count.
 *
 * Answers are cached under the question, CD and DO (RFC 4035 section 3.2.2), for
 * VOLLEY_VIEW_RECURSIVE alone. What was bogus and is given with CD=1 stays a minute at most (RFC
 * 4035 section 4.7), and so does a SERVFAIL for it; another SERVFAIL 5 seconds (RFC 2308 section
 * 7), and none in the place of data that is valid or may still be given. A TTL of 0 is never
 * cached.
 *
 * What is fetched anew before it ends is asked of the other of the resolver's memories, so the
 * answer is a fresh one. What has ended is asked of the memory that it came from: that one knows
 * the servers of the zone, and asks these at once, also while the servers of the zones above are
 * silent. Where the memory still has the old answer, in its last second, that lives
 * RECURSION_LAST_S here (docs/decisions/0043).
 *
 * Where upstream fails and serve-stale is on, an answer with DO, valid or expired, serves a query
 * without DO that has none of its own: signatures and proofs are taken out. Not the other way: an
 * entry without DO does not tell whether signatures are missing in it.
 *
 * An extended error (RFC 8914) is kept with the entry, and said each time to queries with EDNS.
 *
 * EDNS client subnet (RFC 7871) is neither sent nor looked at: one answer is for all clients.
 */
#ifndef VOLLEY_ENGINE_RECURSIVE_QUERY_H
#define VOLLEY_ENGINE_RECURSIVE_QUERY_H

#include "engine/engine_state.h"
#include "engine/policy.h"

#define RECURSION_BOGUS_S 60u
#define RECURSION_LAST_S  1u /* TTL of what a memory gives in the last second of its own */
#define RECURSION_CUT_MAX 8  /* names above that are looked at */

/*
 * What is asked for again in the last tenth of its life is fetched anew, once
 * (volley_entry.refreshing): a name in steady use is fetched every nine tenths of its TTL. A tenth
 * of the longest TTL, 7 days, fits into volley_entry.refresh_s.
 */
#define RECURSION_REFRESH_PART  10u
#define RECURSION_REFRESH_MIN_S 8u /* what lives shorter is not */

/*
 * Looks for the question in the recursive view; e->key is its key. On a hit *a is the answer, and
 * where it ends soon rq->pending is filled to fetch it anew. Notes an expired one that may still be
 * given.
 */
enum cache_verdict recursion_lookup(struct engine *e, const struct engine_request *rq,
				    const struct query *q, const struct engine_recursion *rules,
				    struct cache_answer *a);

/* For who may not ask upstream: REFUSED. */
uint16_t recursion_refuse(struct engine *e, const struct query *q, struct cache_answer *a);

/* No question can be put upstream: SERVFAIL, with the extended error "not ready". Counted in
 * not_asked. */
uint16_t recursion_not_asked(struct engine *e, struct cache_answer *a);

struct recursion_want {
	bool is_target; /* an alias led to the name: the cache has not been looked at for it */
	bool no_lists;  /* local data alone are asked, since a list made one of the aliases */
	/* without rq->pending, where upstream is to be asked: is_unasked in place of a failure */
	bool may_wait;
	bool is_unasked;
	/* What was found where alias.n_bytes is not 0: *a is an alias, and goes on there. */
	struct policy_alias alias;
};

/* The key in hand, and what is noted of the cache, are those of another question from now on. */
void recursion_turn(struct engine *e, const struct query *q);

/*
 * The answer to a name that is not ours to answer: *a and the rcode, an alias in *want, or
 * e->outcome is not ENGINE_REPLIES. With ENGINE_DEFERS rq->pending has the question for q's name;
 * recursion_note_client() has to follow. client->recursion is not NULL.
 */
uint16_t recursion_find(struct engine *e, const struct engine_request *rq, const struct query *q,
			const struct engine_client *client, struct recursion_want *want,
			struct cache_answer *a);

/*
 * p has completed, and its client waits on: for the answer to the same question for another name,
 * where an alias leads that a rule has made of the first answer. e->outcome is ENGINE_DEFERS then.
 */
void recursion_ask_on(struct engine *e, const struct engine_request *rq, struct engine_pending *p,
		      const uint8_t *folded, const struct policy_alias *alias);

/* As engine_refresh(). */
bool recursion_refresh(struct engine *e, const struct volley_refresh *refresh,
		       const struct engine_times *times, struct engine_pending *p)
	__attribute__((warn_unused_result));

/* Notes the query that waits for p: q is read from rq. */
void recursion_note_client(struct engine_pending *p, const struct engine_request *rq,
			   const struct query *q);

/* p has completed: a question for name servers is taken into account, and e->key is that of p's
 * question. */
void recursion_resume(struct engine *e, struct engine_pending *p, const struct engine_times *times);

/*
 * Behind that, the answer to p's question; what there is to be kept is cached. rq is of the client
 * that waited, if there is one: else only the times are. With alias->n_bytes *a is nothing, and the
 * question goes on there.
 */
uint16_t recursion_finish(struct engine *e, const struct engine_request *rq,
			  struct engine_pending *p, struct policy_alias *alias,
			  struct cache_answer *a);

/* Makes it a question of nobody, with a deadline of its own. */
void recursion_ask_again(struct engine *e, struct engine_pending *p,
			 const struct engine_times *times);

#endif
