/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/rewrite.h"

#include <string.h>

#include "engine/obey.h"
#include "engine/special.h"

/* The question with the target in the place of its name. */
static void ask_for(struct query *to, const struct query *q, const struct policy_alias *alias)
{
	*to = *q;
	memset(to->folded, 0, sizeof(to->folded));
	memcpy(to->folded, alias->target, alias->n_bytes);
	to->qname = to->folded;
	to->qname_bytes = (uint16_t)alias->n_bytes;
	to->question_end = (uint16_t)(DNS_HEADER_BYTES + alias->n_bytes + DNS_QUESTION_FIXED_BYTES);
}

static void answer_from_zones(struct engine *e, const struct engine_request *rq,
			      const struct query *q, struct cache_answer *a)
{
	if (render_answer(&e->render, &e->config, rcu_dereference(e->data->set), q, rq->stream, a))
		(void)engine_empty(a, DNS_RCODE_SERVFAIL);
}

/* What upstream has said: lists are not asked about the target. */
static bool find_cached(struct engine *e, const struct engine_request *rq, const struct query *q,
			struct cache_answer *a)
{
	uint8_t flags =
		(uint8_t)((q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0) | (q->cd ? VOLLEY_KEY_CD : 0));
	const struct volley_entry *entry;
	struct cache_key key;

	if (!e->cache)
		return false;
	cache_key_init(&key, e->cache, q->folded, q->qname_bytes, q->qtype, q->qclass, flags,
		       VOLLEY_VIEW_RECURSIVE);
	if (cache_lookup(e->cache, &key, rq->now_s, true, &entry) != CACHE_HIT ||
	    obey_is_of_policy(e, entry))
		return false;
	cache_answer_of(a, entry, rq->now_s);
	return true;
}

bool rewrite_find(struct engine *e, const struct engine_request *rq, const struct query *q,
		  const struct engine_client *client, const struct policy_alias *alias,
		  struct cache_answer *a)
{
	const struct policy *policy = rcu_dereference(e->data->policy);
	const struct special *special = client->recursion->special;
	struct query target;
	struct policy_question question;

	ask_for(&target, q, alias);
	if ((client->zones || rq->sees_zones) &&
	    engine_is_ours(e, target.folded, target.qname_bytes, target.qtype)) {
		answer_from_zones(e, rq, &target, a);
		return true;
	}
	question = (struct policy_question){ target.folded, target.qname_bytes, target.qtype };
	if (policy && policy_answer_local(policy, &e->render, &question, a))
		return true;
	if (special && special_answer(special, &e->render, &target, false, a))
		return true;
	return find_cached(e, rq, &target, a);
}

/* The answer as a message, of the target. */
static void read_answer(struct engine *e, const uint8_t *target, const struct cache_answer *a,
			struct convert_source *from)
{
	uint32_t name_end = DNS_HEADER_BYTES + (uint32_t)name_bytes(target);
	uint32_t body_at = name_end + DNS_QUESTION_FIXED_BYTES;
	const uint8_t *body = a->body;

	if (body == e->convert.body) { /* where the next one is written */
		memcpy(e->render.body, body, a->full_bytes);
		body = e->render.body;
	}
	*from = (struct convert_source){
		.message = { target, body, name_end, body_at, body_at + a->full_bytes },
		.n_answer = a->ancount,
		.n_authority = a->nscount,
		.rcode = a->flags & DNS_RCODE_MASK,
		.age_s = a->n_ttls ? a->age_s : 0,
	};
}

uint16_t rewrite_wrap(struct engine *e, const struct query *q, const struct policy_alias *alias,
		      struct cache_answer *a)
{
	const struct convert_question question = { q->folded, q->qtype, q->edns.dnssec_ok,
						   alias->target, alias->ttl_s };
	const struct convert_limits limits = {
		.max_ttl_s = a->stale_ttl_s ? a->stale_ttl_s : DNS_TTL_MAX,
		.min_ttl_s = a->stale_ttl_s,
		.max_negative_ttl_s = a->stale_ttl_s ? a->stale_ttl_s : DNS_TTL_MAX,
	};
	uint16_t rcode = a->flags & DNS_RCODE_MASK;
	struct convert_source from;
	uint32_t ignored_s;

	if (rcode != DNS_RCODE_NOERROR && rcode != DNS_RCODE_NXDOMAIN) {
		a->flags = (uint16_t)(DNS_FLAG_QR | DNS_FLAG_RA | rcode);
		return rcode;
	}
	read_answer(e, alias->target, a, &from);
	if (convert_answer(&e->convert, &from, &question, &limits, a, &ignored_s)) {
		rcode = engine_failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_OTHER);
		a->flags |= DNS_FLAG_RA;
		return rcode;
	}
	e->ede_code = alias->ede_code;
	a->flags = (uint16_t)(DNS_FLAG_QR | DNS_FLAG_RA | rcode);
	return rcode;
}
