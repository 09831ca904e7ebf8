/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unbound-event.h>

#include "base/clock.h"
#include "base/sandbox.h"
#include "base/wire.h"
#include "dns/edns.h"
#include "dns/name.h"
#include "resolver/context.h"
#include "resolver/resolver_counters.h"

#define ASK_MAX 8 /* questions to libunbound in one round: about 100 us of work each */

enum { UB_INSECURE, UB_BOGUS, UB_SECURE }; /* the values of unbound-event.h */

/* Logs a failure, and keeps it for reports. */
static void tell_thread(struct resolver_thread *t, const struct resolver_question *q,
			const struct outcome *o)
{
	const char *text = o->told ? o->told : o->text;
	uint64_t now_ns = clock_ns();

	failures_tell(&t->failures, q, o->ede_code, text, now_ns);
	failure_table_note(&t->board->failures, q, o->ede_code, text, now_ns);
}

static void complete_thread(struct resolver_thread *t, struct resolver_question *q,
			    const struct outcome *o)
{
	q->is_known = q->group == t->asking; /* ended before libunbound could ask a server */
	deadlines_remove(&q->deadline);
	groups_leave(&t->groups, q);
	t->n_waiting--;
	limits_give(t->limits, &q->place);
	if (o->rcode == DNS_RCODE_SERVFAIL && o->ede_code != DNS_EDE_NOT_READY)
		tell_thread(t, q, o);
	question_set_outcome(q, o);
	completions_add(&t->completions, q);
}

static const struct outcome outcome_timed_out = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_NO_REACHABLE_AUTHORITY,
	.text = "no answer from upstream in time",
};

static const struct outcome outcome_unasked = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "no place upstream came free in time",
};

static const struct outcome outcome_displaced = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "its place upstream went to a client with fewer questions",
};

static const struct outcome outcome_stopped = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_NOT_READY,
	.text = "the resolver stops",
};

static const struct outcome outcome_limited = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "too many queries for the servers of this zone",
};

static const struct outcome outcome_failed = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_NO_REACHABLE_AUTHORITY,
	.text = "no server gave a usable answer",
};

static const struct outcome outcome_no_memory = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "out of memory",
};

/* A bogus answer is given only to a question with checking_disabled. */
static void complete_with_answer(struct resolver_thread *t, struct resolver_question *q,
				 const struct outcome *o)
{
	struct outcome bogus = *o;

	if (o->security == RESOLVER_BOGUS && !q->checking_disabled) {
		bogus.rcode = DNS_RCODE_SERVFAIL;
		bogus.msg = NULL;
		bogus.msg_bytes = 0;
		bogus.head_bytes = 0;
		resolver_count(&t->board->counters.bogus);
		complete_thread(t, q, &bogus);
		return;
	}
	resolver_count(&t->board->counters.answered);
	if (o->security == RESOLVER_SECURE)
		resolver_count(&t->board->counters.secure);
	complete_thread(t, q, o);
}

static struct resolver_question *first_waiter(struct resolver_group *group)
{
	return cds_list_entry(group->waiters.next, struct resolver_question, waiting);
}

static void finish_with_error(struct resolver_thread *t, struct resolver_group *group,
			      const struct outcome *o, uint64_t *counter)
{
	while (!cds_list_empty(&group->waiters)) {
		resolver_count(counter);
		complete_thread(t, first_waiter(group), o);
	}
}

static void displace_thread(void *owner, struct resolver_group *group)
{
	struct resolver_thread *t = owner;

	finish_with_error(t, group, &outcome_displaced, &t->board->counters.displaced);
}

/* An answer that came: struct resolver_question. */
struct answer_bytes {
	const uint8_t *msg;
	size_t n_bytes;
	size_t head_bytes;
};

static void finish_thread_with_answer(struct resolver_thread *t, struct resolver_group *group,
				      const struct answer_bytes *answer,
				      enum resolver_security security, const char *why)
{
	const uint8_t *last = answer->msg + answer->head_bytes;
	struct outcome o = {
		.rcode = wire_load_be16(last + DNS_FLAGS_AT) & DNS_RCODE_MASK,
		.ede_code = security == RESOLVER_BOGUS ? failures_bogus_ede(why) : EDNS_NO_EDE,
		.security = security,
		.head_bytes = answer->head_bytes,
	};

	if (answer_new(&o, answer->msg, answer->n_bytes, security == RESOLVER_BOGUS ? why : NULL,
		       &t->home)) {
		finish_with_error(t, group, &outcome_no_memory, &t->board->counters.failed);
		return;
	}
	t->n_answers++;
	while (!cds_list_empty(&group->waiters))
		complete_with_answer(t, first_waiter(group), &o);
	answer_put(o.answer);
}

