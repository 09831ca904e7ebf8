/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver/forward_reply.h"

#include "base/wire.h"
#include "dns/edns.h"
#include "resolver/count.h"

static bool is_answer(const struct forward_reply *reply)
{
	return !reply->is_referral &&
	       (reply->rcode == DNS_RCODE_NOERROR || reply->rcode == DNS_RCODE_NXDOMAIN ||
		reply->rcode == DNS_RCODE_YXDOMAIN);
}

/* The same upstream once more, in another way. */
static void ask_otherwise(struct forward *f, struct forward_query *query)
{
	struct forward_question *q = query->question;

	q->prefer = query->upstream;
	forward_query_drop(f, query);
	query->sent_ns = 0;
	forward_question_ask_again(f, q);
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

static void hear(struct forward *f, const struct forward_query *query, uint64_t now_ns)
{
	uint64_t rtt_ns = now_ns > query->sent_ns ? now_ns - query->sent_ns : 1;

	upstream_on_reply(&f->upstreams, &f->upstreams.all[query->upstream],
			  query->is_resent ? 0 : rtt_ns, now_ns);
}

/* A reply to this query, and not truncated. */
static void on_reply(struct forward *f, struct forward_query *query, uint8_t *msg,
		     const struct forward_reply *reply, uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[query->upstream];
	struct forward_question *q = query->question;

	if (is_answer(reply)) {
		upstream_on_outcome(u, true, now_ns);
		/* Only now it is sure that it was for the OPT. */
		if (q->plain & upstream_bit(query->upstream))
			u->plain_until_ns = now_ns + UPSTREAM_PLAIN_NS;
		forward_message_finish(msg, q->name);
		forward_question_answer(f, q, msg, reply->end);
	} else if (query->has_edns && !reply->has_opt &&
		   (reply->rcode == DNS_RCODE_FORMERR || reply->rcode == DNS_RCODE_NOTIMP)) {
		count(&f->counters->plain);
		q->plain |= upstream_bit(query->upstream);
		ask_otherwise(f, query);
	} else {
		upstream_on_outcome(u, false, now_ns);
		on_failure(f, query, reply);
	}
}

/* A message that has the query's ID, and came its way. Whether it is a reply to it. */
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
	if (match == FORWARD_OTHER_CASE && f->caps_for_id && !is_tcp) {
		/* Forged, or a server that changes it: by TCP both cannot do harm. */
		query->question->tcp = true;
		ask_otherwise(f, query);
		return false;
	}
	if (is_truncated && !is_tcp) {
		hear(f, query, now_ns);
		count(&f->counters->truncated);
		query->question->tcp = true;
		ask_otherwise(f, query);
		return true;
	}
	if (is_truncated || forward_message_read(&reply, msg, n)) {
		count(&f->counters->malformed);
		return true;
	}
	hear(f, query, now_ns);
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
	count(&f->counters->unmatched);
	return false;
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
			continue; /* its time will be over */
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
