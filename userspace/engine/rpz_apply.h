/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How RPZ rules (rpz/rpz.h) act on a question, before it goes upstream and on its answer.
 *
 *	rpz_apply_before() ─ a rule that is final ────────────────────────────────────► decided
 *	     │ none yet
 *	  upstream ─► rpz_apply_answer() ─ a rule ────────────────────────────────────► decided
 *	     │ fails       └─ none ─► rpz_apply_allows(): the same for all clients ─► cached
 *	rpz_apply_failure() ─ the rule that an answer might have outdone ─────────────► decided
 *
 * Decided: an answer, no reply, TC=1, or an alias with whose target the question goes on
 * (engine/follow.h). The answer of a rule for the name is cached without an end. The answer of a
 * rule for an answer is cached as long as the answer of upstream would be. A client that a rule
 * names by its address is set apart (e->now.standing != ANSWERING_PLAIN). From the cache it gets
 * only answers of upstream that no rule has changed, and its own answers are not cached. If rules
 * look at name servers, the answer is held until these are known; then rpz_apply_answer() is
 * called again.
 *
 * All functions: owner thread of the engine, in a QSBR read section.
 */
#ifndef VOLLEY_ENGINE_RPZ_APPLY_H
#define VOLLEY_ENGINE_RPZ_APPLY_H

#include "engine/engine_state.h"
#include "engine/rpz_act.h"

/* Sets e->now.standing: whether a rule names the client. */
void rpz_apply_set_apart(struct engine *e, const struct engine_request *rq);

/* True if the client may get the entry. A client that is apart does not get what RPZ has said
 * to all clients. */
bool rpz_apply_is_for_client(const struct engine *e, const struct volley_entry *entry);

/* True if the answer, read from an entry, is the answer of a policy zone. */
bool rpz_apply_has_said(const struct engine *e, const struct cache_answer *a);

/*
 * Applies the rules that decide before upstream is asked. True: a rule has decided; *rcode is set.
 * False with alias->n_bytes: *a is this alias alone, and the question goes on with another name.
 * no_lists: only local data is used.
 */
bool rpz_apply_before(struct engine *e, const struct engine_request *rq, const struct query *q,
		      bool no_lists, struct rpz_alias *alias, struct cache_answer *a,
		      uint16_t *rcode);

/*
 * The same for a question that completed with the answer *a, for ttl_s. With alias->n_bytes the
 * caller must not use *a. The client is rq's if p->asked.has_client; else only the cache needs the
 * answer. An answer that is joined to aliases of our zones (p->asked.chain) ends with the
 * rule's alias and goes on with no other name. True with e->now.outcome ENGINE_DEFERS: the name
 * servers must be known first, and p is now a question for them (engine/servers.h).
 */
bool rpz_apply_answer(struct engine *e, const struct engine_request *rq, struct engine_pending *p,
		      uint32_t ttl_s, struct rpz_alias *alias, struct cache_answer *a,
		      uint16_t *rcode);

/* The same for a question that failed. */
bool rpz_apply_failure(struct engine *e, const struct engine_request *rq,
		       const struct engine_pending *p, struct rpz_alias *alias,
		       struct cache_answer *a, uint16_t *rcode);

/* True if no rule changes the answer *a to the question of p, for any client that is not apart.
 * Only then it may be cached. */
bool rpz_apply_allows(struct engine *e, struct engine_pending *p, const struct cache_answer *a);

/* The same for an answer of special.h to a question with a folded name. It has no name servers. */
bool rpz_apply_allows_special(const struct engine *e, const uint8_t *folded, uint16_t qtype,
			      const struct cache_answer *a);

#endif