/* libunbound gives no reason; the relay may know one from the upstream or its connection. */
static void finish_thread_with_failure(struct resolver_thread *t, struct resolver_group *group)
{
	struct outcome o = outcome_failed;
	char told[TLS_RELAY_TEXT_CAP];
	int ede_code = EDNS_NO_EDE;

	if (t->relay)
		ede_code = tls_relay_explain(t->relay, group->name, group->qtype, clock_ns(), told,
					     sizeof(told));
	if (ede_code != EDNS_NO_EDE) {
		o.ede_code = ede_code;
		o.told = told;
	}
	finish_with_error(t, group, &o, &t->board->counters.failed);
}

static enum resolver_security security_of(int ub_security)
{
	return ub_security == UB_SECURE ? RESOLVER_SECURE :
	       ub_security == UB_BOGUS  ? RESOLVER_BOGUS :
					  RESOLVER_INSECURE;
}

/* RFC 8509: libunbound has an answer and a reason to withhold it. Unsigned ones have no reason. */
static bool is_sentinel_failure(int ub_security, const char *why)
{
	return ub_security == UB_INSECURE && why;
}

/*
 * libunbound has ended a group, perhaps already within ub_resolve_event(). No question may be asked
 * from here, because libunbound is walking its own lists.
 */
static void on_result(void *user, int rcode, void *msg, int n_bytes, int security, char *why,
		      int was_limited)
{
	struct resolver_group *group = user;
	struct resolver_thread *t = group->owner;
	bool is_answer = !rcode && msg && n_bytes >= DNS_HEADER_BYTES &&
			 !is_sentinel_failure(security, why);

	targets_on_end(&t->targets, group,
		       !is_answer           ? TARGET_FAILED :
		       security == UB_BOGUS ? TARGET_BOGUS :
					      TARGET_ANSWERED,
		       group == t->asking, clock_ns());
	if (is_answer && group != t->asking)
		histogram_add(&t->board->counters.took, clock_ns() - group->asked_ns, 1);
	if (t->denials && !rcode && msg && security == UB_SECURE)
		denials_learn(t->denials, msg, (size_t)n_bytes, clock_ns(), clock_wall_s());
	if (cds_list_empty(&group->waiters))
		resolver_count(&t->board->counters.late);
	else if (is_answer)
		finish_thread_with_answer(t, group,
					  &(struct answer_bytes){ msg, (size_t)n_bytes, 0 },
					  security_of(security), why);
	else if (was_limited)
		finish_with_error(t, group, &outcome_limited, &t->board->counters.limited_upstream);
	else
		finish_thread_with_failure(t, group);
	groups_put(&t->groups, group);
}

static void on_forwarded(void *user, struct resolver_group *group, const uint8_t *msg, size_t n,
			 size_t head_bytes)
{
	struct resolver_thread *t = user;

	if (cds_list_empty(&group->waiters))
		resolver_count(&t->board->counters.late);
	else
		finish_thread_with_answer(t, group, &(struct answer_bytes){ msg, n, head_bytes },
					  RESOLVER_INSECURE, NULL);
	groups_put(&t->groups, group);
}

static void on_not_forwarded(void *user, struct resolver_group *group, int ede_code)
{
	struct resolver_thread *t = user;
	struct outcome o = outcome_failed;

	o.ede_code = ede_code;
	finish_with_error(t, group, &o, &t->board->counters.failed);
	groups_put(&t->groups, group);
}

/* True if there may be more to ask. New questions come in between the rounds, and clients with few
 * places go first. */
static bool ask_libunbound(struct resolver_thread *t)
{
	struct resolver_group *group;
	unsigned int n = 0;

	while (n++ < ASK_MAX && (group = groups_next(&t->groups))) {
		char name[NAME_TEXT_MAX];

		(void)name_to_text(name, sizeof(name), group->name); /* room for any name */
		resolver_count(&t->board->counters.upstream);
		targets_on_asked(&t->targets, group, clock_ns());
		t->asking = group;
		if (ub_resolve_event(t->ctx[group->memory], name, group->qtype, group->qclass,
				     group, on_result, NULL))
			on_result(group, DNS_RCODE_SERVFAIL, NULL, 0, UB_INSECURE, NULL, 0);
		t->asking = NULL;
	}
	return n > ASK_MAX;
}

static void ask_thread(struct resolver_thread *t, uint64_t now_ns)
{
	if (t->forward)
		t->is_hurried = forward_round(t->forward, &t->groups, now_ns);
	else
		t->is_hurried = ask_libunbound(t);
	if (t->relay)
		t->is_hurried |= tls_relay_round(t->relay, now_ns);
}

