/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver/forward.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/wire.h"
#include "dns/edns.h"
#include "resolver/count.h"
#include "resolver/forward_tcp.h"
#include "resolver/forward_udp.h"

#define QUERIES_EACH     3   /* upstreams that a question may be with at a time */
#define ROUND_MAX        256 /* questions that are asked before replies are read again */
#define SILENT_MAX       3 /* after so many queries an upstream counts as failed, when others have */
#define REFUSALS_MAX     3 /* rounds in which no upstream could be reached, then the question fails */
#define REFUSED_AGAIN_NS 250000000ULL

struct forward_question {
	struct deadline timer;        /* while armed: of the last query */
	struct cds_list_head waiting; /* to be asked; or of the free ones */
	bool is_armed;
	bool is_waiting;
	bool tcp; /* a reply was truncated */
	bool checking_disabled;
	uint8_t prefer; /* the upstream to be asked next, or UPSTREAM_NONE */
	uint8_t n_refusals;
	uint16_t tried;   /* sets of upstreams: asked in this turn */
	uint16_t failed;  /* replied that they cannot answer */
	uint16_t refused; /* could not be reached */
	uint16_t plain;   /* refused EDNS */
	uint16_t qtype;
	uint16_t qclass;
	int ede_code;
	struct resolver_group *group; /* NULL: a probe */
	const uint8_t *name;
	struct forward_query queries[QUERIES_EACH];
};

/* A question asked once more, of an upstream that is to be known. */
struct forward_probe {
	struct forward_question question;
	bool is_used;
	uint8_t name[NAME_FOLDED_BYTES];
};

struct forward {
	struct forward_done done;
	struct resolver_counters *counters;
	bool caps_for_id;
	bool tcp_only;
	uint64_t tcp_wait_ns;
	struct upstreams upstreams;
	struct random random;
	struct forward_queries queries;
	struct deadlines timers;
	struct cds_list_head waiting;
	struct cds_list_head free;
	struct forward_question *all;
	uint32_t n_fresh; /* of all, those never used */
	uint32_t n_all;
	uint32_t n_used;
	struct forward_probe probes[UPSTREAMS_MAX];
	struct forward_udp udp;
	struct forward_tcp tcp;
};

static uint16_t bit(uint8_t upstream)
{
	return (uint16_t)(1U << upstream);
}

/* --- Questions ------------------------------------------------------------------------------------ */

static struct forward_question *take_question(struct forward *f)
{
	struct forward_question *q;

	if (cds_list_empty(&f->free))
		return &f->all[f->n_fresh++]; /* as many as groups that may be asked */
	q = cds_list_entry(f->free.next, struct forward_question, waiting);
	cds_list_del(&q->waiting);
	return q;
}

static void init_question(struct forward_question *q)
{
	memset(q, 0, sizeof(*q));
	q->prefer = UPSTREAM_NONE;
	q->ede_code = EDNS_NO_EDE;
	for (unsigned int i = 0; i < QUERIES_EACH; i++)
		q->queries[i].question = q;
}

static void disarm(struct forward_question *q)
{
	if (q->is_armed)
		deadlines_remove(&q->timer);
	q->is_armed = false;
}

static void arm(struct forward *f, struct forward_question *q, uint64_t at_ns)
{
	disarm(q);
	q->is_armed = true;
	deadlines_add(&f->timers, &q->timer, at_ns);
}

static void land(struct forward *f, struct forward_query *query)
{
	f->upstreams.all[query->upstream].n_in_flight -= query->in_flight;
	query->in_flight = false;
}

/* Its reply is not taken any more. */
static void drop_query(struct forward *f, struct forward_query *query)
{
	struct forward_channel *channel = query->channel;

	land(f, query);
	if (!channel)
		return;
	forward_queries_remove(query);
	if (!channel->is_tcp)
		forward_udp_put(&f->udp, channel);
}

