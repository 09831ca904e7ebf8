/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_question.h"

#include "base/wire.h"
#include "dns/edns.h"
#include "dns/name.h"
#include "resolver/resolver_counters.h"

static bool is_forward_reply_answer(const struct forward_reply *reply)
{
	return !reply->is_referral &&
	       (reply->rcode == DNS_RCODE_NOERROR || reply->rcode == DNS_RCODE_NXDOMAIN ||
		reply->rcode == DNS_RCODE_YXDOMAIN);
}

/* Asks the same upstream again in another way: with another ID, and another port or over TCP. */
static void ask_forward_reply_otherwise(struct forward *f, struct forward_query *query)
{
	struct forward_question *q = query->question;

	q->prefer = query->upstream;
	forward_query_drop(f, query);
	query->sent_ns = 0;
	forward_question_ask_again(f, q);
}

/* The upstream has failed, and the next one is asked. */
static void on_failure(struct forward *f, struct forward_query *query, uint64_t now_ns)
{
	struct forward_question *q = query->question;

	upstream_on_outcome(&f->upstreams.all[query->upstream], false, now_ns);
	q->failed |= upstream_bit(query->upstream);
	forward_query_drop(f, query);
	if (!forward_question_has_in_flight(q))
		forward_question_ask_again(f, q);
}

/*
 * The reply over UDP may be forged: the same upstream is asked over TCP. may_yield: the upstream
 * has never shown the protection that the reply lacks, so if there is no TCP, it is asked over UDP
 * without it (forward_question_yield()). Returns may_yield: then the reply was no guess either,
 * since a forger who knows the ID would only have had to leave the protection out.
 */
static bool doubt(struct forward *f, struct forward_query *query, bool may_yield, uint64_t now_ns)
{
	struct forward_question *q = query->question;
	uint16_t bit = upstream_bit(query->upstream);

	if (q->lenient & bit) {
		on_failure(f, query, now_ns);
		return may_yield;
	}
	q->doubted |= bit;
	if (may_yield)
		q->yields |= bit;
	ask_forward_reply_otherwise(f, query);
	return may_yield;
}

/* Measures and reports an accepted reply. */
static void hear_forward_reply(struct forward *f, const struct forward_query *query,
			       const uint8_t *msg, size_t n, uint64_t now_ns)
{
	uint64_t rtt_ns = now_ns > query->sent_ns ? now_ns - query->sent_ns : 1;

	upstream_on_reply(&f->upstreams, &f->upstreams.all[query->upstream],
			  query->is_resent ? 0 : rtt_ns, now_ns);
	if (query->form == FORWARD_COOKIE && !query->channel->is_tcp)
		f->upstreams.all[query->upstream].cookie_until_ns = now_ns + UPSTREAM_COOKIE_NS;
	if (!query->is_resent)
		histogram_add(&f->counters->took, rtt_ns, 1);
	forward_tap_reply(&f->tap, query, msg, n);
}

/*
 * BADCOOKIE: the server cookie of the reply is already remembered (RFC 7873 section 5.3). The query
 * is sent again with it. After a second BADCOOKIE the query goes over TCP, where no cookie is
 * needed, and if that does not help either, without the option.
 */
static void on_badcookie(struct forward *f, struct forward_query *query, uint64_t now_ns)
{
	struct forward_question *q = query->question;
	uint16_t bit = upstream_bit(query->upstream);
	bool is_second = q->bad & bit;

	resolver_count(&f->counters->badcookie);
	q->bad |= bit;
	if (query->channel->is_tcp || q->lenient & bit)
		q->bare |= bit;
	if (is_second && !query->channel->is_tcp && !(q->lenient & bit))
		(void)doubt(f, query, true, now_ns);
	else
		ask_forward_reply_otherwise(f, query);
}

