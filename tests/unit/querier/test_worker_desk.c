/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A worker's desk, and in place of the resolver's process this test, which also writes nonsense. */
#include "querier/trials.h"
#include "querier/worker_desk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "dns/edns.h"
#include "dns/proto.h"

#define N_TICKETS 4u
#define FAR_NS    (3600 * CLOCK_NS_PER_S)

static const uint8_t message[] = "a message of more than 12 octets";

static struct session *now;
static struct session sessions[2];
static uint64_t ended_ns;
static struct worker_desk desk;
static struct inbox inbox;
static struct resolver_question questions[N_TICKETS + 1];

/* The process's side. */
static struct byte_ring_reader asked;
static struct byte_ring_writer replies;

static void open_session(struct session *s)
{
	const struct shared_sizes sizes = { .n_threads = 1, .n_desks = 1 };

	*s = (struct session){ 0 };
	shared_layout_make(&s->layout, &sizes);
	s->memory = aligned_alloc(4096, s->layout.total);
	assert_non_null(s->memory);
	memset(s->memory, 0, s->layout.total);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s->doors[0]), 0);
	byte_ring_reader_init(&asked, session_questions(s, 0), SHARED_QUESTIONS_CAP);
	byte_ring_writer_init(&replies, session_replies(s, 0), SHARED_REPLIES_CAP);
}

static void close_session(struct session *s)
{
	if (!s->memory)
		return;
	close(s->doors[0][0]);
	close(s->doors[0][1]);
	free(s->memory);
	s->memory = NULL;
}

static struct resolver_question *question(unsigned int i)
{
	struct resolver_question *q = &questions[i];

	*q = (struct resolver_question){ .inbox = &inbox,
					 .qtype = DNS_TYPE_A,
					 .qclass = DNS_CLASS_IN,
					 .deadline_ns = clock_ns() + FAR_NS };
	q->name[0] = 1;
	q->name[1] = (uint8_t)('a' + i);
	return q;
}

static void submit_question(unsigned int i)
{
	struct resolver_question *q = question(i);

	worker_desk_submit(&desk, &q, 1);
}

static int begin(void **state)
{
	(void)state;
	memset(sessions, 0, sizeof(sessions));
	open_session(&sessions[0]);
	now = &sessions[0];
	ended_ns = 0;
	desk = (struct worker_desk){ .now = &now, .ended_ns = &ended_ns };
	assert_int_equal(suspects_new(&desk.suspects), 0);
	assert_int_equal(worker_desk_open(&desk, N_TICKETS), 0);
	return inbox_open(&inbox);
}

static int end(void **state)
{
	(void)state;
	worker_desk_close(&desk);
	free(desk.suspects);
	inbox_close(&inbox);
	close_session(&sessions[0]);
	close_session(&sessions[1]);
	return 0;
}

/* Takes the question that the process would read next. */
static struct shared_question next_asked(void)
{
	struct shared_question q;
	int64_t bytes = byte_ring_next(&asked);

	assert_true(bytes > (int64_t)sizeof(q));
	byte_ring_copy(&asked, 0, &q, sizeof(q));
	byte_ring_pop(&asked, bytes);
	return q;
}

static struct shared_reply reply_to(const struct shared_question *q)
{
	return (struct shared_reply){ .slot = q->slot,
				      .turn = q->turn,
				      .msg_bytes = sizeof(message),
				      .has_msg = 1,
				      .ede_code = EDNS_NO_EDE,
				      .security = RESOLVER_SECURE };
}

static void put_reply(const struct shared_reply *reply, const char *text)
{
	const struct iovec parts[] = {
		{ (void *)(uintptr_t)reply, sizeof(*reply) },
		{ (void *)(uintptr_t)message, reply->has_msg ? sizeof(message) : 0 },
		{ (void *)(uintptr_t)text, text ? strlen(text) : 0 },
	};

	assert_true(byte_ring_put(&replies, parts, 3));
	(void)byte_ring_publish(&replies);
}

static void a_reply_comes_back(void **state)
{
	struct shared_reply reply;
	struct shared_question q;
	struct resolver_question *back;

	(void)state;
	for (int i = 0; i < 20; i++) { /* each ticket is used again */
		submit_question(0);
		q = next_asked();
		reply = reply_to(&q);
		reply.has_text = 1;
		reply.text_bytes = 3;
		put_reply(&reply, "why");
		back = worker_desk_take(&desk, clock_ns());
		assert_ptr_equal(back, &questions[0]);
		assert_null(resolver_next(back));
		assert_int_equal(back->msg_bytes, sizeof(message));
		assert_memory_equal(back->msg, message, sizeof(message));
		assert_string_equal(back->text, "why");
		assert_int_equal(back->security, RESOLVER_SECURE);
		assert_int_equal(desk.counters.outstanding, 0);
		resolver_release(back);
	}
	assert_false(sessions[0].is_nonsense);
}

