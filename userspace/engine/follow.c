/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/follow.h"

#include <string.h>

#include "base/err.h"
#include "engine/rpz_apply.h"
#include "engine/rpz_act.h"
#include "engine/recursive_query.h"
#include "engine/special.h"

/* A walk from name to name. */
struct walk {
	struct engine *e;
	const struct engine_request *rq;
	const struct query *q; /* the client's */
	const struct engine_client *client;
	struct query at; /* the same question for the name where the walk is */
	/* upstream's answer for done_name; NULL: upstream was not asked */
	const struct cache_answer *done;
	const uint8_t *done_name;
	/* the first alias, even if zones and RPZ have changed; NULL: taken from these */
	const struct rpz_alias *alias;
	/* gets the question if upstream is to be asked; NULL: rq->pending */
	struct engine_pending *again;
	uint16_t rcode; /* all 12 bits, of the last step */
};

/* The result of a step. */
enum found {
	FOUND_END,     /* *a is the answer */
	FOUND_HEAD,    /* *a is an alias to follow.target */
	FOUND_NO_MORE, /* *a is the reply as it is (an error, or TC=1), or there is none now */
};

bool follow_is_wanted(const struct engine *e, const struct engine_request *rq,
		      const struct query *q, const struct engine_client *client)
{
	const struct render *r = &e->render;

	if (!r->leads_out || !client->recursion || !q->rd || rq->sees_zones ||
	    !recursion_asks_for(q->qtype))
		return false;
	if (r->n_steps)
		return q->qtype != DNS_TYPE_ANY && q->qtype != DNS_TYPE_RRSIG;
	return !client->recursion->special || !special_has(client->recursion->special, q);
}

static void set_target(struct engine_follow *f, const uint8_t *folded)
{
	memset(f->target, 0, sizeof(f->target));
	memcpy(f->target, folded, name_bytes(folded));
}

/* Goes on at the target. */
static void go_on_follow(struct walk *w)
{
	struct query *at = &w->at;

	memcpy(at->folded, w->e->follow.target, sizeof(w->e->follow.target));
	at->qname = at->folded;
	at->qname_bytes = (uint16_t)name_bytes(at->folded);
	at->question_end =
		(uint16_t)(DNS_HEADER_BYTES + at->qname_bytes + DNS_QUESTION_FIXED_BYTES);
}

static enum found fail_follow(struct walk *w, struct cache_answer *a, int ede_code)
{
	w->rcode = engine_failure(w->e, a, DNS_RCODE_SERVFAIL, ede_code);
	a->flags |= DNS_FLAG_RA;
	return FOUND_NO_MORE;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Looks in our zones. *is_below: the name is below a cut, so upstream is to be asked. */
static enum found look_in_zones(struct walk *w, struct cache_answer *a, bool *is_below)
{
	struct engine *e = w->e;
	const struct render *r = &e->render;

	if (render_answer(&e->render, &e->config, rcu_dereference(e->data->set), &w->at,
			  w->rq->stream, a))
		return fail_follow(w, a, DNS_EDE_OTHER);
	w->rcode = a->flags & DNS_RCODE_MASK;
	if (w->rcode == DNS_RCODE_SERVFAIL)
		return fail_follow(w, a, DNS_EDE_NOT_READY);
	*is_below = r->leads_out && !r->n_steps;
	if (!r->leads_out)
		return FOUND_END;
	set_target(&e->follow, r->chain[r->n_steps]);
	return FOUND_HEAD;
}

static void note_alias(struct engine_follow *f, const struct rpz_alias *alias)
{
	f->is_rewritten |= alias->is_of_list;
	if (alias->is_of_list)
		f->ede_code = alias->ede_code;
	set_target(f, alias->target);
}

/* Writes w->alias. */
static enum found take_alias(struct walk *w, struct cache_answer *a)
{
	struct render *r = &w->e->render;

	memcpy(r->chain[0], w->q->folded, (w->q->qname_bytes + 7u) & ~7u);
	writer_init(&r->writer, r->body, w->q->question_end, DNS_MESSAGE_MAX - RENDER_OPT_MAX,
		    r->chain[0]);
	if (writer_add_rr(&r->writer, r->chain[0], DNS_TYPE_CNAME, DNS_CLASS_IN, w->alias->ttl_s,
			  w->alias->target, (uint16_t)w->alias->n_bytes))
		return fail_follow(w, a, DNS_EDE_OTHER);
	w->rcode = engine_empty(a, DNS_RCODE_NOERROR);
	a->body = r->body;
	a->full_bytes = a->short_bytes = (uint16_t)writer_bytes(&r->writer);
	a->ancount = 1;
	note_alias(&w->e->follow, w->alias);
	return FOUND_HEAD;
}

/* Looks in the cache and upstream: recursive_query.h. */
static enum found look_upstream(struct walk *w, struct cache_answer *a)
{
	struct engine_follow *f = &w->e->follow;
	struct recursion_want want = { .is_target = f->head.ancount != 0,
				       .no_lists = f->is_rewritten,
				       .may_wait = w->again != NULL };