/* True if the reply says that the server does not understand the query. */
static bool refuses_form(const struct forward_reply *reply)
{
	return reply->rcode == DNS_RCODE_FORMERR || reply->rcode == DNS_RCODE_NOTIMP ||
	       reply->rcode == DNS_RCODE_BADVERS;
}

/* Only an answer shows that EDNS or the option was the reason of the failures before. */
static void remember_form(const struct forward *f, struct upstream *u,
			  const struct forward_query *query, uint64_t now_ns)
{
	const struct forward_question *q = query->question;
	uint16_t bit = upstream_bit(query->upstream);
	bool is_lenient = q->lenient & bit;

	if (query->form != FORWARD_PLAIN)
		u->edns_until_ns = now_ns + UPSTREAM_EDNS_NS;
	if (q->plain & bit)
		u->plain_until_ns = now_ns + UPSTREAM_PLAIN_NS;
	else if ((q->bare & bit) || (is_lenient && query->form == FORWARD_EDNS) ||
		 (query->form != FORWARD_COOKIE &&
		  forward_question_is_mute(q, &f->upstreams, query->upstream, now_ns)))
		upstream_cookie_refused(&u->cookie, now_ns);
	if (is_lenient && f->caps_for_id && !query->has_case)
		u->caseless_until_ns = now_ns + UPSTREAM_CASELESS_NS;
}

static void ask_without_edns(struct forward *f, struct forward_query *query)
{
	resolver_count(&f->counters->plain);
	query->question->plain |= upstream_bit(query->upstream);
	ask_forward_reply_otherwise(f, query);
}

/*
 * True if the failure may be about EDNS: the reply says so, or the upstream has not answered a
 * query with EDNS lately. Some servers say SERVFAIL, and some echo the OPT record of the query.
 */
static bool may_dislike_edns(const struct upstream *u, const struct forward_reply *reply,
			     uint64_t now_ns)
{
	return refuses_form(reply) ||
	       (reply->rcode != DNS_RCODE_NOERROR && now_ns >= u->edns_until_ns);
}

/* If the reply may refuse the form of the query, asks again in another form and returns true. The
 * ladder of forms: docs/decisions/0057. */
static bool asks_in_other_form(struct forward *f, struct forward_query *query,
			       const struct forward_reply *reply, uint64_t now_ns)
{
	const struct upstream *u = &f->upstreams.all[query->upstream];
	struct forward_question *q = query->question;

	if (query->form == FORWARD_COOKIE && reply->rcode == DNS_RCODE_BADCOOKIE) {
		on_badcookie(f, query, now_ns);
		return true;
	}
	if (query->form == FORWARD_COOKIE && reply->has_opt && refuses_form(reply)) {
		q->bare |= upstream_bit(query->upstream);
		ask_forward_reply_otherwise(f, query);
		return true;
	}
	if (query->form != FORWARD_PLAIN && may_dislike_edns(u, reply, now_ns)) {
		ask_without_edns(f, query);
		return true;
	}
	return false;
}

/* An upstream's answer: the end of the question, or of a part of it (resolver/forward_chain.h). */
static void on_forward_reply_answer(struct forward *f, struct forward_question *q, uint8_t *msg,
				    const struct forward_reply *reply)
{
	enum forward_chain_state state = FORWARD_CHAIN_WHOLE;

	forward_message_finish(msg, q->name);
	if (q->group && reply->has_alias)
		state = forward_chain_add(&q->chain, msg, reply->end, q->name, q->qtype);
	if (state == FORWARD_CHAIN_WHOLE)
		forward_question_answer(f, q, msg, reply->end);
	else if (state == FORWARD_CHAIN_OPEN)
		forward_question_follow(f, q);
	else
		forward_question_fail(f, q);
}