static void without_a_ticket_it_comes_back_at_once(void **state)
{
	struct resolver_question *back;

	(void)state;
	for (unsigned int i = 0; i <= N_TICKETS; i++)
		submit_question(i);
	back = resolver_take(&inbox);
	assert_ptr_equal(back, &questions[N_TICKETS]);
	assert_int_equal(back->rcode, DNS_RCODE_SERVFAIL);
	assert_int_equal(desk.counters.limited, 1);
	assert_int_equal(desk.counters.outstanding, N_TICKETS);
	worker_desk_stop(&desk);
}

static void reply_next(void)
{
	const struct shared_question q = next_asked();
	const struct shared_reply reply = reply_to(&q);

	put_reply(&reply, NULL);
}

static bool is_asked(void)
{
	return byte_ring_next(&asked) != BYTE_RING_EMPTY;
}

/* The process ends, and the next one serves. Returns what the desk gives back. */
static struct resolver_question *end_session(bool was_killed)
{
	struct session *next = now == &sessions[0] ? &sessions[1] : &sessions[0];
	struct resolver_question *back;

	now->was_killed = was_killed;
	ended_ns = clock_ns();
	now = NULL;
	back = worker_desk_take(&desk, ended_ns);
	assert_null(desk.used); /* the memory of the old session may go */
	close_session(next);
	open_session(next);
	next->is_isolated = !was_killed;
	now = next;
	assert_null(worker_desk_take(&desk, clock_ns()));
	return back;
}

static void expect_answer(unsigned int i, uint64_t now_ns)
{
	struct resolver_question *back = worker_desk_take(&desk, now_ns);

	assert_ptr_equal(back, &questions[i]);
	assert_null(resolver_next(back));
	assert_int_equal(back->rcode, DNS_RCODE_NOERROR);
	resolver_release(back);
}

static void expect_refusal(const struct resolver_question *back, unsigned int i)
{
	assert_ptr_equal(back, &questions[i]);
	assert_null(resolver_next(back));
	assert_int_equal(back->rcode, DNS_RCODE_SERVFAIL);
	assert_int_equal(back->ede_code, DNS_EDE_OTHER);
	assert_true(suspects_refuse(desk.suspects, back, clock_ns()));
}

/* The next process is asked what the last one had, and then what has come since. */
static void an_end_costs_nothing(void **state)
{
	struct resolver_question *back;

	(void)state;
	submit_question(0);
	submit_question(1);
	submit_question(2);
	reply_next(); /* the first one is answered just before the end */
	now->was_killed = true;
	ended_ns = clock_ns();
	now = NULL;
	submit_question(3);
	back = worker_desk_take(&desk, clock_ns());
	assert_ptr_equal(back, &questions[0]);
	assert_int_equal(back->rcode, DNS_RCODE_NOERROR);
	assert_null(resolver_next(back));
	resolver_release(back);
	assert_int_equal(desk.counters.outstanding, 3);

	open_session(&sessions[1]);
	now = &sessions[1];
	assert_null(worker_desk_take(&desk, clock_ns()));
	for (unsigned int i = 1; i <= 3; i++) {
		reply_next();
		expect_answer(i, clock_ns());
	}
	assert_int_equal(desk.counters.lost, 0);
	assert_int_equal(desk.counters.outstanding, 0);
}

static void end_isolation(void)
{
	now->is_isolated = false;
	assert_null(worker_desk_take(&desk, clock_ns()));
}

/* One of three questions ends the process: it alone is refused. New ones wait for the trials. */
static void a_trial_shows_the_reason(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		submit_question(i);
	assert_null(end_session(false));
	submit_question(3);
	reply_next();
	expect_answer(0, clock_ns());
	assert_int_equal(next_asked().slot, 1);
	assert_false(is_asked());
	expect_refusal(end_session(false), 1);
	assert_int_equal(desk.counters.lost, 1);

	reply_next(); /* the trial of the third one */
	expect_answer(2, clock_ns());
	assert_true(trials_are_done(&desk.suspects->trials));
	assert_false(is_asked());
	end_isolation();
	reply_next();
	expect_answer(3, clock_ns());
	assert_false(suspects_refuse(desk.suspects, &questions[2], clock_ns()));
	assert_int_equal(desk.counters.outstanding, 0);
}

/* When the isolation has ended, a new question may be the reason: none is guilty yet. One that was
 * under way at three ends is. */
