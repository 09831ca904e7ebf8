/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/policy_apply.h"

#include <sys/socket.h>

#include "engine/reply_writer.h"
#include "engine/servers.h"
#include "engine/special.h"

static const struct policy_client nobody;

static struct policy_client client_of_policy(const struct engine_request *rq)
{
	size_t n_bytes;
	const uint8_t *address = reply_client(rq, &n_bytes);

	return (struct policy_client){ n_bytes == 4 ? AF_INET : AF_INET6, address };
}

static struct policy_question question_of(const struct resolver_question *q)
{
	return (struct policy_question){ q->name, (unsigned int)name_bytes(q->name), q->qtype };
}

void policy_apply_set_apart(struct engine *e, const struct engine_request *rq)
{
	const struct policy *policy = rcu_dereference(e->data->policy);
	struct policy_client client = client_of_policy(rq);

	e->now.standing = policy && policy_names_client(policy, &client) ? ANSWERING_APART :
									   ANSWERING_PLAIN;
}

/* True if the entry is the answer of a policy. */
static bool is_of_policy(const struct engine *e, const struct volley_entry *entry)
{
	const struct policy *policy = rcu_dereference(e->data->policy);

	return policy && entry->zone_slot == policy_slot(policy);
}

bool policy_apply_has_said(const struct engine *e, const struct cache_answer *a)
{
	const struct policy *policy = rcu_dereference(e->data->policy);

	return policy && a->zone_slot == policy_slot(policy);
}

bool policy_apply_is_for_client(const struct engine *e, const struct volley_entry *entry)
{
	return e->now.standing == ANSWERING_PLAIN || !is_of_policy(e, entry);
}

/* Turns the verdict into a reply. False: the question or the answer passes, or an alias is to be
 * followed. until_s 0: do not cache. */
static bool act_policy(struct engine *e, const struct engine_request *rq,
		       const struct policy_hit *hit, enum policy_verdict verdict, uint32_t until_s,
		       struct cache_answer *a, uint16_t *rcode)
{
	switch (verdict) {
	case POLICY_NONE:
	case POLICY_ALIAS:
	case POLICY_REWRITE:
		return false;
	case POLICY_DROP:
		*rcode = engine_no_reply(e, ENGINE_DROPS);
		return true;
	case POLICY_TCP_ONLY:
		if (rq->stream)
			return false;
		*rcode = engine_empty(a, DNS_RCODE_NOERROR);
		a->flags |= DNS_FLAG_RA | DNS_FLAG_TC;
		return true;
	case POLICY_FILTERED:
		e->now.ede_code = hit->ede_code;
		a->ede = cache_ede(hit->ede_code);
		break;
	case POLICY_LOCAL:
		break;
	}
	if (e->cache && a->zone_slot && until_s && hit->trigger != POLICY_BY_CLIENT) {
		a->expires_s = until_s;
		engine_key_set_view(e, VOLLEY_VIEW_RECURSIVE);
		engine_publish(e, a, rq->now_s);
	}
	*rcode = a->flags & DNS_RCODE_MASK;
	return true;
}

/* True for names that are answered here: no list has to wait for an answer of upstream. */
static bool is_policy_special(struct engine *e, const struct query *q)
{
	const struct engine_recursion *rules = rcu_dereference(e->data->recursion);
	struct cache_answer ignored;

	return rules && rules->special &&
	       special_answer(rules->special, &e->render, q, false, &ignored);
}

/* Finds the rule for the question alone, if it decides now. */
static bool find_before(struct engine *e, const struct engine_request *rq, const struct query *q,
			const struct policy *policy, const struct policy_question *question,
			struct policy_hit *hit)
{
	struct policy_client client = client_of_policy(rq);

	if (!policy_find(policy, &client, question, hit) ||
	    (!hit->is_final && q->rd && !is_policy_special(e, q)))
		return false;
	if (e->now.standing != ANSWERING_PLAIN && !policy_changes(hit))
		e->now.standing = ANSWERING_PASSED;
	return true;
}

bool policy_apply_before(struct engine *e, const struct engine_request *rq, const struct query *q,
			 bool no_lists, struct policy_alias *alias, struct cache_answer *a,
			 uint16_t *rcode)
{
	const struct policy *policy = rcu_dereference(e->data->policy);
	const struct policy_question question = { q->folded, q->qname_bytes, q->qtype };
	struct policy_hit hit = { .trigger = POLICY_BY_LOCAL_DATA, .ede_code = EDNS_NO_EDE };
	enum policy_verdict verdict = POLICY_NONE;

	alias->n_bytes = 0;
	if (e->now.standing == ANSWERING_PASSED)
		e->now.standing = ANSWERING_APART;
	if (policy && no_lists)
		verdict = policy_answer_local(policy, &e->render, &question, alias, a);
	else if (policy && find_before(e, rq, q, policy, &question, &hit))
		verdict = policy_act(policy, &e->render, &question, &hit, NULL, alias, a);
	if (verdict != POLICY_ALIAS || q->rd)
		return act_policy(e, rq, &hit, verdict, VOLLEY_NEVER, a, rcode);
	alias->n_bytes = 0; /* without RD the alias is the whole answer: it is not cached */
	*rcode = DNS_RCODE_NOERROR;
	return true;
}