static void free_question(struct forward *f, struct forward_question *q)
{
	disarm(q);
	if (q->is_waiting)
		cds_list_del(&q->waiting);
	q->is_waiting = false;
	for (unsigned int i = 0; i < QUERIES_EACH; i++)
		drop_query(f, &q->queries[i]);
	if (!q->group) {
		caa_container_of(q, struct forward_probe, question)->is_used = false;
		return;
	}
	cds_list_add(&q->waiting, &f->free);
	f->n_used--;
}

static void answered(struct forward *f, struct forward_question *q, const uint8_t *msg, size_t n)
{
	struct resolver_group *group = q->group;

	free_question(f, q);
	if (group)
		f->done.answered(f->done.ctx, group, msg, n);
}

static void failed(struct forward *f, struct forward_question *q)
{
	int ede_code = q->ede_code != EDNS_NO_EDE ? q->ede_code :
		       q->failed                  ? DNS_EDE_NO_REACHABLE_AUTHORITY :
						    DNS_EDE_NETWORK_ERROR;
	struct resolver_group *group = q->group;

	free_question(f, q);
	if (group)
		f->done.failed(f->done.ctx, group, ede_code);
}

static bool is_wanted(const struct forward_question *q)
{
	return q->group && !cds_list_empty(&q->group->waiters);
}

/* It is to be asked again; a probe has done what it is for. */
static void ask_again(struct forward *f, struct forward_question *q)
{
	if (!q->group) {
		free_question(f, q);
		return;
	}
	disarm(q);
	if (!q->is_waiting)
		cds_list_add_tail(&q->waiting, &f->waiting);
	q->is_waiting = true;
}

static bool has_in_flight(const struct forward_question *q)
{
	bool in_flight = false;

	for (unsigned int i = 0; i < QUERIES_EACH; i++)
		in_flight |= q->queries[i].in_flight;
	return in_flight;
}

/* --- Queries -------------------------------------------------------------------------------------- */

/* The question's query to the upstream: the one there is, or a free one, or that sent longest ago. */
static struct forward_query *query_to(struct forward *f, struct forward_question *q,
				      uint8_t upstream)
{
	struct forward_query *chosen = NULL;

	for (unsigned int i = 0; i < QUERIES_EACH; i++) {
		struct forward_query *query = &q->queries[i];

		if (query->is_used && query->upstream == upstream)
			return query;
		if (!chosen ||
		    (chosen->is_used && (!query->is_used || query->sent_ns < chosen->sent_ns)))
			chosen = query;
	}
	drop_query(f, chosen);
	*chosen = (struct forward_query){ .question = q, .upstream = upstream, .is_used = true };
	return chosen;
}

static struct forward_text text_of(const struct forward_query *query)
{
	const struct forward_question *q = query->question;

	return (struct forward_text){
		.name = q->name,
		.qtype = q->qtype,
		.qclass = q->qclass,
		.id = query->id,
		.checking_disabled = q->checking_disabled,
		.edns = query->has_edns,
		.upper = query->upper,
	};
}

static bool may_use_edns(const struct forward *f, const struct forward_question *q,
			 uint8_t upstream, uint64_t now_ns)
{
	return !(q->plain & bit(upstream)) && now_ns >= f->upstreams.all[upstream].plain_until_ns;
}

/* Gives the query a channel where it has none; false: there is none to be had. */
static bool give_channel(struct forward *f, struct forward_query *query, bool tcp, uint64_t now_ns)
{
	struct forward_channel *channel;

	if (query->channel && query->channel->is_tcp == tcp) {
		query->is_resent = true;
		return true;
	}
	drop_query(f, query);
	channel = tcp ? forward_tcp_channel(&f->tcp, query->upstream, now_ns) :
			forward_udp_channel(&f->udp, query->upstream, now_ns);
	if (!channel)
		return false;
	query->is_resent = false;
	query->has_edns = may_use_edns(f, query->question, query->upstream, now_ns);
	query->upper = f->caps_for_id && !tcp ? random_u64(&f->random) : 0;
	forward_queries_add(&f->queries, query, channel, &f->random);
	return true;
}