static void without_isolation_none_is_guilty_at_once(void **state)
{
	(void)state;
	submit_question(0);
	assert_null(end_session(false));
	end_isolation();
	submit_question(1);
	assert_int_equal(next_asked().slot, 0);
	assert_int_equal(next_asked().slot, 1);
	assert_null(end_session(false));
	assert_int_equal(next_asked().slot, 0);
	assert_false(is_asked());
	end_isolation();
	expect_refusal(end_session(false), 0);
	reply_next();
	expect_answer(1, clock_ns());
}

/* Two of several clients ask for the same: after the trial of the first, the second is refused. */
static void a_reason_is_tried_once(void **state)
{
	struct resolver_question *back, *q = question(1);

	(void)state;
	submit_question(0);
	q->name[1] = questions[0].name[1];
	worker_desk_submit(&desk, &q, 1);
	assert_null(end_session(false));
	ended_ns = clock_ns();
	now = NULL;
	expect_refusal(worker_desk_take(&desk, ended_ns), 0);
	close_session(&sessions[0]);
	open_session(&sessions[0]);
	now = &sessions[0];
	back = worker_desk_take(&desk, clock_ns());
	assert_ptr_equal(back, &questions[1]);
	assert_int_equal(back->rcode, DNS_RCODE_SERVFAIL);
	assert_false(is_asked());
	assert_int_equal(desk.counters.refused, 1);
}

/* Killed twice while a question is under way: perhaps the kernel did it, for the memory. */
static void a_second_kill_is_a_failure(void **state)
{
	(void)state;
	submit_question(0);
	submit_question(1);
	assert_null(end_session(true));
	assert_null(end_session(true));
	assert_int_equal(next_asked().slot, 0);
	assert_false(is_asked());
	expect_refusal(end_session(true), 0);
	reply_next();
	expect_answer(1, clock_ns());
}

/* A question that gets no reply does not hold the others. If two are tried at an end, both are
 * tried again. */
static void a_trial_does_not_hold_others(void **state)
{
	uint64_t now_ns;

	(void)state;
	submit_question(0);
	submit_question(1);
	assert_null(end_session(false));
	assert_int_equal(next_asked().slot, 0);
	now_ns = desk.suspects->trials.next_ns;
	assert_null(worker_desk_take(&desk, now_ns - 1));
	assert_false(is_asked());
	assert_null(worker_desk_take(&desk, now_ns));
	assert_int_equal(next_asked().slot, 1);
	assert_null(end_session(false));
	assert_false(suspects_any(desk.suspects, clock_ns()));
	reply_next();
	expect_answer(0, clock_ns());
	assert_int_equal(next_asked().slot, 1);
	expect_refusal(end_session(false), 1);
}

/* A question whose turn does not come is a suspect, as one that was overdue at the end. */
static void a_trial_has_a_deadline(void **state)
{
	struct resolver_question *back;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		submit_question(0);
		submit_question(1);
		questions[1].deadline_ns -= FAR_NS / 2;
		assert_null(end_session(false));
		back = worker_desk_take(&desk, questions[1].deadline_ns);
		assert_ptr_equal(back, &questions[1]);
		assert_int_equal(back->rcode, DNS_RCODE_SERVFAIL);
		assert_int_equal(desk.counters.waited, i + 1);
		assert_int_equal(desk.suspects->trials.n_waiting, 0);
		reply_next();
		expect_answer(0, clock_ns());
		end_isolation();
	}
	assert_true(suspects_refuse(desk.suspects, question(1), clock_ns()));
}

/* Two desks try their questions in turn. */
static void desks_share_trials(void **state)
{
	struct suspects *all = desk.suspects;
	struct worker_desk other = { .now = &now, .ended_ns = &ended_ns, .suspects = all };
	struct ticket *t;

	(void)state;
	assert_int_equal(worker_desk_open(&other, N_TICKETS), 0);
	other.tickets[0].question = question(1);
	trial_add(&other, &other.tickets[0]);
	submit_question(0);
	assert_null(end_session(false)); /* this desk tries its question */
	assert_null(trial_next(&other, all->trials.next_ns - 1));
	reply_next();
	expect_answer(0, clock_ns());
	t = trial_next(&other, all->trials.next_ns - 1);
	assert_ptr_equal(t, &other.tickets[0]);
	other.used = now;
	assert_true(trial_convicts(&other, t));
	trial_end(&other, t);
	assert_int_equal(all->trials.n_tried, 0);
	worker_desk_close(&other);
}