	if (w->done && name_equal(w->at.folded, w->done_name)) {
		*a = *w->done;
		w->rcode = a->flags & DNS_RCODE_MASK;
		return a->flags & DNS_FLAG_TC ? FOUND_NO_MORE : FOUND_END;
	}
	if (!w->client->recursion)
		return fail_follow(w, a, DNS_EDE_NOT_READY);
	if (f->head.ancount)
		recursion_turn(w->e, &w->at);
	w->rcode = recursion_find(w->e, w->rq, &w->at, w->client, &want, a);
	if (want.is_unasked) {
		recursion_ask_on(w->e, w->rq, w->again, w->at.folded, w->alias);
		return FOUND_NO_MORE;
	}
	if (!want.alias.n_bytes)
		return w->e->now.outcome != ENGINE_REPLIES || (a->flags & DNS_FLAG_TC) ?
			       FOUND_NO_MORE :
			       FOUND_END;
	note_alias(f, &want.alias);
	return FOUND_HEAD;
}

static enum found look_follow(struct walk *w, struct cache_answer *a)
{
	const struct query *at = &w->at;
	enum found found = FOUND_END;
	bool is_below = true;

	if (w->alias && !w->e->follow.head.ancount)
		return take_alias(w, a);
	if ((w->client->zones || w->rq->sees_zones) &&
	    engine_is_ours(w->e, at->folded, at->qname_bytes, at->qtype) &&
	    !engine_is_of_parent(w->e, at->folded, at->qname_bytes, at->qtype)) {
		is_below = false;
		found = look_in_zones(w, a, &is_below);
	}
	return is_below ? look_upstream(w, a) : found;
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* Makes a message of the answer for this name (folded). If its body is where the next one is
 * written, it is copied to another place. */
static void read_answer(struct engine *e, const uint8_t *name, const struct cache_answer *a,
			struct convert_source *from)
{
	uint32_t name_end = DNS_HEADER_BYTES + (uint32_t)name_bytes(name);
	uint32_t body_at = name_end + DNS_QUESTION_FIXED_BYTES;
	const uint8_t *body = a->body;

	if (body == e->convert.body) {
		memcpy(e->render.body, body, a->full_bytes);
		body = e->render.body;
	}
	*from = (struct convert_source){
		.message = { name, body, name_end, body_at, body_at + a->full_bytes },
		.n_answer = a->ancount,
		.n_authority = a->nscount,
		.rcode = a->flags & DNS_RCODE_MASK,
		.age_s = a->n_ttls ? a->age_s : 0,
	};
}

static bool is_follow_answer(uint16_t rcode)
{
	return rcode == DNS_RCODE_NOERROR || rcode == DNS_RCODE_NXDOMAIN ||
	       rcode == DNS_RCODE_YXDOMAIN;
}

/* Puts the head before *a, the answer for w->at. */
static enum found join_follow(struct walk *w, struct cache_answer *a)
{
	struct engine *e = w->e;
	const struct convert_limits limits = {
		.max_ttl_s = a->stale_ttl_s ? a->stale_ttl_s : DNS_TTL_MAX,
		.min_ttl_s = a->stale_ttl_s,
		.max_negative_ttl_s = a->stale_ttl_s ? a->stale_ttl_s : DNS_TTL_MAX,
	};
	struct convert_source before, from;
	const struct convert_question question = { w->q->folded, w->q->qtype, w->q->edns.dnssec_ok,
						   &before };
	uint32_t ignored_s;

