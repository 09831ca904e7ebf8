/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/rpz_apply.h"

#include <sys/socket.h>

#include "engine/reply_writer.h"
#include "engine/servers.h"
#include "engine/special.h"

static const struct rpz_client nobody;

static struct rpz_client client_of_rpz(const struct engine_request *rq)
{
	size_t n_bytes;
	const uint8_t *address = reply_client(rq, &n_bytes);

	return (struct rpz_client){ n_bytes == 4 ? AF_INET : AF_INET6, address };
}

static struct rpz_question question_of(const struct resolver_question *q)
{
	return (struct rpz_question){ q->name, (unsigned int)name_bytes(q->name), q->qtype };
}

void rpz_apply_set_apart(struct engine *e, const struct engine_request *rq)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);
	struct rpz_client client = client_of_rpz(rq);

	e->now.standing = rpz && rpz_names_client(rpz, &client) ? ANSWERING_APART : ANSWERING_PLAIN;
}

/* True if the entry is the answer of a policy zone. */
static bool is_of_rpz(const struct engine *e, const struct volley_entry *entry)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);

	return rpz && entry->zone_slot == rpz_slot(rpz);
}

bool rpz_apply_has_said(const struct engine *e, const struct cache_answer *a)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);

	return rpz && a->zone_slot == rpz_slot(rpz);
}

bool rpz_apply_is_for_client(const struct engine *e, const struct volley_entry *entry)
{
	return e->now.standing == ANSWERING_PLAIN || !is_of_rpz(e, entry);
}

/* Turns the verdict into a reply. False: the question or the answer passes, or an alias is to be
 * followed. until_s 0: do not cache. */
static bool act_rpz(struct engine *e, const struct engine_request *rq, const struct rpz_hit *hit,
		    enum rpz_verdict verdict, uint32_t until_s, struct cache_answer *a,
		    uint16_t *rcode)
{
	switch (verdict) {
	case RPZ_NONE:
	case RPZ_ALIAS:
	case RPZ_REWRITE:
		return false;
	case RPZ_DROP:
		*rcode = engine_no_reply(e, ENGINE_DROPS);
		return true;
	case RPZ_TCP_ONLY:
		if (rq->stream)
			return false;
		*rcode = engine_empty(a, DNS_RCODE_NOERROR);
		a->flags |= DNS_FLAG_RA | DNS_FLAG_TC;
		return true;
	case RPZ_FILTERED:
		e->now.ede_code = hit->ede_code;
		a->ede = cache_ede(hit->ede_code);
		break;
	case RPZ_LOCAL:
		break;
	}
	if (e->cache && a->zone_slot && until_s && hit->trigger != RPZ_BY_CLIENT) {
		a->expires_s = until_s;
		engine_key_set_view(e, VOLLEY_VIEW_RECURSIVE);
		engine_publish(e, a, rq->now_s);
	}
	*rcode = a->flags & DNS_RCODE_MASK;
	return true;
}

/* True for names that are answered here: no list has to wait for an answer of upstream. */
static bool is_rpz_special(struct engine *e, const struct query *q)
{
	const struct engine_recursion *rules = rcu_dereference(e->data->recursion);
	struct cache_answer ignored;

	return rules && rules->special &&
	       special_answer(rules->special, &e->render, q, false, &ignored);
}

/* Finds the rule for the question alone, if it decides now. */
static bool find_before(struct engine *e, const struct engine_request *rq, const struct query *q,
			const struct rpz *rpz, const struct rpz_question *question,
			struct rpz_hit *hit)
{
	struct rpz_client client = client_of_rpz(rq);

	if (!rpz_find(rpz, &client, question, hit) ||
	    (!hit->is_final && q->rd && !is_rpz_special(e, q)))
		return false;
	if (e->now.standing != ANSWERING_PLAIN && !rpz_changes(hit))
		e->now.standing = ANSWERING_PASSED;
	return true;
}

bool rpz_apply_before(struct engine *e, const struct engine_request *rq, const struct query *q,
		      bool no_lists, struct rpz_alias *alias, struct cache_answer *a,
		      uint16_t *rcode)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);
	const struct rpz_question question = { q->folded, q->qname_bytes, q->qtype };
	struct rpz_hit hit = { .trigger = RPZ_BY_LOCAL_DATA, .ede_code = EDNS_NO_EDE };
	enum rpz_verdict verdict = RPZ_NONE;

	alias->n_bytes = 0;
	if (e->now.standing == ANSWERING_PASSED)
		e->now.standing = ANSWERING_APART;
	if (rpz && no_lists)
		verdict = rpz_answer_local(rpz, &e->render, &question, alias, a);
	else if (rpz && find_before(e, rq, q, rpz, &question, &hit))
		verdict = rpz_act(rpz, &e->render, &question, &hit, NULL, alias, a);
	if (verdict != RPZ_ALIAS || q->rd)
		return act_rpz(e, rq, &hit, verdict, VOLLEY_NEVER, a, rcode);
	alias->n_bytes = 0; /* without RD the alias is the whole answer: it is not cached */
	*rcode = DNS_RCODE_NOERROR;
	return true;
}

