/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_question.h"

#include <string.h>

#include "dns/edns.h"
#include "resolver/resolver_counters.h"

struct forward_question *forward_question_take(struct forward *f)
{
	struct forward_question *q;

	if (cds_list_empty(&f->free))
		return &f->all[f->n_fresh++];
	q = cds_list_entry(f->free.next, struct forward_question, waiting);
	cds_list_del(&q->waiting);
	return q;
}

void forward_question_init(struct forward_question *q)
{
	memset(q, 0, sizeof(*q));
	q->prefer = UPSTREAM_NONE;
	q->ede_code = EDNS_NO_EDE;
	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH; i++)
		q->queries[i].question = q;
}

static void disarm(struct forward_question *q)
{
	if (q->is_armed)
		deadlines_remove(&q->timer);
	q->is_armed = false;
}

void forward_question_arm(struct forward *f, struct forward_question *q, uint64_t at_ns)
{
	disarm(q);
	q->is_armed = true;
	deadlines_add(&f->timers, &q->timer, at_ns);
}

/* --- Waiting for a place, and in one ---------------------------------------------------------- */

static void wait_in_line(struct forward *f, struct forward_question *q, bool is_first)
{
	struct share *share = q->group->share;

	if (is_first)
		cds_list_add(&q->waiting, &share->again);
	else
		cds_list_add_tail(&q->waiting, &share->again);
	q->is_waiting = true;
	if (!share->by_in_flight.at)
		ranks_put(&f->waiting, &share->by_in_flight, share->n_in_flight);
}

static void leave_forward_question_line(struct forward *f, struct forward_question *q)
{
	struct share *share;

	if (!q->is_waiting) /* e.g. a probe, which has no share */
		return;
	share = q->group->share;
	q->is_waiting = false;
	cds_list_del(&q->waiting);
	if (cds_list_empty(&share->again))
		ranks_remove(&f->waiting, &share->by_in_flight);
}

void forward_question_wait_first(struct forward *f, struct forward_question *q)
{
	wait_in_line(f, q, true);
}

struct forward_question *forward_question_next(struct forward *f, struct share *share)
{
	struct forward_question *q =
		cds_list_entry(share->again.next, struct forward_question, waiting);

	leave_forward_question_line(f, q);
	return q;
}

static void count_in_flight(struct forward *f, struct share *share, uint32_t n)
{
	share->n_in_flight = n;
	ranks_move(&f->waiting, &share->by_in_flight, n);
	if (n)
		ranks_put(&f->sent, &share->by_sent, n);
	else
		ranks_remove(&f->sent, &share->by_sent);
}

static void fly(struct forward *f, struct forward_query *query)
{
	struct resolver_group *group = query->question->group;

	query->in_flight = true;
	f->upstreams.all[query->upstream].n_in_flight++;
	if (!group)
		return;
	cds_list_add_tail(&query->on_share, &group->share->sent);
	count_in_flight(f, group->share, group->share->n_in_flight + 1);
}

void forward_query_land(struct forward *f, struct forward_query *query)
{
	struct resolver_group *group = query->question->group;

	if (!query->in_flight)
		return;
	query->in_flight = false;
	f->upstreams.all[query->upstream].n_in_flight--;
	if (!group)
		return;
	cds_list_del(&query->on_share);
	count_in_flight(f, group->share, group->share->n_in_flight - 1);
}

/* --- Begin and end ---------------------------------------------------------------------------- */

void forward_query_drop(struct forward *f, struct forward_query *query)
{
	struct forward_channel *channel = query->channel;

	forward_query_land(f, query);
	if (!channel)
		return;
	forward_queries_remove(query);
	if (!channel->is_tcp)
		forward_udp_put(&f->udp, channel, query->id);
}

/* Ends a question or a probe without a callback. */
static void end_forward_question(struct forward *f, struct forward_question *q)
{
	disarm(q);
	leave_forward_question_line(f, q);
	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH; i++)
		forward_query_drop(f, &q->queries[i]);
	forward_chain_free(q->chain);
	q->chain = NULL;
	if (!q->group) {
		caa_container_of(q, struct forward_probe, question)->is_used = false;
		return;
	}
	cds_list_add(&q->waiting, &f->free);
	f->n_used--;
}