	if (!e->follow.head.ancount) /* *a is for the question's own name */
		return FOUND_END;
	if (!is_follow_answer(w->rcode)) {
		engine_empty(a, w->rcode);
		a->flags |= DNS_FLAG_RA;
		return FOUND_NO_MORE;
	}
	read_answer(e, w->at.folded, a, &from);
	read_answer(e, w->q->folded, &e->follow.head, &before);
	if (convert_answer(&e->convert, &from, &question, &limits, a, &ignored_s))
		return fail_follow(w, a, DNS_EDE_OTHER);
	return FOUND_END;
}

/* The joined answer is the head of the next one. */
static void keep_head(struct walk *w, const struct cache_answer *a)
{
	struct engine_follow *f = &w->e->follow;
	bool is_first = !f->head.ancount;
	uint16_t first_flags = is_first ? a->flags : f->head.flags;

	memcpy(f->head_body, a->body, a->full_bytes);
	f->head = *a;
	f->head.body = f->head_body;
	f->head.flags = first_flags;
	f->head.n_ttls = 0; /* the TTLs in the body have been reduced already */
}

static uint16_t end_follow(struct walk *w, struct cache_answer *a)
{
	const struct engine_follow *f = &w->e->follow;

	if (!f->head.ancount)
		return w->rcode;
	if (f->is_rewritten)
		w->e->now.ede_code = f->ede_code;
	a->flags = (uint16_t)(DNS_FLAG_QR | DNS_FLAG_RA | (f->head.flags & DNS_FLAG_AA) | w->rcode);
	return w->rcode;
}

/* The question upstream is for another name; the reply is to the client's own question. */
static void note_asked(struct walk *w)
{
	struct engine_pending *p = w->rq->pending;

	if (w->e->now.outcome != ENGINE_DEFERS || w->again)
		return;
	recursion_note_client(p, w->rq, w->q);
	p->asked.chain = w->e->follow.head.ancount ? ENGINE_CHAIN_FOLLOWED : ENGINE_CHAIN_NONE;
	p->asked.no_lists = w->e->follow.is_rewritten;
}

static uint16_t follow_alias_chain(struct walk *w, struct cache_answer *a)
{
	struct engine_follow *f = &w->e->follow;

	f->head = (struct cache_answer){ 0 };
	f->is_rewritten = false;
	f->ede_code = EDNS_NO_EDE;
	for (unsigned int i = 0; i <= FOLLOW_MAX; i++) {
		enum found found = look_follow(w, a);

		if (found == FOUND_NO_MORE) {
			note_asked(w);
			return w->rcode;
		}
		if (join_follow(w, a) == FOUND_NO_MORE)
			return w->rcode;
		if (found == FOUND_END)
			return end_follow(w, a);
		keep_head(w, a);
		go_on_follow(w);
	}
	(void)fail_follow(w, a, DNS_EDE_OTHER);
	return w->rcode;
}

uint16_t follow_answer(struct engine *e, const struct engine_request *rq, const struct query *q,
		       const struct engine_client *client, struct cache_answer *a)
{
	struct walk w = { .e = e, .rq = rq, .q = q, .client = client, .at = *q };

	return follow_alias_chain(&w, a);
}

/*
 * Upstream has answered p, which follow_answer() filled: `a` is the answer to that question, and
 * becomes the answer to q. If the aliases lead to another name by now, the reply is SERVFAIL, and
 * the client asks again.
 */
static uint16_t finish_follow(struct engine *e, const struct engine_request *rq,
			      const struct query *q, const struct engine_pending *p,
			      struct cache_answer *a)
{
	const struct engine_client client = engine_client_of(e, rq);
	struct cache_answer done = *a;
	struct rpz_alias alias = { .n_bytes = (unsigned int)name_bytes(p->question.name),
				   .ttl_s = p->asked.alias_ttl_s,
				   .ede_code = p->asked.alias_ede_code,
				   .is_of_list = p->asked.no_lists };
	struct walk w = { .e = e,
			  .rq = rq,
			  .q = q,
			  .client = &client,
			  .at = *q,
			  .done = &done,
			  .done_name = p->question.name,
			  .alias = p->asked.chain == ENGINE_CHAIN_OF_RULE ? &alias : NULL };

	memcpy(alias.target, p->question.name, alias.n_bytes);
	if (a->full_bytes)
		memcpy(e->follow.done_body, a->body, a->full_bytes);
	done.body = e->follow.done_body;
	return follow_alias_chain(&w, a);
}

/*
 * A rule has made an alias of the answer to p: the answer to q begins with the alias. If upstream
 * has to be asked for its target, p is filled anew and e->now.outcome is ENGINE_DEFERS.
 */
static uint16_t finish_alias(struct engine *e, const struct engine_request *rq,
			     const struct query *q, struct engine_pending *p,
			     const struct rpz_alias *alias, struct cache_answer *a)
{
	const struct engine_client client = engine_client_of(e, rq);
	struct walk w = {
		.e = e, .rq = rq, .q = q, .client = &client, .at = *q, .alias = alias, .again = p
	};

	return follow_alias_chain(&w, a);
}

uint16_t follow_completion(struct engine *e, const struct engine_request *rq, const struct query *q,
			   struct engine_pending *p, struct cache_answer *a)
{
	const struct engine_times times = { rq->now_ns, rq->now_s, rq->wall_s };
	struct rpz_alias alias = { .n_bytes = 0 };
	uint16_t rcode;

	recursion_resume(e, p, &times);
	if (!p->asked.has_client)
		return recursion_finish(e, rq, p, &alias, a);
	rpz_apply_set_apart(e, rq);
	if (p->asked.chain != ENGINE_CHAIN_NONE) {
		(void)recursion_finish(e, rq, p, &alias, a);
		return e->now.outcome == ENGINE_REPLIES ? finish_follow(e, rq, q, p, a) :
							  DNS_RCODE_NOERROR;
	}
	if (rpz_apply_before(e, rq, q, false, &alias, a, &rcode))
		return rcode;
	if (!alias.n_bytes)
		rcode = recursion_finish(e, rq, p, &alias, a);
	return alias.n_bytes ? finish_alias(e, rq, q, p, &alias, a) : rcode;
}