/* If the answer is joined to others, it ends with the alias. */
static enum policy_verdict end_with(const struct engine_pending *p, enum policy_verdict verdict,
				    struct policy_alias *alias, uint32_t *until_s)
{
	if (!alias->n_bytes || p->asked.chain == ENGINE_CHAIN_NONE)
		return verdict;
	alias->n_bytes = 0;
	*until_s = 0;
	return verdict == POLICY_ALIAS ? POLICY_LOCAL : POLICY_FILTERED;
}

bool policy_apply_answer(struct engine *e, const struct engine_request *rq,
			 struct engine_pending *p, uint32_t ttl_s, struct policy_alias *alias,
			 struct cache_answer *a, uint16_t *rcode)
{
	const struct policy *policy = rcu_dereference(e->data->policy);
	const struct policy_question question = question_of(&p->question);
	struct policy_client client = p->asked.has_client ? client_of_policy(rq) : nobody;
	uint32_t until_s = ttl_s ? rq->now_s + ttl_s : 0;
	const struct engine_times times = { rq->now_ns, rq->now_s, rq->wall_s };
	struct servers_finder finder = { e, policy, p, &times };
	const struct policy_servers servers = { servers_find, &finder };
	enum policy_verdict verdict;
	struct cache_answer said;
	struct policy_hit hit;

	alias->n_bytes = 0;
	if (!policy || p->asked.no_lists ||
	    !policy_find_in_answer(policy, &client, &question, a, &servers, &hit))
		return false;
	if (hit.is_waiting) {
		*rcode = engine_no_reply(e, ENGINE_DEFERS);
		return true;
	}
	if (!policy_changes(&hit))
		return false;
	verdict = policy_act(policy, &e->render, &question, &hit, a, alias, &said);
	verdict = end_with(p, verdict, alias, &until_s);
	if (!act_policy(e, rq, &hit, verdict, until_s, &said, rcode))
		return false;
	*a = said;
	return true;
}

bool policy_apply_failure(struct engine *e, const struct engine_request *rq,
			  const struct engine_pending *p, struct policy_alias *alias,
			  struct cache_answer *a, uint16_t *rcode)
{
	const struct policy *policy = rcu_dereference(e->data->policy);
	const struct policy_question question = question_of(&p->question);
	struct policy_client client = client_of_policy(rq);
	enum policy_verdict verdict;
	struct policy_hit hit;
	uint32_t until_s = 0;

	alias->n_bytes = 0;
	if (!policy || !p->asked.has_client || p->asked.no_lists ||
	    !policy_find(policy, &client, &question, &hit))
		return false;
	verdict = policy_act(policy, &e->render, &question, &hit, NULL, alias, a);
	verdict = end_with(p, verdict, alias, &until_s);
	return act_policy(e, rq, &hit, verdict, until_s, a, rcode);
}

bool policy_apply_allows_special(const struct engine *e, const uint8_t *folded, uint16_t qtype,
				 const struct cache_answer *a)
{
	const struct policy *policy = rcu_dereference(e->data->policy);
	const struct policy_question question = { folded, (unsigned int)name_bytes(folded), qtype };
	struct policy_hit hit;

	return !policy || !policy_find_in_answer(policy, &nobody, &question, a, NULL, &hit) ||
	       !policy_changes(&hit);
}

/* Uses the servers that policy_apply_answer() has found. For a client that is apart, it may not
 * have looked for all of them. */
bool policy_apply_allows(struct engine *e, struct engine_pending *p, const struct cache_answer *a)
{
	const struct policy *policy = rcu_dereference(e->data->policy);
	const struct policy_question question = question_of(&p->question);
	struct servers_finder finder = { e, policy, p, NULL };
	const struct policy_servers servers = { servers_find, &finder };
	bool is_failure = (a->flags & DNS_RCODE_MASK) == DNS_RCODE_SERVFAIL;
	struct policy_hit hit;

	if (!policy)
		return true;
	if (e->now.standing != ANSWERING_PLAIN && policy_names_servers(policy))
		return false;
	if (!policy_find_in_answer(policy, &nobody, &question, a, is_failure ? NULL : &servers,
				   &hit))
		return true;
	return !hit.is_waiting && !policy_changes(&hit);
}