/* Handles a reply to this query that is not truncated. */
static void on_reply(struct forward *f, struct forward_query *query, uint8_t *msg,
		     const struct forward_reply *reply, uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[query->upstream];
	struct forward_question *q = query->question;

	if (is_forward_reply_answer(reply)) {
		upstream_on_outcome(u, true, now_ns);
		remember_form(f, u, query, now_ns);
		on_forward_reply_answer(f, q, msg, reply);
		return;
	}
	if (q->ede_code == EDNS_NO_EDE)
		q->ede_code = reply->ede_code;
	if (!asks_in_other_form(f, query, reply, now_ns))
		on_failure(f, query, now_ns);
}

/*
 * A reply that cannot be read to its end. If the upstream is known to send cookies, one of these
 * may be missing, so the reply is ignored. Else the server may not cope with EDNS.
 */
static void on_malformed(struct forward *f, struct forward_query *query, uint64_t now_ns)
{
	const struct upstream *u = &f->upstreams.all[query->upstream];
	bool is_tcp = query->channel->is_tcp;

	resolver_count(&f->counters->malformed);
	if (query->form == FORWARD_COOKIE && !is_tcp && upstream_cookie_is_proven(&u->cookie))
		return;
	if (query->form != FORWARD_PLAIN)
		ask_without_edns(f, query);
	else
		on_failure(f, query, now_ns);
}

/* The verdict about the cookie of a reply that was read to its end. If the reply may be forged, the
 * query goes over TCP. */
static enum upstream_cookie_verdict judge_cookie(struct forward *f, struct forward_query *query,
						 const struct forward_reply *reply, uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[query->upstream];
	enum upstream_cookie_verdict verdict;

	if (query->form != FORWARD_COOKIE)
		return UPSTREAM_COOKIE_GOOD;
	verdict = upstream_cookie_judge(&u->cookie, reply->cookie, reply->cookie_bytes,
					query->channel->is_tcp, now_ns);
	if (verdict == UPSTREAM_COOKIE_MISSING)
		resolver_count(&f->counters->no_cookie);
	if (verdict == UPSTREAM_COOKIE_MISSING || verdict == UPSTREAM_COOKIE_FOREIGN)
		(void)doubt(f, query, verdict == UPSTREAM_COOKIE_FOREIGN, now_ns);
	return verdict;
}

/* The name came back in its letter case, with letters of both cases: no chance. */
static void note_case(struct upstream *u, const uint8_t *name)
{
	bool has_upper = false, has_lower = false;

	for (size_t i = 0; i < name_bytes(name); i++) {
		has_upper |= name[i] >= 'A' && name[i] <= 'Z';
		has_lower |= name[i] >= 'a' && name[i] <= 'z';
	}
	u->keeps_case |= has_upper && has_lower;
}

/*
 * Over UDP a reply that is longer than the query allowed comes in fragments, which are easier to
 * forge than a packet. True if it may be accepted: the upstream has no TCP.
 */
static bool may_be_long(struct forward *f, const struct forward_query *query, uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[query->upstream];

	if (query->question->lenient & upstream_bit(query->upstream))
		u->long_until_ns = now_ns + UPSTREAM_LONG_NS;
	return now_ns < u->long_until_ns;
}

/* Handles a message that was compared with the query and is whole. True if it is no guess. */
static bool read_forward_reply(struct forward *f, struct forward_query *query, uint8_t *msg,
			       size_t n, uint64_t now_ns)
{
	struct forward_reply reply;

	if (forward_message_read(&reply, msg, n)) {
		on_malformed(f, query, now_ns);
		return true;
	}
	switch (judge_cookie(f, query, &reply, now_ns)) {
	case UPSTREAM_COOKIE_GOOD:
		hear_forward_reply(f, query, msg, n, now_ns);
		on_reply(f, query, msg, &reply, now_ns);
		return true;
	case UPSTREAM_COOKIE_FOREIGN:
		return true;
	case UPSTREAM_COOKIE_MISSING:
	case UPSTREAM_COOKIE_WRONG:
		break;
	}
	return false;
}