/* If the answer is joined to others, it ends with the alias. */
static enum rpz_verdict end_with(const struct engine_pending *p, enum rpz_verdict verdict,
				 struct rpz_alias *alias, uint32_t *until_s)
{
	if (!alias->n_bytes || p->asked.chain == ENGINE_CHAIN_NONE)
		return verdict;
	alias->n_bytes = 0;
	*until_s = 0;
	return verdict == RPZ_ALIAS ? RPZ_LOCAL : RPZ_FILTERED;
}

bool rpz_apply_answer(struct engine *e, const struct engine_request *rq, struct engine_pending *p,
		      uint32_t ttl_s, struct rpz_alias *alias, struct cache_answer *a,
		      uint16_t *rcode)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);
	const struct rpz_question question = question_of(&p->question);
	struct rpz_client client = p->asked.has_client ? client_of_rpz(rq) : nobody;
	uint32_t until_s = ttl_s ? rq->now_s + ttl_s : 0;
	const struct engine_times times = { rq->now_ns, rq->now_s, rq->wall_s };
	struct servers_finder finder = { e, rpz, p, &times };
	const struct rpz_servers servers = { servers_find, &finder };
	enum rpz_verdict verdict;
	struct cache_answer said;
	struct rpz_hit hit;

	alias->n_bytes = 0;
	if (!rpz || p->asked.no_lists ||
	    !rpz_find_in_answer(rpz, &client, &question, a, &servers, &hit))
		return false;
	if (hit.is_waiting) {
		*rcode = engine_no_reply(e, ENGINE_DEFERS);
		return true;
	}
	if (!rpz_changes(&hit))
		return false;
	verdict = rpz_act(rpz, &e->render, &question, &hit, a, alias, &said);
	verdict = end_with(p, verdict, alias, &until_s);
	if (!act_rpz(e, rq, &hit, verdict, until_s, &said, rcode))
		return false;
	*a = said;
	return true;
}

bool rpz_apply_failure(struct engine *e, const struct engine_request *rq,
		       const struct engine_pending *p, struct rpz_alias *alias,
		       struct cache_answer *a, uint16_t *rcode)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);
	const struct rpz_question question = question_of(&p->question);
	struct rpz_client client = client_of_rpz(rq);
	enum rpz_verdict verdict;
	struct rpz_hit hit;
	uint32_t until_s = 0;

	alias->n_bytes = 0;
	if (!rpz || !p->asked.has_client || p->asked.no_lists ||
	    !rpz_find(rpz, &client, &question, &hit))
		return false;
	verdict = rpz_act(rpz, &e->render, &question, &hit, NULL, alias, a);
	verdict = end_with(p, verdict, alias, &until_s);
	return act_rpz(e, rq, &hit, verdict, until_s, a, rcode);
}

bool rpz_apply_allows_special(const struct engine *e, const uint8_t *folded, uint16_t qtype,
			      const struct cache_answer *a)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);
	const struct rpz_question question = { folded, (unsigned int)name_bytes(folded), qtype };
	struct rpz_hit hit;

	return !rpz || !rpz_find_in_answer(rpz, &nobody, &question, a, NULL, &hit) ||
	       !rpz_changes(&hit);
}

/* Uses the servers that rpz_apply_answer() has found. For a client that is apart, it may not
 * have looked for all of them. */
bool rpz_apply_allows(struct engine *e, struct engine_pending *p, const struct cache_answer *a)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);
	const struct rpz_question question = question_of(&p->question);
	struct servers_finder finder = { e, rpz, p, NULL };
	const struct rpz_servers servers = { servers_find, &finder };
	bool is_failure = (a->flags & DNS_RCODE_MASK) == DNS_RCODE_SERVFAIL;
	struct rpz_hit hit;

	if (!rpz)
		return true;
	if (e->now.standing != ANSWERING_PLAIN && rpz_names_servers(rpz))
		return false;
	if (!rpz_find_in_answer(rpz, &nobody, &question, a, is_failure ? NULL : &servers, &hit))
		return true;
	return !hit.is_waiting && !rpz_changes(&hit);
}