static void a_line_waits_until_its_deadline(void **state)
{
	struct resolver_question *back;

	(void)state;
	now = NULL;
	submit_question(0);
	submit_question(1);
	assert_null(worker_desk_take(&desk, questions[0].deadline_ns - 1));
	questions[1].deadline_ns += 2;
	back = worker_desk_take(&desk, questions[0].deadline_ns);
	assert_ptr_equal(back, &questions[0]);
	assert_null(resolver_next(back));
	assert_int_equal(back->rcode, DNS_RCODE_SERVFAIL);
	assert_int_equal(desk.counters.waited, 1);
	back = worker_desk_take(&desk, questions[1].deadline_ns);
	assert_ptr_equal(back, &questions[1]);
}

/* The process hangs: its questions come back by their deadlines. A later reply to one of them is no
 * nonsense, but a second one is. */
static void while_it_is_quiet_deadlines_hold(void **state)
{
	struct shared_question q;
	struct shared_reply reply;
	struct resolver_question *back;
	uint64_t due_ns;

	(void)state;
	submit_question(0);
	submit_question(1);
	questions[1].deadline_ns += FAR_NS;
	due_ns = questions[0].deadline_ns;
	assert_null(worker_desk_take(&desk, due_ns)); /* the process keeps the deadlines itself */
	sessions[0].is_quiet = true;
	assert_null(worker_desk_take(&desk, due_ns - 1));
	back = worker_desk_take(&desk, due_ns + FAR_NS / 2);
	assert_ptr_equal(back, &questions[0]);
	assert_null(resolver_next(back));
	assert_int_equal(back->rcode, DNS_RCODE_SERVFAIL);
	assert_int_equal(back->ede_code, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_int_equal(desk.counters.outstanding, 2); /* the watching thread still sees a hang */
	q = next_asked();
	reply = reply_to(&q);
	put_reply(&reply, NULL);
	assert_null(worker_desk_take(&desk, due_ns));
	assert_int_equal(desk.counters.outstanding, 1);
	put_reply(&reply, NULL);
	assert_null(worker_desk_take(&desk, due_ns));
	assert_true(sessions[0].is_nonsense);
	worker_desk_stop(&desk);
}

/* A question that hangs the process is a suspect, although it came back before the end. */
static void an_overdue_question_is_a_suspect(void **state)
{
	struct resolver_question *back;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		submit_question(0);
		now->is_quiet = true;
		back = worker_desk_take(&desk, questions[0].deadline_ns + i * FAR_NS);
		assert_ptr_equal(back, &questions[0]);
		ended_ns = clock_ns();
		now = NULL;
		assert_null(worker_desk_take(&desk, ended_ns));
		assert_int_equal(desk.counters.lost, i + 1);
		assert_int_equal(desk.counters.outstanding, 0);
		close_session(&sessions[1 - i]);
		open_session(&sessions[1 - i]);
		now = &sessions[1 - i];
		assert_null(worker_desk_take(&desk, ended_ns));
	}
	assert_true(suspects_refuse(desk.suspects, question(0), clock_ns()));
	submit_question(1);
	now->is_quiet = true;
	assert_ptr_equal(worker_desk_take(&desk, questions[1].deadline_ns + 2 * FAR_NS),
			 &questions[1]);
	worker_desk_stop(&desk);
	assert_int_equal(desk.counters.outstanding, 0);
}

/* Under way at two ends within a minute: refused, until a minute after the second. */
static void a_suspect_is_refused(void **state)
{
	/* long after the first rows, also where the machine has just started */
	const uint64_t now_ns = clock_ns() + 10 * SUSPECT_NS;
	struct resolver_question *q = question(0), *back;
	const uint64_t hash = suspects_hash(desk.suspects, q);

	(void)state;
	assert_false(suspects_note(desk.suspects, hash, 1000));
	assert_false(
		suspects_note(desk.suspects, hash, 1000)); /* another client's, at the same end */
	assert_false(suspects_note(desk.suspects, hash, 1001 + SUSPECT_NS)); /* too long ago */
	assert_false(suspects_any(desk.suspects, 1001 + SUSPECT_NS));
	assert_false(suspects_note(desk.suspects, hash, now_ns));
	assert_true(suspects_note(desk.suspects, hash, now_ns + 1));
	assert_true(suspects_refuse(desk.suspects, q, now_ns));
	assert_false(suspects_refuse(desk.suspects, question(1), now_ns));
	q = question(0);
	q->name[1] = 'A'; /* letter case is no way round it */
	assert_true(suspects_refuse(desk.suspects, q, now_ns));
	assert_false(suspects_refuse(desk.suspects, q, now_ns + 2 * SUSPECT_NS));
	worker_desk_submit(&desk, &q, 1);
	back = resolver_take(&inbox);
	assert_ptr_equal(back, q);
	assert_int_equal(back->rcode, DNS_RCODE_SERVFAIL);
	assert_int_equal(desk.counters.refused, 1);
	assert_int_equal(byte_ring_next(&asked), BYTE_RING_EMPTY);
}

