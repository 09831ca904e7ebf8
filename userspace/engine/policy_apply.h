/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies (engine/policy.h) in the way of a question, before it goes upstream and when its answer
 * has come.
 *
 *	policy_apply_before() ─ a rule that is final ──────────────────────────────────────► decided
 *	     │ none yet
 *	  upstream ─► policy_apply_answer() ─ a rule ───────────────────────────────────────► decided
 *	     │ fails       └─ none ─► policy_apply_allows(): the same for all clients ─► cached
 *	policy_apply_failure() ─ the rule that an answer might have outdone ────────────────► decided
 *
 * Decided: an answer, nothing, TC=1, or an alias, with whose target the question goes on
 * (engine/follow.h). What a rule for the name, or for the answer, says is cached: for good the one,
 * as long as the answer of upstream would be the other. A client that a rule names by its address
 * is set apart (e->is_apart): of the cache it gets only what upstream said and no rule has changed,
 * and nothing is cached of what it alone is told. Where rules look at name servers, the answer is
 * held until these are known, and then policy_apply_answer() has it once more.
 *
 * Owner thread of the engine, in a QSBR read section, all.
 */
#ifndef VOLLEY_ENGINE_POLICY_APPLY_H
#define VOLLEY_ENGINE_POLICY_APPLY_H

#include "engine/engine_state.h"
#include "engine/policy.h"

/* Sets e->is_apart for the client. */
void policy_apply_set_apart(struct engine *e, const struct engine_request *rq);

/* Whether the entry may be given to the client: one that is apart does not get what policies have
 * said to all. */
bool policy_apply_is_for_client(const struct engine *e, const struct volley_entry *entry);

/* The same of an answer that was read from an entry. */
bool policy_apply_has_said(const struct engine *e, const struct cache_answer *a);

/*
 * What the operator says in the place of upstream: true, and the rcode, if it is anything. False
 * with alias->n_bytes: *a is this alias alone, and the question goes on with another name.
 * no_lists: only local data are asked.
 */
bool policy_apply_before(struct engine *e, const struct engine_request *rq, const struct query *q,
			 bool no_lists, struct policy_alias *alias, struct cache_answer *a,
			 uint16_t *rcode);

/*
 * The same of a question that completed, whose answer is *a, for ttl_s; of *a nothing counts where
 * there is an alias. p->asked.has_client: for rq's client, else for the cache alone. An answer that
 * is joined to what aliases of our zones have said (p->asked.is_followed) goes on with no other
 * name: it ends with the rule's alias. True with e->outcome ENGINE_DEFERS: name servers have to be
 * known first, and p is a question for them (engine/servers.h).
 */
bool policy_apply_answer(struct engine *e, const struct engine_request *rq,
			 struct engine_pending *p, uint32_t ttl_s, struct policy_alias *alias,
			 struct cache_answer *a, uint16_t *rcode);

/* The same of one that failed. */
bool policy_apply_failure(struct engine *e, const struct engine_request *rq,
			  const struct engine_pending *p, struct policy_alias *alias,
			  struct cache_answer *a, uint16_t *rcode);

/* Whether no rule changes the answer *a to the question of p for any client that is not apart: only
 * then it may be cached. */
bool policy_apply_allows(struct engine *e, struct engine_pending *p, const struct cache_answer *a);

/* The same of what special.h says to a question, of a folded name: it has no servers. */
bool policy_apply_allows_special(const struct engine *e, const uint8_t *folded, uint16_t qtype,
				 const struct cache_answer *a);

#endif
