/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "resolver/forward_question.h"
#include "resolver/resolver_counters.h"

#define ROUND_MAX        256 /* the most questions asked before replies are read again */
#define REFUSALS_MAX     3   /* rounds without a reachable upstream, then a question fails */
#define REFUSED_AGAIN_NS 250000000ULL
#define BUSY_AGAIN_NS    20000000ULL

_Static_assert(FORWARD_FDS == FORWARD_UDP_SOCKETS + UPSTREAMS_MAX, "one for each socket");

/* --- The next upstream ------------------------------------------------------------------------ */

/* Upstreams without a reply, asked FORWARD_SILENT_MAX times within FORWARD_SILENT_NS or longer. */
static uint16_t silent(const struct forward_question *q, uint64_t now_ns)
{
	uint16_t set = 0;

	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH; i++) {
		const struct forward_query *query = &q->queries[i];

		if (query->is_used && query->n_silent >= FORWARD_SILENT_MAX &&
		    now_ns - query->first_sent_ns >= FORWARD_SILENT_NS)
			set |= upstream_bit(query->upstream);
	}
	return set;
}

/* Upstreams without a reply that were asked again msg_retry times. */
static uint16_t worn_out(const struct forward *f, const struct forward_question *q)
{
	uint16_t set = 0;

	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH && f->msg_retry; i++)
		if (q->queries[i].is_used && q->queries[i].n_silent > f->msg_retry)
			set |= upstream_bit(q->queries[i].upstream);
	return set;
}

static uint16_t all_of(const struct forward *f)
{
	return (uint16_t)((1U << f->upstreams.n) - 1);
}

/* Upstreams that may still answer this question. */
static uint16_t open_to(const struct forward *f, const struct forward_question *q, uint64_t now_ns)
{
	uint16_t set = all_of(f) & (uint16_t) ~(q->failed | q->refused | worn_out(f, q));

	/* If one has failed, the wait for the others must end. */
	if (q->failed)
		set &= (uint16_t) ~(silent(q, now_ns) | upstreams_down(&f->upstreams, set));
	return set;
}

static uint8_t choose_forward(struct forward *f, struct forward_question *q, uint16_t set)
{
	uint16_t fresh = set & (uint16_t)~q->tried;

	if (q->prefer != UPSTREAM_NONE && set & upstream_bit(q->prefer))
		return q->prefer;
	if (!fresh) {
		q->tried = 0;
		q->refused = 0;
		fresh = set;
	}
	return upstreams_choose(&f->upstreams, fresh, &f->random);
}

/* No upstream is left. Fails the question, or asks again later if upstreams were unreachable. */
static void give_up_forward(struct forward *f, struct forward_question *q, uint64_t now_ns)
{
	if (!q->refused || q->failed || ++q->n_refusals >= REFUSALS_MAX) {
		forward_question_fail(f, q);
		return;
	}
	q->refused = 0;
	forward_question_arm(f, q, now_ns + ((uint64_t)q->n_refusals * REFUSED_AGAIN_NS));
}

/* When a question is asked first, other upstreams whose probe is due get it, too. */
static void probe_forward(struct forward *f, const struct forward_question *q, uint64_t now_ns)
{
	for (uint8_t i = 0; i < f->upstreams.n && !q->queries[1].is_used; i++) {
		struct forward_probe *p = &f->probes[i];

		if (q->queries[0].upstream == i || p->is_used ||
		    !upstream_wants_probe(&f->upstreams.all[i], now_ns))
			continue;
		forward_question_init(&p->question);
		memcpy(p->name, q->name, name_bytes(q->name));
		p->is_used = true;
		p->question.name = p->name;
		p->question.qtype = q->qtype;
		p->question.qclass = q->qclass;
		p->question.checking_disabled = q->checking_disabled;
		resolver_count(&f->counters->probes);
		forward_query_send(f, &p->question, i, now_ns);
	}
}

/* The upstreams to which the question must go over TCP, and whose connection is full. */
static uint16_t full(const struct forward *f, const struct forward_question *q)
{
	uint16_t set = 0;

	for (uint8_t i = 0; i < f->upstreams.n; i++)
		if (forward_question_uses_tcp(f, q, i) && forward_tcp_is_full(&f->tcp, i))
			set |= upstream_bit(i);
	return set;
}

/*
 * True if the question's client may have another query in flight at these upstreams. If there is no
 * room, a client with few queries takes the place of the oldest query of a client with the most, if
 * that query is at one of these upstreams. A reply to that query is still accepted.
 */
static bool has_forward_place(struct forward *f, const struct forward_question *q, uint16_t set)
{
	const struct share *share = q->group->share;
	uint32_t n_free = upstreams_room(&f->upstreams, set);
	struct forward_query *oldest;
	struct rank *rank;
	struct share *most;

	if (n_free)
		return share_fits(share->n_in_flight, n_free);
	rank = ranks_most(&f->sent);
	most = rank ? caa_container_of(rank, struct share, by_sent) : NULL;
	if (!most || !share_may_displace(share->n_in_flight, most->n_in_flight))
		return false;
	oldest = cds_list_entry(most->sent.next, struct forward_query, on_share);
	if (!(set & upstream_bit(oldest->upstream)))
		return false;
	resolver_count(&f->counters->overtaken);
	forward_query_land(f, oldest);
	return true;
}

