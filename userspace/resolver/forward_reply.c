/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_reply.h"

#include "base/wire.h"
#include "dns/edns.h"
#include "resolver/resolver_counters.h"

static bool is_answer(const struct forward_reply *reply)
{
	return !reply->is_referral &&
	       (reply->rcode == DNS_RCODE_NOERROR || reply->rcode == DNS_RCODE_NXDOMAIN ||
		reply->rcode == DNS_RCODE_YXDOMAIN);
}

/* Asks the same upstream again in another way: with another ID, and another port or over TCP. */
static void ask_otherwise(struct forward *f, struct forward_query *query)
{
	struct forward_question *q = query->question;

	q->prefer = query->upstream;
	forward_query_drop(f, query);
	query->sent_ns = 0;
	forward_question_ask_again(f, q);
}

static void ask_over_tcp(struct forward *f, struct forward_query *query)
{
	query->question->tcp = true;
	ask_otherwise(f, query);
}

static void on_failure(struct forward *f, struct forward_query *query,
		       const struct forward_reply *reply)
{
	struct forward_question *q = query->question;

	q->failed |= upstream_bit(query->upstream);
	if (q->ede_code == EDNS_NO_EDE)
		q->ede_code = reply->ede_code;
	forward_query_drop(f, query);
	if (!forward_question_has_in_flight(q))
		forward_question_ask_again(f, q);
}

/* Measures and reports an accepted reply. */
static void hear(struct forward *f, const struct forward_query *query, const uint8_t *msg, size_t n,
		 uint64_t now_ns)
{
	uint64_t rtt_ns = now_ns > query->sent_ns ? now_ns - query->sent_ns : 1;

	upstream_on_reply(&f->upstreams, &f->upstreams.all[query->upstream],
			  query->is_resent ? 0 : rtt_ns, now_ns);
	if (!query->is_resent)
		histogram_add(&f->counters->took, rtt_ns, 1);
	forward_tap_reply(&f->tap, query, msg, n);
}

/*
 * BADCOOKIE: the server cookie of the reply is already remembered (RFC 7873 section 5.3). The query
 * is sent again with it. After a second BADCOOKIE the query goes over TCP, where no cookie is
 * needed.
 */
static void on_badcookie(struct forward *f, struct forward_query *query)
{
	struct forward_question *q = query->question;
	uint16_t bit = upstream_bit(query->upstream);

	resolver_count(&f->counters->badcookie);
	if (q->bad & bit)
		q->tcp = true;
	q->bad |= bit;
	ask_otherwise(f, query);
}

/* True if the reply says that the server does not understand the query. */
static bool refuses_form(const struct forward_reply *reply)
{
	return reply->rcode == DNS_RCODE_FORMERR || reply->rcode == DNS_RCODE_NOTIMP;
}

/* Only an answer shows that EDNS or the option was the reason of the failures before. */
static void remember_form(struct upstream *u, const struct forward_query *query, uint64_t now_ns)
{
	const struct forward_question *q = query->question;
	uint16_t bit = upstream_bit(query->upstream);

	if (q->plain & bit)
		u->plain_until_ns = now_ns + UPSTREAM_PLAIN_NS;
	else if (q->bare & bit)
		upstream_cookie_refused(&u->cookie, now_ns);
}

/* If the reply refuses the form of the query, asks again in another form and returns true. */
static bool asks_in_other_form(struct forward *f, struct forward_query *query,
			       const struct forward_reply *reply)
{
	struct forward_question *q = query->question;

	if (query->has_edns && !reply->has_opt && refuses_form(reply)) {
		resolver_count(&f->counters->plain);
		q->plain |= upstream_bit(query->upstream);
		ask_otherwise(f, query);
		return true;
	}
	if (query->has_cookie && refuses_form(reply)) {
		q->bare |= upstream_bit(query->upstream);
		ask_otherwise(f, query);
		return true;
	}
	if (query->has_cookie && reply->rcode == DNS_RCODE_BADCOOKIE && !query->channel->is_tcp) {
		on_badcookie(f, query);
		return true;
	}
	return false;
}

/* Handles a reply to this query that is not truncated. */
static void on_reply(struct forward *f, struct forward_query *query, uint8_t *msg,
		     const struct forward_reply *reply, uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[query->upstream];
	struct forward_question *q = query->question;

	if (is_answer(reply)) {
		upstream_on_outcome(u, true, now_ns);
		remember_form(u, query, now_ns);
		forward_message_finish(msg, q->name);
		forward_question_answer(f, q, msg, reply->end);
	} else if (!asks_in_other_form(f, query, reply)) {
		upstream_on_outcome(u, false, now_ns);
		on_failure(f, query, reply);
	}
}

/* True if a reply that was read to its end has the cookie that it must have. */
static bool has_cookie(struct forward *f, struct forward_query *query,
		       const struct forward_reply *reply, uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[query->upstream];
	enum upstream_cookie_verdict verdict = UPSTREAM_COOKIE_GOOD;

	if (query->has_cookie)
		verdict = upstream_cookie_judge(&u->cookie, reply->cookie, reply->cookie_bytes,
						query->channel->is_tcp, now_ns);
	if (verdict == UPSTREAM_COOKIE_MISSING) {
		resolver_count(&f->counters->no_cookie);
		ask_over_tcp(f, query);
	}
	return verdict == UPSTREAM_COOKIE_GOOD;
}

/*
 * The name came back in other letter case: over UDP the reply may be forged, over TCP the server
 * does not keep the case. True if the reply may be accepted.
 */
static bool on_other_case(struct forward *f, struct forward_query *query, uint64_t now_ns)
{
	if (query->channel->is_tcp) {
		f->upstreams.all[query->upstream].caseless_until_ns = now_ns + UPSTREAM_CASELESS_NS;
		return true;
	}
	resolver_count(&f->counters->miscased);
	ask_over_tcp(f, query);
	return false;
}

/* Handles a message with the query's ID from its channel. True if it is a reply to the query. */
static bool take_reply(struct forward *f, struct forward_query *query, uint8_t *msg, size_t n,
		       uint64_t now_ns)
{
	bool is_truncated = wire_load_be16(msg + DNS_FLAGS_AT) & DNS_FLAG_TC;
	bool is_tcp = query->channel->is_tcp;
	struct forward_text text = forward_query_text(query);
	enum forward_match match = forward_message_match(msg, n, &text);
	struct forward_reply reply;

	if (match == FORWARD_OTHER)
		return false;
	if (match == FORWARD_OTHER_CASE && query->has_case && !on_other_case(f, query, now_ns))
		return false;
	if (is_truncated && !is_tcp) {
		hear(f, query, msg, n, now_ns);
		resolver_count(&f->counters->truncated);
		ask_over_tcp(f, query);
		return true;
	}
	if (is_truncated || forward_message_read(&reply, msg, n)) {
		resolver_count(&f->counters->malformed);
		return true;
	}
	if (!has_cookie(f, query, &reply, now_ns))
		return false;
	hear(f, query, msg, n, now_ns);
	on_reply(f, query, msg, &reply, now_ns);
	return true;
}

static bool on_message(void *ctx, struct forward_channel *channel, uint8_t *msg, size_t n,
		       uint64_t now_ns)
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

static void on_broken(void *ctx, struct forward_channel *channel, enum forward_break how,
		      uint64_t now_ns)
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
		if (how == FORWARD_REFUSED)
			q->refused |= upstream_bit(channel->upstream);
		if (was_in_flight)
			forward_question_ask_again(f, q);
	}
}

struct forward_events forward_reply_events(struct forward *f)
{
	return (struct forward_events){ f, on_message, on_broken };
}