/* False: it does not fit any more. */
static bool write_query(struct forward *f, struct forward_query *query)
{
	struct forward_text text = text_of(query);
	struct forward_channel *channel = query->channel;
	uint8_t bytes[FORWARD_QUERY_MAX];
	size_t n_bytes;

	if (channel->is_tcp) {
		/* What was written to a connection once comes there. */
		if (query->is_resent)
			return true;
		n_bytes = forward_message_write(bytes, &text);
		return forward_tcp_add(&f->tcp, channel, bytes, n_bytes);
	}
	n_bytes = forward_message_write(forward_udp_room(&f->udp, channel), &text);
	forward_udp_add(&f->udp, channel, n_bytes);
	return true;
}

static void send_query(struct forward *f, struct forward_question *q, uint8_t upstream,
		       uint64_t now_ns)
{
	struct upstream *u = &f->upstreams.all[upstream];
	struct forward_query *query = query_to(f, q, upstream);
	bool tcp = q->tcp || f->tcp_only;

	q->prefer = UPSTREAM_NONE;
	q->tried |= bit(upstream);
	if (!give_channel(f, query, tcp, now_ns) || !write_query(f, query)) {
		drop_query(f, query);
		q->refused |= bit(upstream);
		ask_again(f, q);
		return;
	}
	if (query->sent_ns)
		count(&f->counters->resent);
	query->sent_ns = now_ns;
	query->in_flight = true;
	u->n_in_flight++;
	arm(f, q,
	    now_ns + (tcp ? f->tcp_wait_ns : upstream_wait_ns(&f->upstreams, u, query->n_silent)));
}

/* --- Whom to ask ---------------------------------------------------------------------------------- */

/* Those that were asked often enough and said nothing. */
static uint16_t silent(const struct forward_question *q)
{
	uint16_t set = 0;

	for (unsigned int i = 0; i < QUERIES_EACH; i++)
		if (q->queries[i].is_used && q->queries[i].n_silent >= SILENT_MAX)
			set |= bit(q->queries[i].upstream);
	return set;
}

/* Those that may answer this question yet. */
static uint16_t open_to(const struct forward *f, const struct forward_question *q)
{
	uint16_t all = (uint16_t)((1U << f->upstreams.n) - 1);
	uint16_t set = all & (uint16_t) ~(q->failed | q->refused);

	/* One has failed: for the others it is not waited without end. */
	if (q->failed)
		set &= (uint16_t) ~(silent(q) | upstreams_down(&f->upstreams, set));
	return set;
}

static uint8_t choose(struct forward *f, struct forward_question *q, uint16_t set)
{
	uint16_t fresh = set & (uint16_t)~q->tried;

	if (q->prefer != UPSTREAM_NONE && set & bit(q->prefer))
		return q->prefer;
	if (!fresh) {
		q->tried = 0;
		q->refused = 0;
		fresh = set;
	}
	return upstreams_choose(&f->upstreams, fresh, &f->random);
}

/* No upstream is left: an end, or, where none could be reached, once more a little later. */
static void give_up(struct forward *f, struct forward_question *q, uint64_t now_ns)
{
	if (!q->refused || q->failed || ++q->n_refusals >= REFUSALS_MAX) {
		failed(f, q);
		return;
	}
	q->refused = 0;
	arm(f, q, now_ns + ((uint64_t)q->n_refusals * REFUSED_AGAIN_NS));
}

/* Other upstreams that are to be known get the question too, when it is asked first. */
static void probe(struct forward *f, const struct forward_question *q, uint64_t now_ns)
{
	for (uint8_t i = 0; i < f->upstreams.n && !q->queries[1].is_used; i++) {
		struct forward_probe *p = &f->probes[i];

		if (q->queries[0].upstream == i || p->is_used ||
		    !upstream_wants_probe(&f->upstreams.all[i], now_ns))
			continue;
		init_question(&p->question);
		memcpy(p->name, q->name, name_bytes(q->name));
		p->is_used = true;
		p->question.name = p->name;
		p->question.qtype = q->qtype;
		p->question.qclass = q->qclass;
		p->question.checking_disabled = q->checking_disabled;
		count(&f->counters->probes);
		send_query(f, &p->question, i, now_ns);
	}
}

