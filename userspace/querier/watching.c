/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watching thread of a querier: it starts the resolver's process, looks after it four times a
 * second, ends one that must end, and starts the next.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/parent.h"
#include "base/sandbox.h"
#include "querier/querier_state.h"
#include "querier/trials.h"

#define WATCH_MS          250
#define WATCH_ISOLATED_MS 5
#define WATCH_DOWN_MS     50    /* while nothing serves, or trials wait: how often desks look */
#define START_MS          30000 /* libunbound may have large files to read */
#define END_MS            2000
#define RETRY_NS          1000000000ULL /* after a start that failed, or many ends in a minute */
#define MANY_STARTS_NS    60000000000ULL
#define QUIET_NS          1000000000ULL /* without a round of a thread: it gets a knock */
#define HANG_NS           4000000000ULL /* after the knock: it hangs */
#define WEIGH_NS          1000000000ULL
#define PROBLEM_NS        60000000000ULL /* how long the last end is shown */

/* --- The end of a process --------------------------------------------------------------------- */

static void ring_all(const struct querier *q)
{
	for (unsigned int i = 0; i < q->n_desks; i++)
		bells_ring(q->session_config.bells, i);
}

static bool is_used(const struct querier *q, const struct session *s)
{
	for (unsigned int i = 0; i < q->n_desks; i++)
		if (__atomic_load_n(&q->desks[i].used, __ATOMIC_SEQ_CST) == s)
			return true;
	return false;
}