static void a_stop_gives_all_back(void **state)
{
	struct resolver_question *back;
	unsigned int n = 0;

	(void)state;
	submit_question(0);
	now = NULL;
	submit_question(1); /* the first is to be asked again, the second waits */
	worker_desk_stop(&desk);
	for (back = resolver_take(&inbox); back; back = resolver_next(back))
		n++;
	assert_int_equal(n, 2);
	assert_int_equal(questions[1].ede_code, DNS_EDE_NOT_READY);
	assert_int_equal(desk.counters.outstanding, 0);
}

/* Each makes one reply wrong. */
static void make_slot_wrong(struct shared_reply *r)
{
	r->slot = 1;
}
static void make_slot_huge(struct shared_reply *r)
{
	r->slot = UINT32_MAX;
}
static void make_turn_wrong(struct shared_reply *r)
{
	r->turn++;
}
static void make_rcode_wrong(struct shared_reply *r)
{
	r->rcode = 0x1000;
}
static void make_security_wrong(struct shared_reply *r)
{
	r->security = RESOLVER_SECURE + 1;
}
static void make_known_wrong(struct shared_reply *r)
{
	r->is_known = 2;
}
static void make_ede_wrong(struct shared_reply *r)
{
	r->ede_code = 65536;
}
static void make_ede_low(struct shared_reply *r)
{
	r->ede_code = -2;
}
static void make_longer(struct shared_reply *r)
{
	r->msg_bytes++;
}
static void make_shorter(struct shared_reply *r)
{
	r->msg_bytes--;
}
static void make_huge(struct shared_reply *r)
{
	r->msg_bytes = UINT32_MAX;
}
static void make_head_long(struct shared_reply *r)
{
	r->head_bytes = sizeof(message) - 11;
}
static void make_head_short(struct shared_reply *r)
{
	r->head_bytes = 11;
}
static void make_text(struct shared_reply *r)
{
	r->text_bytes = UINT32_MAX - sizeof(message) + 1;
}
static void make_flag(struct shared_reply *r)
{
	r->has_text = 0xff;
}
static void make_unsaid(struct shared_reply *r)
{
	r->has_msg = 0;
}

static void nonsense_ends_the_session(void **state)
{
	static void (*const rows[])(struct shared_reply *) = {
		make_slot_wrong,     make_slot_huge,   make_turn_wrong, make_rcode_wrong,
		make_security_wrong, make_known_wrong, make_ede_wrong,  make_ede_low,
		make_longer,         make_shorter,     make_huge,       make_head_long,
		make_head_short,     make_text,        make_flag,       make_unsaid,
	};
	struct shared_question q;
	struct shared_reply reply;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		submit_question(0);
		q = next_asked();
		reply = reply_to(&q);
		rows[i](&reply);
		put_reply(&reply, NULL);
		if (worker_desk_take(&desk, clock_ns()) || !sessions[0].is_nonsense)
			fail_msg("row %zu", i);
		worker_desk_stop(&desk);
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
	}
}

/* A second reply to the same question. */
static void a_reply_counts_once(void **state)
{
	struct shared_question q;
	struct shared_reply reply;

	(void)state;
	submit_question(0);
	q = next_asked();
	reply = reply_to(&q);
	put_reply(&reply, NULL);
	put_reply(&reply, NULL);
	assert_ptr_equal(worker_desk_take(&desk, clock_ns()), &questions[0]);
	assert_true(sessions[0].is_nonsense);
	resolver_release(&questions[0]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_reply_comes_back),
		TEST(without_a_ticket_it_comes_back_at_once),
		TEST(an_end_costs_nothing),
		TEST(a_trial_shows_the_reason),
		TEST(without_isolation_none_is_guilty_at_once),
		TEST(a_reason_is_tried_once),
		TEST(a_second_kill_is_a_failure),
		TEST(a_trial_does_not_hold_others),
		TEST(a_trial_has_a_deadline),
		TEST(desks_share_trials),
		TEST(a_line_waits_until_its_deadline),
		TEST(while_it_is_quiet_deadlines_hold),
		TEST(an_overdue_question_is_a_suspect),
		TEST(a_suspect_is_refused),
		TEST(a_stop_gives_all_back),
		TEST(nonsense_ends_the_session),
		TEST(a_reply_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