void forward_question_answer(struct forward *f, struct forward_question *q, const uint8_t *msg,
			     size_t n)
{
	struct resolver_group *group = q->group;
	struct forward_chain *chain = q->chain;
	size_t head_bytes = 0;

	if (chain && !chain->is_all) {
		head_bytes = chain->n;
		if (forward_chain_append(chain, msg, n)) {
			forward_question_fail(f, q);
			return;
		}
	}
	q->chain = NULL;
	end_forward_question(f, q);
	if (group && chain)
		f->done.answered(f->done.ctx, group, chain->bytes, chain->n, head_bytes);
	else if (group)
		f->done.answered(f->done.ctx, group, msg, n, 0);
	forward_chain_free(chain);
}

void forward_question_follow(struct forward *f, struct forward_question *q)
{
	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH; i++) {
		forward_query_drop(f, &q->queries[i]);
		q->queries[i] = (struct forward_query){ .question = q };
	}
	q->name = q->chain->target;
	q->tried = q->failed = q->refused = q->bad = q->mute = 0;
	q->tcp = false;
	q->n_refusals = 0;
	q->prefer = UPSTREAM_NONE;
	resolver_count(&f->counters->followed);
	forward_question_ask_again(f, q);
}

void forward_question_fail(struct forward *f, struct forward_question *q)
{
	int ede_code = q->ede_code != EDNS_NO_EDE ? q->ede_code :
		       q->failed                  ? DNS_EDE_NO_REACHABLE_AUTHORITY :
						    DNS_EDE_NETWORK_ERROR;
	struct resolver_group *group = q->group;

	end_forward_question(f, q);
	if (group)
		f->done.failed(f->done.ctx, group, ede_code);
}

bool forward_question_is_wanted(const struct forward_question *q)
{
	return q->group && !cds_list_empty(&q->group->waiters);
}

void forward_question_ask_again(struct forward *f, struct forward_question *q)
{
	if (!q->group) {
		end_forward_question(f, q);
		return;
	}
	disarm(q);
	if (!q->is_waiting)
		wait_in_line(f, q, false);
}

bool forward_question_has_in_flight(const struct forward_question *q)
{
	bool in_flight = false;

	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH; i++)
		in_flight |= q->queries[i].in_flight;
	return in_flight;
}

/* The question's query to the upstream. If it has none, a free query or the least recently sent one
 * becomes it. */
static struct forward_query *query_to(struct forward *f, struct forward_question *q,
				      uint8_t upstream)
{
	struct forward_query *chosen = NULL;

	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH; i++) {
		struct forward_query *query = &q->queries[i];

		if (query->is_used && query->upstream == upstream)
			return query;
		if (!chosen ||
		    (chosen->is_used && (!query->is_used || query->sent_ns < chosen->sent_ns)))
			chosen = query;
	}
	forward_query_drop(f, chosen);
	*chosen = (struct forward_query){ .question = q, .upstream = upstream, .is_used = true };
	return chosen;
}

struct forward_text forward_query_text(const struct forward_query *query)
{
	const struct forward_question *q = query->question;

	return (struct forward_text){
		.name = q->name,
		.qtype = q->qtype,
		.qclass = q->qclass,
		.id = query->id,
		.checking_disabled = q->checking_disabled,
		.edns = query->form != FORWARD_PLAIN,
		.upper = query->upper,
	};
}

static bool may_use_edns(const struct forward *f, const struct forward_question *q,
			 uint8_t upstream, uint64_t now_ns)
{
	return !(q->plain & upstream_bit(upstream)) &&
	       now_ns >= f->upstreams.all[upstream].plain_until_ns;
}

bool forward_question_uses_tcp(const struct forward *f, const struct forward_question *q,
			       uint8_t upstream)
{
	return f->tcp_only || q->tcp || (q->doubted & ~q->lenient & upstream_bit(upstream));
}

bool forward_question_yield(struct forward_question *q, uint8_t upstream)
{
	uint16_t bit = upstream_bit(upstream);

	if (q->tcp || !(q->yields & bit) || (q->lenient & bit))
		return false;
	q->lenient |= bit;
	q->prefer = upstream;
	return true;
}