/* Frees the memory of sessions that no desk uses any more. */
static void free_past(struct querier *q)
{
	struct session **at = &q->past;

	while (*at) {
		struct session *s = *at;

		if (is_used(q, s)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		session_free(s);
	}
}

static void describe_end(const struct session *s, int status, const char *why, char *out,
			 size_t cap)
{
	uint64_t s_lived = (clock_ns() - s->started_ns) / CLOCK_NS_PER_S;

	if (*why)
		snprintf(out, cap, "the resolver's process was ended after %llu s: %s",
			 (unsigned long long)s_lived, why);
	else if (WIFSIGNALED(status))
		snprintf(out, cap, "the resolver's process ended after %llu s by signal %d (%s)",
			 (unsigned long long)s_lived, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(out, cap, "the resolver's process ended after %llu s with status %d",
			 (unsigned long long)s_lived, WEXITSTATUS(status));
}

/* Keeps what the process has counted. The questions that it had at its end are counted by the
 * desks, so "asked" is the sum of those that it ended. Under the lock. */
static void count_ended(struct querier *q)
{
	struct resolver_counters *c = &q->counted;

	querier_count(q, c);
	q->shown = NULL;
	c->outstanding = 0;
	c->asked = c->answered + c->bogus + c->failed + c->timed_out + c->displaced +
		   c->limited_outstanding + c->limited_client + c->limited_share +
		   c->limited_upstream + c->stopped;
}

/* Without a status, a process above it was killed. */
static bool was_killed_outside(int status)
{
	return !status || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Takes the process out of service, before it is known to be gone. */
static void retire_session(struct querier *q, struct session *s, const char *why)
{
	char text[sizeof(q->problem)];
	int status;

	session_kill(s);
	status = session_reap(s); /* first: afterwards it writes no more replies */
	s->was_killed = !*why && was_killed_outside(status);
	q->has_failed = !s->was_killed;
	__atomic_store_n(&q->ended_ns, clock_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&q->now, NULL, __ATOMIC_SEQ_CST);
	describe_end(s, status, why, text, sizeof(text));
	log_error("%s; it is started again", text);
	pthread_mutex_lock(&q->lock);
	count_ended(q);
	q->n_restarts++;
	snprintf(q->problem, sizeof(q->problem), "%s", text);
	pthread_mutex_unlock(&q->lock);
	s->next = q->past;
	q->past = s;
	ring_all(q);
}

/* --- The start of a process ------------------------------------------------------------------- */

static void show_start(struct querier *q, struct session *s, int code,
		       const struct shared_started *started)
{
	pthread_mutex_lock(&q->lock);
	if (!code) {
		q->shown = s;
		snprintf(q->libunbound, sizeof(q->libunbound), "%s", started->libunbound);
	} else if (q->has_started && strcmp(q->problem, started->err) != 0) {
		snprintf(q->problem, sizeof(q->problem), "%.*s", (int)sizeof(q->problem) - 1,
			 started->err);
		log_error("the resolver's process does not start: %s", started->err);
	}
	if (!q->has_started) {
		q->has_started = true;
		q->first_code = code;
		snprintf(q->first_err, sizeof(q->first_err), "%s", started->err);
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
}

static bool is_to_stop(const struct querier *q)
{
	return __atomic_load_n(&q->stops, __ATOMIC_ACQUIRE);
}

/* Meanwhile the workers look at the deadlines of their lines. */
static int wait_for_session(const struct querier *q, struct session *s,
			    struct shared_started *started)
{
	uint64_t end_ns = clock_ns() + START_MS * CLOCK_NS_PER_MS;
	int code;

	while ((code = session_hear(s, WATCH_DOWN_MS, started)) == -ETIMEDOUT) {
		if (is_to_stop(q) || clock_ns() > end_ns)
			break;
		ring_all(q);
	}
	return code;
}

static int start_session(struct querier *q, struct session **out)
{
	struct shared_started started = { 0 };
	struct session *s = NULL;
	int code = session_new(&s, &q->session_config);

	q->starts_ns[q->n_starts++ % WATCH_STARTS] = clock_ns();
	if (!code) {
		code = session_start(s, &q->session_config);
		if (!code)
			code = wait_for_session(q, s, &started);
		if (code)
			session_fail(s, &q->session_config, code, &started);
	}
	if (!is_to_stop(q))
		show_start(q, s, code, &started);
	if (code) {
		session_free(s);
		return code;
	}
	s->is_isolated = q->has_failed;
	q->isolated_until_ns = clock_ns() + TRIALS_NS;
	__atomic_store_n(&q->now, s, __ATOMIC_SEQ_CST);
	ring_all(q);
	*out = s;
	return 0;
}

/* When the next process may start. */
static uint64_t next_start_ns(const struct querier *q, int last_code, uint64_t now_ns)
{
	uint64_t oldest_ns = q->starts_ns[q->n_starts % WATCH_STARTS];
	bool is_often = oldest_ns && now_ns - oldest_ns < MANY_STARTS_NS;

	return last_code || is_often ? now_ns + RETRY_NS : now_ns;
}

/* --- Looking after it ------------------------------------------------------------------------- */

/* The desks have sorted out what the last process had, and all of it has been tried. */
static bool is_sorted_out(const struct querier *q, const struct session *s)
{
	for (unsigned int i = 0; i < q->n_desks; i++)
		if (__atomic_load_n(&q->desks[i].used, __ATOMIC_SEQ_CST) != s)
			return false;
	return trials_are_done(&q->suspects->trials);
}

/* How long to sleep while questions are tried. */
static int look_at_trials(const struct querier *q, struct session *s)
{
	if (s->is_isolated && (is_sorted_out(q, s) || clock_ns() > q->isolated_until_ns)) {
		__atomic_store_n(&s->is_isolated, false, __ATOMIC_SEQ_CST);
		ring_all(q);
	}
	if (s->is_isolated)
		return WATCH_ISOLATED_MS;
	return trials_are_done(&q->suspects->trials) ? WATCH_MS : WATCH_DOWN_MS;
}

static bool has_outstanding(const struct querier *q)
{
	for (unsigned int i = 0; i < q->n_desks; i++)
		if (__atomic_load_n(&q->desks[i].counters.outstanding, __ATOMIC_RELAXED))
			return true;
	return false;
}

/*
 * A thread that has made no round for a while is woken by a knock, and a healthy one then makes
 * one. So a thread that sleeps is told from one that hangs, wherever it does.
 */
static bool is_thread_hung(struct session *s, unsigned int thread, uint64_t now_ns, bool *is_quiet)
{
	const struct resolver_board *board = board_at(&s->boards, thread);
	uint64_t round_ns = __atomic_load_n(&board->heartbeat_ns, __ATOMIC_RELAXED);
	uint64_t *knocked_ns = &s->knocked_ns[thread];

	if (*knocked_ns && round_ns >= *knocked_ns)
		*knocked_ns = 0;
	*is_quiet |= *knocked_ns;
	if (*knocked_ns)
		return now_ns - *knocked_ns > HANG_NS;
	if (now_ns > round_ns && now_ns - round_ns > QUIET_NS) {
		*knocked_ns = now_ns;
		session_knock(s, thread);
	}
	return false;
}

static bool is_hung(const struct querier *q, struct session *s, uint64_t now_ns)
{
	unsigned int n = has_outstanding(q) ? s->layout.sizes.n_threads : 0;
	bool is = false, is_quiet = false;

	for (unsigned int i = 0; i < n; i++)
		is |= is_thread_hung(s, i, now_ns, &is_quiet);
	__atomic_store_n(&s->is_quiet, is_quiet, __ATOMIC_RELAXED);
	if (is_quiet)
		ring_all(q); /* the workers look at the deadlines of their questions */
	return is;
}

static bool is_too_large(const struct querier *q, struct session *s, uint64_t now_ns)
{
	if (now_ns - s->weighed_ns < WEIGH_NS)
		return false;
	s->weighed_ns = now_ns;
	session_weigh(s);
	return q->memory_max_bytes && s->resident_bytes > q->memory_max_bytes;
}

static bool has_broken_outlet(const struct session *s)
{
	for (unsigned int i = 0; s->tap && i < s->layout.sizes.n_threads; i++)
		if (!tap_outlet_is_sound(&s->outlets[i]))
			return true;
	return false;
}

/* Why the process must end; "" if it need not. */
static const char *judge_session(const struct querier *q, struct session *s)
{
	if (__atomic_load_n(&s->is_nonsense, __ATOMIC_RELAXED))
		return "its replies make no sense";
	if (has_broken_outlet(s))
		return "its reports for dnstap make no sense";
	if (is_hung(q, s, clock_ns()))
		return "it makes no progress while questions wait";
	if (is_too_large(q, s, clock_ns()))
		return "it has more memory than recursion.memory-max";
	return "";
}

/* True if the process has closed its socket, so it is gone or about to go. */
static bool is_socket_closed(const struct session *s)
{
	char octet;

	return recv(s->socket_fd, &octet, 1, MSG_DONTWAIT) >= 0 ||
	       (errno != EAGAIN && errno != EINTR);
}

static void sleep_watch(const struct querier *q, const struct session *s, int ms)
{
	struct pollfd fds[] = { { .fd = q->wake_fd, .events = POLLIN },
				{ .fd = s ? s->socket_fd : -1, .events = POLLIN } };
	eventfd_t value;

	if (poll(fds, 2, ms) > 0 && fds[0].revents)
		(void)eventfd_read(q->wake_fd, &value);
}

/* The reason of an end is shown for a minute. */
static void forget_problem(struct querier *q)
{
	pthread_mutex_lock(&q->lock);
	if (clock_ns() - q->ended_ns > PROBLEM_NS)
		*q->problem = 0;
	pthread_mutex_unlock(&q->lock);
}

/* The process runs on control's processors, which are known when the workers have theirs. */
static void follow_affinity(struct querier *q, const struct session *s)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_EQUAL(&cpus, &q->cpus))
		return;
	q->cpus = cpus;
	affinity_share(s->started.task);
}

static struct session *watch_session(struct querier *q, struct session *s)
{
	int ms = look_at_trials(q, s);
	const char *why;

	sleep_watch(q, s, ms);
	if (ms < WATCH_MS)
		ring_all(q); /* a desk may try the next one */
	free_past(q);
	session_tell_log(s);
	follow_affinity(q, s);
	if (*q->problem)
		forget_problem(q);
	why = judge_session(q, s);
	if (!*why && !is_socket_closed(s))
		return s;
	retire_session(q, s, why);
	return NULL;
}

static struct session *watch_down(struct querier *q, uint64_t *due_ns)
{
	struct session *s = NULL;
	int code;

	if (clock_ns() < *due_ns) {
		sleep_watch(q, NULL, WATCH_DOWN_MS);
		ring_all(q); /* workers look at the deadlines of their lines */
		free_past(q);
		return NULL;
	}
	code = start_session(q, &s);
	*due_ns = next_start_ns(q, code, clock_ns());
	return s;
}

static void end_last(struct querier *q, struct session *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&q->lock);
	count_ended(q);
	pthread_mutex_unlock(&q->lock);
	session_end(s, END_MS);
	(void)session_reap(s);
	__atomic_store_n(&q->now, NULL, __ATOMIC_SEQ_CST);
	session_free(s);
}

static void free_all_past(struct querier *q)
{
	while (q->past) {
		struct session *s = q->past;

		q->past = s->next;
		session_free(s);
	}
}

void *watch_run(void *querier)
{
	struct querier *q = querier;
	struct session *s = NULL;
	uint64_t due_ns = 0;

	/* Without a parent, the process gets the right to read files from this thread. */
	if (parent_is_there() ? privilege_drop_all() : privilege_drop_thread())
		log_warn("the querier's thread could not give up capabilities");
	sandbox_enter(SANDBOX_CONTROL);
	while (!is_to_stop(q)) {
		s = s ? watch_session(q, s) : watch_down(q, &due_ns);
		if (!s && q->first_code)
			break; /* querier_start() fails, and there will be no questions */
	}
	end_last(q, s);
	free_all_past(q);
	return NULL;
}