/* Answers a question from known denials; false: it must be asked. */
static bool deny(struct resolver_thread *t, struct resolver_question *q, uint64_t now_ns)
{
	struct outcome o = { .ede_code = EDNS_NO_EDE, .security = RESOLVER_SECURE };
	const uint8_t *msg;
	size_t n;

	if (q->is_refresh || nameset_find(&t->insecure, q->name))
		return false;
	n = denials_answer(t->denials, q->name, q->qtype, q->qclass, now_ns, &msg);
	if (!n || answer_new(&o, msg, n, NULL, &t->home))
		return false;
	o.rcode = wire_load_be16(msg + DNS_FLAGS_AT) & DNS_RCODE_MASK;
	t->n_answers++;
	resolver_count(&t->board->counters.answered);
	resolver_count(&t->board->counters.secure);
	resolver_count(&t->board->counters.denied);
	limits_give(t->limits, &q->place);
	question_set_outcome(q, &o);
	q->is_known = true;
	completions_add(&t->completions, q);
	answer_put(o.answer);
	return true;
}

static void ask_later(struct resolver_thread *t, struct resolver_question *q)
{
	if (groups_join(&t->groups, q))
		resolver_count(&t->board->counters.coalesced);
	deadlines_add(&t->deadlines, &q->deadline, q->deadline_ns);
	t->n_waiting++;
}

static void take_questions(struct resolver_thread *t)
{
	struct resolver_question *q = resolver_take(&t->questions);
	uint64_t now_ns = t->denials ? clock_ns() : 0;

	while (q) {
		struct resolver_question *next = resolver_next(q);

		resolver_count(&t->board->counters.asked);
		if (!t->denials || !deny(t, q, now_ns))
			ask_later(t, q);
		q = next;
	}
}

static void on_wake(evutil_socket_t fd, short events, void *user)
{
	(void)fd, (void)events;
	take_questions(user);
}

/* The event only ends the sleep. */
static void on_thread_tick(evutil_socket_t fd, short events, void *user)
{
	(void)fd, (void)events, (void)user;
}

static void expire_thread(struct resolver_thread *t, uint64_t now_ns)
{
	struct cds_list_head over;
	struct deadline *entry, *next;

	CDS_INIT_LIST_HEAD(&over);
	deadlines_expire(&t->deadlines, now_ns, &over);
	cds_list_for_each_entry_safe(entry, next, &over, node) {
		struct resolver_question *q =
			caa_container_of(entry, struct resolver_question, deadline);
		bool was_asked = q->group->asked;

		resolver_count(&t->board->counters.timed_out);
		resolver_count_n(&t->board->counters.unasked, !was_asked);
		if (was_asked && !t->forward)
			targets_on_timeout(&t->targets, q->group);
		complete_thread(t, q, was_asked ? &outcome_timed_out : &outcome_unasked);
	}
}

/* The thread ticks while it has deadlines or unreleased answers: answer_put() does not wake it. */
static void set_tick(struct resolver_thread *t)
{
	struct timeval after = { .tv_usec = DEADLINES_TICK_NS / 1000 };
	bool is_busy = t->n_waiting || t->n_answers ||
		       (t->forward && forward_is_busy(t->forward)) ||
		       (t->relay && tls_relay_is_busy(t->relay));

	if (is_busy && !evtimer_pending(t->tick, NULL))
		(void)evtimer_add(t->tick, &after);
}

static void stop_all(struct resolver_thread *t)
{
	take_questions(t);
	for (uint64_t i = 0; i <= t->groups.table_mask; i++) {
		struct resolver_group *group, *next;

		cds_list_for_each_entry_safe(group, next, &t->groups.table[i], chain)
			finish_with_error(t, group, &outcome_stopped, &t->board->counters.stopped);
	}
	completions_flush(&t->completions);
}

static void call_guests(struct resolver_thread *t)
{
	struct thread_guest *guest;

	cds_list_for_each_entry(guest, &t->guests, node)
		guest->round(guest);
}

static void show_heartbeat(struct resolver_thread *t, uint64_t now_ns)
{
	__atomic_store_n(&t->board->heartbeat_ns, now_ns, __ATOMIC_RELAXED);
}

static void *run_thread(void *arg)
{
	struct resolver_thread *t = arg;

	sandbox_enter(SANDBOX_RESOLVER);
	while (!__atomic_load_n(&t->stopping, __ATOMIC_ACQUIRE)) {
		uint64_t now_ns;

		(void)event_base_loop(t->base, t->is_hurried ? EVLOOP_NONBLOCK : EVLOOP_ONCE);
		now_ns = clock_ns();
		expire_thread(t, now_ns);
		ask_thread(t, now_ns);
		t->n_answers -= answers_free_home(&t->home);
		completions_flush(&t->completions);
		call_guests(t);
		set_tick(t);
		show_heartbeat(t, now_ns);
	}
	stop_all(t);
	return NULL;
}