/* Over TCP, a reply that says it is truncated is a failure. */
static void on_truncated(struct forward *f, struct forward_query *query, const uint8_t *msg,
			 size_t n, uint64_t now_ns)
{
	hear_forward_reply(f, query, msg, n, now_ns);
	if (query->channel->is_tcp) {
		resolver_count(&f->counters->malformed);
		on_failure(f, query, now_ns);
		return;
	}
	resolver_count(&f->counters->truncated);
	query->question->tcp = true;
	ask_forward_reply_otherwise(f, query);
}

/* Handles a message with the query's ID from its channel. True if it is a reply to the query. */
static bool take_reply(struct forward *f, struct forward_query *query, uint8_t *msg, size_t n,
		       uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[query->upstream];
	bool is_tcp = query->channel->is_tcp;
	struct forward_text text = forward_query_text(query);
	enum forward_match match = forward_message_match(msg, n, &text);

	if (match == FORWARD_OTHER)
		return false;
	if (match == FORWARD_OTHER_CASE && query->has_case && !is_tcp) {
		resolver_count(&f->counters->miscased);
		return doubt(f, query, !u->keeps_case, now_ns);
	}
	if (match == FORWARD_OTHER_CASE && query->has_case) /* it does not keep the case */
		u->caseless_until_ns = now_ns + UPSTREAM_CASELESS_NS;
	if (match == FORWARD_MATCH && query->has_case)
		note_case(u, msg + DNS_HEADER_BYTES);
	if (wire_load_be16(msg + DNS_FLAGS_AT) & DNS_FLAG_TC) {
		on_truncated(f, query, msg, n, now_ns);
		return true;
	}
	if (!is_tcp && n > FORWARD_UDP_BYTES && !may_be_long(f, query, now_ns)) {
		resolver_count(&f->counters->too_long);
		(void)doubt(f, query, true, now_ns);
		return true;
	}
	return read_forward_reply(f, query, msg, n, now_ns);
}

static bool on_forward_reply_message(void *ctx, struct forward_channel *channel, uint8_t *msg,
				     size_t n, uint64_t now_ns)
{
	struct forward *f = ctx;
	struct forward_query *query = NULL;

	if (n >= DNS_HEADER_BYTES)
		query = forward_queries_find(&f->queries, channel, wire_load_be16(msg + DNS_ID_AT));
	if (query && take_reply(f, query, msg, n, now_ns))
		return true;
	resolver_count(&f->counters->unmatched);
	return false;
}

/* An attacker guesses the IDs of queries on this socket. Over TCP, the handshake proves the address
 * of a sender. */
static void move_to_tcp(struct forward *f, struct forward_query *query)
{
	resolver_count(&f->counters->forged);
	query->question->tcp = true;
	query->question->prefer = query->upstream;
	query->sent_ns = 0;
}

static void on_forward_reply_broken(void *ctx, struct forward_channel *channel,
				    enum forward_break how, uint64_t now_ns)
{
	struct forward *f = ctx;

	if (how == FORWARD_REFUSED && channel->n_queries)
		upstream_on_silence(&f->upstreams.all[channel->upstream], now_ns, now_ns);
	while (!cds_list_empty(&channel->queries)) {
		struct forward_query *query =
			cds_list_entry(channel->queries.next, struct forward_query, on_channel);
		struct forward_question *q = query->question;
		bool was_in_flight = query->in_flight;

		forward_query_drop(f, query);
		if (how == FORWARD_LOST)
			continue; /* its timer will fire */
		if (how == FORWARD_FORGED)
			move_to_tcp(f, query);
		if (how == FORWARD_REFUSED &&
		    !(channel->is_tcp && forward_question_yield(q, channel->upstream)))
			q->refused |= upstream_bit(channel->upstream);
		if (was_in_flight)
			forward_question_ask_again(f, q);
	}
}

struct forward_events forward_reply_events(struct forward *f)
{
	return (struct forward_events){ f, on_forward_reply_message, on_forward_reply_broken };
}