/* False: it waits, for no upstream has room. */
static bool ask(struct forward *f, struct forward_question *q, uint64_t now_ns)
{
	uint16_t set = open_to(f, q);
	uint8_t upstream;

	if (!is_wanted(q)) {
		failed(f, q);
		return true;
	}
	if (!set) {
		give_up(f, q, now_ns);
		return true;
	}
	upstream = choose(f, q, set);
	if (upstream == UPSTREAM_NONE)
		return false;
	send_query(f, q, upstream, now_ns);
	probe(f, q, now_ns);
	return true;
}

static void begin(struct forward *f, struct resolver_group *group)
{
	struct forward_question *q = take_question(f);

	init_question(q);
	f->n_used++;
	q->group = group;
	q->name = group->name;
	q->qtype = group->qtype;
	q->qclass = group->qclass;
	q->checking_disabled = group->checking_disabled;
	count(&f->counters->upstream);
	ask_again(f, q);
}

/* --- Replies -------------------------------------------------------------------------------------- */

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
	drop_query(f, query);
	query->sent_ns = 0;
	ask_again(f, q);
}

static void on_failure(struct forward *f, struct forward_query *query,
		       const struct forward_reply *reply)
{
	struct forward_question *q = query->question;

	q->failed |= bit(query->upstream);
	if (q->ede_code == EDNS_NO_EDE)
		q->ede_code = reply->ede_code;
	drop_query(f, query);
	if (!has_in_flight(q))
		ask_again(f, q);
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
		if (q->plain & bit(query->upstream))
			u->plain_until_ns = now_ns + UPSTREAM_PLAIN_NS;
		forward_message_finish(msg, q->name);
		answered(f, q, msg, reply->end);
	} else if (query->has_edns && !reply->has_opt &&
		   (reply->rcode == DNS_RCODE_FORMERR || reply->rcode == DNS_RCODE_NOTIMP)) {
		count(&f->counters->plain);
		q->plain |= bit(query->upstream);
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
	struct forward_text text = text_of(query);
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

		drop_query(f, query);
		if (how == FORWARD_LOST)
			continue; /* its time will be over */
		/* A server that replies to some and closes upon this one refuses it. */
		if (how == FORWARD_REFUSED || ++query->n_silent >= SILENT_MAX)
			q->refused |= bit(channel->upstream);
		if (was_in_flight)
			ask_again(f, q);
	}
}

/* --- Rounds --------------------------------------------------------------------------------------- */

static void on_timer(struct forward *f, struct forward_question *q, uint64_t now_ns)
{
	for (unsigned int i = 0; i < QUERIES_EACH; i++) {
		struct forward_query *query = &q->queries[i];

		if (!query->in_flight)
			continue;
		land(f, query);
		if (query->n_silent < UINT8_MAX)
			query->n_silent++;
		upstream_on_silence(&f->upstreams.all[query->upstream], query->sent_ns, now_ns);
		if (query->channel && query->channel->is_tcp)
			forward_tcp_on_silence(&f->tcp, query->channel, now_ns);
		break; /* one question has one in flight */
	}
	ask_again(f, q);
}

static void expire(struct forward *f, uint64_t now_ns)
{
	struct cds_list_head over;

	CDS_INIT_LIST_HEAD(&over);
	deadlines_expire(&f->timers, now_ns, &over);
	while (!cds_list_empty(&over)) {
		struct deadline *first = cds_list_entry(over.next, struct deadline, node);

		on_timer(f, caa_container_of(first, struct forward_question, timer), now_ns);
	}
}

/* The next one that waits, or a new one; NULL: none. */
static struct forward_question *next_question(struct forward *f, struct groups *groups)
{
	struct resolver_group *group;

	if (cds_list_empty(&f->waiting)) {
		group = groups_next(groups);
		if (!group)
			return NULL;
		begin(f, group);
	}
	return cds_list_entry(f->waiting.next, struct forward_question, waiting);
}