/* The main thread handles signals, so the new thread inherits a full mask. */
int thread_start(struct resolver_thread *t)
{
	sigset_t all, old;
	char name[16];
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&t->pthread, NULL, run_thread, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -err;
	t->running = true;
	snprintf(name, sizeof(name), "volley-r%u", t->id % 1000);
	pthread_setname_np(t->pthread, name);
	return 0;
}

void thread_stop(struct resolver_thread *t)
{
	if (!t->running)
		return;
	__atomic_store_n(&t->stopping, true, __ATOMIC_RELEASE);
	inbox_wake(&t->questions);
	pthread_join(t->pthread, NULL);
	t->running = false;
}

bool thread_is_released(struct resolver_thread *t)
{
	t->n_answers -= answers_free_home(&t->home);
	return !t->n_answers;
}

static int open_thread_events(struct resolver_thread *t)
{
	t->base = event_base_new();
	if (!t->base)
		return -ENOMEM;
	t->wake = event_new(t->base, t->questions.fd, EV_READ | EV_PERSIST, on_wake, t);
	t->tick = evtimer_new(t->base, on_thread_tick, t);
	if (!t->wake || !t->tick || event_add(t->wake, NULL))
		return -ENOMEM;
	return 0;
}

static int open_contexts(struct resolver_thread *t, const struct resolver_config *config, char *err,
			 size_t cap)
{
	int code = 0;

	if (tls_relay_is_needed(config)) {
		code = tls_relay_new(&t->relay, config, t->base, &t->board->counters,
				     &t->board->forward, err, cap);
		config = code ? config : tls_relay_config(t->relay);
	}
	for (unsigned int i = 0; i < RESOLVER_MEMORIES && !code; i++) {
		const struct resolver_config share = context_share(config, i);

		code = context_open(&t->ctx[i], &share, t->base, err, cap);
	}
	return code;
}

/* A validated record denies no name that is not validated. */
static int open_denials(struct resolver_thread *t, const struct resolver_config *config)
{
	int code = nameset_init(&t->insecure, nameset_length(config->insecure) + SPECIAL_NAMES_N);

	if (!code)
		code = nameset_add_all(&t->insecure, config->insecure);
	if (!code)
		code = nameset_add_all(&t->insecure, special_names);
	nameset_sort(&t->insecure);
	return code ? code : denials_new(&t->denials, config);
}

static int open_upstream(struct resolver_thread *t, const struct resolver_config *config, char *err,
			 size_t cap)
{
	const struct forward_done done = { t, on_forwarded, on_not_forwarded };

	if (!forward_suits(config)) {
		int code = targets_init(&t->targets, config, t->board->targets);

		if (!code && denials_suit(config))
			code = open_denials(t, config);
		return code ? code : open_contexts(t, config, err, cap);
	}
	t->groups.keeps_cd = true;
	return forward_new(&t->forward, config, t->base, &done, &t->board->counters,
			   &t->board->forward, err, cap);
}

int thread_open(struct resolver_thread *t, const struct resolver_config *config, char *err,
		size_t cap)
{
	int code;

	CDS_INIT_LIST_HEAD(&t->guests);
	deadlines_init(&t->deadlines, clock_ns());
	t->home = (struct inbox)INBOX_QUIET;
	code = inbox_open(&t->questions);
	if (!code)
		code = groups_init(&t->groups, config->max_outstanding, config->upstream_max, t);
	t->groups.displace = displace_thread;
	if (!code)
		code = open_thread_events(t);
	if (!code)
		code = open_upstream(t, config, err, cap);
	/* libunbound's own queries are not reported: docs/decisions/0051. */
	if (!code && t->forward)
		forward_set_tap(t->forward, t->told);
	if (!code && t->relay)
		tls_relay_set_tap(t->relay, t->told);
	return code;
}

void thread_close(struct resolver_thread *t)
{
	for (unsigned int i = 0; i < RESOLVER_MEMORIES; i++)
		ub_ctx_delete(t->ctx[i]);
	tls_relay_free(t->relay);
	forward_free(t->forward);
	denials_free(t->denials);
	nameset_fini(&t->insecure);
	targets_fini(&t->targets);
	if (t->wake)
		event_free(t->wake);
	if (t->tick)
		event_free(t->tick);
	if (t->base)
		event_base_free(t->base);
	groups_fini(&t->groups);
	(void)answers_free_home(&t->home);
	inbox_close(&t->questions);
}