static bool may_use_cookie(const struct forward *f, const struct forward_question *q,
			   uint8_t upstream, uint64_t now_ns)
{
	const struct upstream_cookie *cookie = &f->upstreams.all[upstream].cookie;
	uint16_t bit = upstream_bit(upstream);

	return !f->tcp_only && !(q->bare & bit) &&
	       !forward_question_is_mute(q, &f->upstreams, upstream, now_ns) &&
	       !((q->lenient & bit) && !upstream_cookie_is_proven(cookie)) &&
	       upstream_cookie_is_on(cookie, now_ns);
}

/*
 * Chooses EDNS, letter case and cookie. If UDP is used at all, queries over TCP have case and
 * cookie, too, so that their replies show what the upstream supports.
 */
static void set_form(struct forward *f, struct forward_query *query, uint64_t now_ns)
{
	const struct forward_question *q = query->question;
	const struct upstream *u = &f->upstreams.all[query->upstream];
	bool is_lenient = q->lenient & upstream_bit(query->upstream);

	query->has_case = f->caps_for_id && !f->tcp_only && now_ns >= u->caseless_until_ns &&
			  !(is_lenient && !u->keeps_case) &&
			  !nameset_find(&f->caps_exempt, q->name);
	query->upper = query->has_case ? random_u64(&f->random) : 0;
	query->form = !may_use_edns(f, q, query->upstream, now_ns)  ? FORWARD_PLAIN :
		      may_use_cookie(f, q, query->upstream, now_ns) ? FORWARD_COOKIE :
								      FORWARD_EDNS;
}

/* Gives the query a channel if it has none; false: no channel can be opened. */
static bool give_channel(struct forward *f, struct forward_query *query, bool tcp, uint64_t now_ns)
{
	struct forward_channel *channel;

	if (query->channel && query->channel->is_tcp == tcp) {
		query->is_resent = true;
		return true;
	}
	forward_query_drop(f, query);
	if (tcp && forward_tcp_is_full(&f->tcp, query->upstream))
		return false;
	channel = tcp ? forward_tcp_channel(&f->tcp, query->upstream, now_ns) :
			forward_udp_channel(&f->udp, query->upstream, now_ns);
	if (!channel)
		return false;
	query->is_resent = false;
	set_form(f, query, now_ns);
	forward_queries_add(&f->queries, query, channel, &f->random);
	return true;
}

static void write_query(struct forward *f, struct forward_query *query, uint64_t now_ns)
{
	const struct upstream_cookie *cookie = &f->upstreams.all[query->upstream].cookie;
	struct forward_text text = forward_query_text(query);
	struct forward_channel *channel = query->channel;
	uint8_t bytes[FORWARD_QUERY_MAX], *room;
	size_t n_bytes;

	text.cookie = query->form == FORWARD_COOKIE ? cookie->bytes : NULL;
	text.cookie_bytes = cookie->n_bytes;
	if (channel->is_tcp) {
		/* TCP is reliable: nothing is written again. */
		if (query->is_resent)
			return;
		n_bytes = forward_message_write(bytes, &text);
		forward_tcp_add(&f->tcp, channel, bytes, n_bytes);
		forward_tap_query(&f->tap, query, bytes, n_bytes, now_ns);
		return;
	}
	if (query->sent_ns)
		resolver_count(&f->counters->resent);
	room = forward_udp_room(&f->udp, channel);
	n_bytes = forward_message_write(room, &text);
	forward_udp_add(&f->udp, channel, n_bytes);
	forward_tap_query(&f->tap, query, room, n_bytes, now_ns);
}

void forward_query_send(struct forward *f, struct forward_question *q, uint8_t upstream,
			uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[upstream];
	struct forward_query *query = query_to(f, q, upstream);
	bool tcp = forward_question_uses_tcp(f, q, upstream);

	q->prefer = UPSTREAM_NONE;
	q->tried |= upstream_bit(upstream);
	if (!give_channel(f, query, tcp, now_ns)) {
		forward_query_drop(f, query);
		if (!tcp || !forward_question_yield(q, upstream))
			q->refused |= upstream_bit(upstream);
		forward_question_ask_again(f, q);
		return;
	}
	write_query(f, query, now_ns);
	if (!query->sent_ns)
		query->first_sent_ns = now_ns;
	query->sent_ns = now_ns;
	u->n_sent++;
	forward_query_land(f, query); /* if still in flight, after a late reply to another */
	fly(f, query);
	forward_question_arm(f, q,
			     now_ns + (tcp ? f->tcp_wait_ns :
					     upstream_wait_ns(&f->upstreams, u, query->n_silent)));
}