/* The question's upstreams have no room, but others have: the question gives way to questions that
 * may go there. */
static bool step_aside(struct forward *f, struct forward_question *q, uint16_t set, uint64_t now_ns)
{
	if (upstreams_room(&f->upstreams, set) || !upstreams_room(&f->upstreams, all_of(f)))
		return false;
	forward_question_arm(f, q, now_ns + BUSY_AGAIN_NS);
	return true;
}

/* False: no upstream has room for it. */
static bool ask_forward(struct forward *f, struct forward_question *q, uint64_t now_ns)
{
	uint16_t set = open_to(f, q, now_ns), busy;
	uint8_t upstream;

	if (!forward_question_is_wanted(q)) {
		forward_question_fail(f, q);
		return true;
	}
	if (!set) {
		give_up_forward(f, q, now_ns);
		return true;
	}
	busy = full(f, q);
	if (!(set & ~busy)) {
		if (f->tcp_only && busy == all_of(f))
			return false;
		forward_question_arm(f, q, now_ns + BUSY_AGAIN_NS);
		return true;
	}
	if (!has_forward_place(f, q, set & (uint16_t)~busy))
		return step_aside(f, q, set & (uint16_t)~busy, now_ns);
	upstream = choose_forward(f, q, set & (uint16_t)~busy);
	if (upstream == UPSTREAM_NONE)
		return false;
	forward_query_send(f, q, upstream, now_ns);
	probe_forward(f, q, now_ns);
	return true;
}

static struct forward_question *begin_forward(struct forward *f, struct resolver_group *group)
{
	struct forward_question *q = forward_question_take(f);

	forward_question_init(q);
	f->n_used++;
	q->group = group;
	q->name = group->name;
	q->qtype = group->qtype;
	q->qclass = group->qclass;
	q->checking_disabled = group->checking_disabled;
	resolver_count(&f->counters->upstream);
	return q;
}

/* --- Rounds ----------------------------------------------------------------------------------- */

/*
 * Some filters drop queries that have an option which they do not know. After some silence, a query
 * to an upstream that has not replied to cookies lately goes without the option. One that is known
 * to send cookies does not lose their protection.
 */
static void give_up_cookie(struct forward *f, struct forward_query *query, uint64_t now_ns)
{
	const struct upstream *u = &f->upstreams.all[query->upstream];

	if (query->form != FORWARD_COOKIE || !query->channel || query->channel->is_tcp ||
	    query->n_silent != FORWARD_COOKIE_SILENT || upstream_cookie_is_proven(&u->cookie) ||
	    now_ns < u->cookie_until_ns)
		return;
	query->question->mute |= upstream_bit(query->upstream);
	forward_query_drop(f, query);
}

static void on_forward_timer(struct forward *f, struct forward_question *q, uint64_t now_ns)
{
	for (unsigned int i = 0; i < FORWARD_QUERIES_EACH; i++) {
		struct forward_query *query = &q->queries[i];
		struct upstream *u = &f->upstreams.all[query->upstream];

		if (!query->in_flight)
			continue;
		if (upstream_has_line(&f->upstreams, u, query->sent_ns, now_ns)) {
			forward_question_arm(f, q, now_ns + upstream_wait_ns(&f->upstreams, u, 0));
			return;
		}
		forward_query_land(f, query);
		if (query->n_silent < UINT8_MAX)
			query->n_silent++;
		upstream_on_silence(u, query->sent_ns, now_ns);
		give_up_cookie(f, query, now_ns);
		if (query->channel && query->channel->is_tcp) {
			(void)forward_question_yield(q, query->upstream);
			forward_tcp_on_silence(&f->tcp, query->channel, now_ns);
		}
	}
	forward_question_ask_again(f, q);
}

static void expire_forward(struct forward *f, uint64_t now_ns)
{
	struct cds_list_head over;

	CDS_INIT_LIST_HEAD(&over);
	deadlines_expire(&f->timers, now_ns, &over);
	while (!cds_list_empty(&over)) {
		struct deadline *first = cds_list_entry(over.next, struct deadline, node);

		on_forward_timer(f, caa_container_of(first, struct forward_question, timer),
				 now_ns);
	}
}

/* The next question, of the client with the fewest queries in flight. On a tie a question that was
 * asked before goes first. NULL: there is none. */
static struct forward_question *next_question(struct forward *f, struct groups *groups)
{
	struct rank *rank = ranks_least(&f->waiting);
	struct share *waits = rank ? caa_container_of(rank, struct share, by_in_flight) : NULL;
	struct share *is_new = groups_peek(groups);
	struct resolver_group *group = NULL;

	if (is_new && (!waits || is_new->n_in_flight < waits->n_in_flight))
		group = groups_next(groups);
	if (group)
		return begin_forward(f, group);
	return waits ? forward_question_next(f, waits) : NULL;
}