bool forward_round(struct forward *f, struct groups *groups, uint64_t now_ns)
{
	struct forward_question *q;
	unsigned int n = 0;
	bool is_broken;

	expire(f, now_ns);
	while (n < ROUND_MAX && (q = next_question(f, groups))) {
		cds_list_del(&q->waiting);
		q->is_waiting = false;
		if (!ask(f, q, now_ns)) {
			cds_list_add(&q->waiting, &f->waiting);
			q->is_waiting = true;
			break;
		}
		n++;
	}
	is_broken = forward_udp_end_round(&f->udp, now_ns);
	is_broken |= forward_tcp_end_round(&f->tcp, now_ns);
	return is_broken || n == ROUND_MAX;
}

bool forward_is_busy(const struct forward *f)
{
	return f->n_used;
}

/* --- Beginning and end ---------------------------------------------------------------------------- */

bool forward_suits(const struct resolver_config *c)
{
	bool forwards = c->forwards && c->forwards[0] && c->transport != RESOLVER_TLS;
	bool validates = c->trust_anchor_file || c->auto_trust_anchor_file;
	bool is_special = c->n_stubs || c->n_options || c->upstream_qps ||
			  (c->private_addresses && c->private_addresses[0]) ||
			  (c->outgoing_interfaces && c->outgoing_interfaces[0]);

	return forwards && !validates && !is_special;
}

static int init_upstreams(struct upstreams *us, const struct resolver_config *c, char *err,
			  size_t cap)
{
	uint32_t max = c->upstream_max;

	if (c->transport == RESOLVER_TCP && max > FORWARD_TCP_IN_FLIGHT)
		max = FORWARD_TCP_IN_FLIGHT;
	return upstreams_init(us, c->forwards, c->query_localhost, c->upstream_timeout_ms, max, err,
			      cap);
}

static int init_channels(struct forward *f, const struct resolver_config *config,
			 struct event_base *base)
{
	const struct forward_events events = { f, on_message, on_broken };
	const struct forward_udp_config udp = {
		.upstreams = &f->upstreams,
		.random = &f->random,
		.base = base,
		.events = events,
		.port_first = config->port_first,
		.port_last = config->port_last,
		.n_sent = &f->counters->queries,
		.n_opened = &f->counters->sockets,
	};
	const struct forward_tcp_config tcp = {
		.upstreams = &f->upstreams,
		.base = base,
		.events = events,
		.silence_ns = 2 * f->tcp_wait_ns,
		.n_sent = &f->counters->queries_tcp,
	};
	int code = forward_udp_init(&f->udp, &udp);

	return code ? code : forward_tcp_init(&f->tcp, &tcp);
}

static int init(struct forward *f, const struct resolver_config *config, struct event_base *base,
		char *err, size_t cap)
{
	int code = init_upstreams(&f->upstreams, config, err, cap);

	CDS_INIT_LIST_HEAD(&f->waiting);
	CDS_INIT_LIST_HEAD(&f->free);
	random_init(&f->random);
	deadlines_init(&f->timers, clock_ns());
	f->caps_for_id = config->caps_for_id;
	f->tcp_only = config->transport == RESOLVER_TCP;
	f->tcp_wait_ns = config->upstream_timeout_ms * CLOCK_NS_PER_MS;
	f->n_all = GROUPS_ORPHANED_TIMES * config->upstream_max;
	f->all = calloc(f->n_all, sizeof(*f->all));
	if (!code && !f->all)
		code = -ENOMEM;
	if (!code)
		code = forward_queries_init(&f->queries, f->n_all);
	if (!code)
		code = init_channels(f, config, base);
	return code;
}

int forward_new(struct forward **out, const struct resolver_config *config, struct event_base *base,
		const struct forward_done *done, struct resolver_counters *counters, char *err,
		size_t cap)
{
	struct forward *f = calloc(1, sizeof(*f));
	int code;

	if (!f)
		return -ENOMEM;
	f->done = *done;
	f->counters = counters;
	code = init(f, config, base, err, cap);
	if (code) {
		forward_free(f);
		return code;
	}
	*out = f;
	return 0;
}

void forward_free(struct forward *f)
{
	if (!f)
		return;
	forward_udp_fini(&f->udp);
	forward_tcp_fini(&f->tcp);
	forward_queries_fini(&f->queries);
	free(f->all);
	free(f);
}