bool forward_round(struct forward *f, struct groups *groups, uint64_t now_ns)
{
	struct forward_question *q;
	unsigned int n = 0;
	bool is_broken;

	expire_forward(f, now_ns);
	while (n < ROUND_MAX && (q = next_question(f, groups))) {
		if (!ask_forward(f, q, now_ns)) {
			forward_question_wait_first(f, q);
			break;
		}
		n++;
	}
	is_broken = forward_udp_end_round(&f->udp, now_ns);
	is_broken |= forward_tcp_end_round(&f->tcp, now_ns);
	forward_board_put(f->board, &f->upstreams, &f->tcp);
	return is_broken || n == ROUND_MAX;
}

bool forward_is_busy(const struct forward *f)
{
	return f->n_used;
}

/* --- Beginning and end ------------------------------------------------------------------------ */

static int init_forward_upstreams(struct upstreams *us, const struct resolver_config *c, char *err,
				  size_t cap)
{
	struct upstreams_config config = {
		.addresses = c->forwards,
		.has_names = c->transport == RESOLVER_TLS,
		.allow_localhost = c->query_localhost,
		.wait_max_ms = c->upstream_timeout_ms,
		.window_max = c->upstream_max,
	};

	if (c->transport != RESOLVER_UDP && config.window_max > FORWARD_TCP_IN_FLIGHT)
		config.window_max = FORWARD_TCP_IN_FLIGHT;
	return upstreams_init(us, &config, err, cap);
}

static int init_channels(struct forward *f, const struct resolver_config *config,
			 struct event_base *base)
{
	const struct forward_events events = forward_reply_events(f);
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
		.tls = f->tls,
		.n_sent = &f->counters->queries_tcp,
		.n_tls_failed = &f->counters->tls_failed,
	};
	int code = forward_udp_init(&f->udp, &udp);

	return code ? code : forward_tcp_init(&f->tcp, &tcp);
}

static int init_caps_exempt(struct nameset *names, const char *const *list)
{
	int code = nameset_init(names, nameset_length(list));

	if (!code)
		code = nameset_add_all(names, list);
	nameset_sort(names);
	return code;
}

static int init_forward(struct forward *f, const struct resolver_config *config,
			struct event_base *base, char *err, size_t cap)
{
	int code = init_forward_upstreams(&f->upstreams, config, err, cap);

	ranks_init(&f->waiting);
	ranks_init(&f->sent);
	CDS_INIT_LIST_HEAD(&f->free);
	random_init(&f->random);
	for (unsigned int i = 0; i < f->upstreams.n; i++)
		upstream_cookie_init(&f->upstreams.all[i].cookie, random_u64(&f->random));
	deadlines_init(&f->timers, clock_ns());
	f->caps_for_id = config->caps_for_id;
	f->msg_retry = config->msg_retry;
	f->tcp_only = config->transport != RESOLVER_UDP;
	f->tcp_wait_ns = config->upstream_timeout_ms * CLOCK_NS_PER_MS;
	f->n_all = GROUPS_ORPHANED_TIMES * config->upstream_max;
	f->all = calloc(f->n_all, sizeof(*f->all));
	if (!code && !f->all)
		code = -ENOMEM;
	if (!code)
		code = init_caps_exempt(&f->caps_exempt, config->caps_exempt);
	if (!code && config->transport == RESOLVER_TLS)
		code = upstreams_tls_new(&f->tls, config->tls_bundle, err, cap);
	if (!code)
		code = forward_queries_init(&f->queries, f->n_all);
	if (!code)
		code = init_channels(f, config, base);
	return code;
}

int forward_new(struct forward **out, const struct resolver_config *config, struct event_base *base,
		const struct forward_done *done, struct resolver_counters *counters,
		struct forward_board *board, char *err, size_t cap)
{
	struct forward *f = calloc(1, sizeof(*f));
	int code;

	if (!f)
		return -ENOMEM;
	f->done = *done;
	f->counters = counters;
	f->board = board;
	code = init_forward(f, config, base, err, cap);
	if (code) {
		forward_free(f);
		return code;
	}
	forward_board_init(f->board, &f->upstreams,
			   &(struct forward_ways){ .tcp_only = f->tcp_only,
						   .has_tls = f->tls,
						   .caps_for_id = f->caps_for_id });
	forward_board_put(f->board, &f->upstreams, &f->tcp);
	*out = f;
	return 0;
}

void forward_set_tap(struct forward *f, struct tap_producer *producer)
{
	f->tap = (struct forward_tap){ producer, &f->upstreams, f->tls != NULL };
}

void forward_free(struct forward *f)
{
	if (!f)
		return;
	forward_udp_fini(&f->udp);
	forward_tcp_fini(&f->tcp);
	for (uint32_t i = 0; i < f->n_fresh; i++) /* of questions that wait for a target */
		forward_chain_free(f->all[i].chain);
	SSL_CTX_free(f->tls);
	nameset_fini(&f->caps_exempt);
	forward_queries_fini(&f->queries);
	free(f->all);
	free(f);
}
