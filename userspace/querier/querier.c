/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/querier.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "dns/edns.h"
#include "querier/querier_state.h"
#include "resolver/config_wire.h"

/* --- Start ------------------------------------------------------------------------------------ */

static int copy_querier_config(struct querier *q, const struct resolver_config *config,
			       const struct querier_env *env)
{
	size_t n = config_wire_write(NULL, 0, config);

	q->config = malloc(n);
	if (!q->config)
		return -ENOMEM;
	if (n > UINT32_MAX || config_wire_write(q->config, n, config) != n)
		return -E2BIG;
	q->session_config = (struct session_config){
		.program = env->program,
		.bells = env->bells,
		.config = q->config,
		.sizes = { .n_threads = config->n_threads,
			   .n_desks = q->n_desks,
			   .n_targets = (uint32_t)targets_n_rows(config),
			   .config_bytes = (uint32_t)n },
		.tap = env->tap,
	};
	q->memory_max_bytes = config->memory_max_bytes;
	return forward_suits(config) ? 0 : targets_init(&q->targets, config, &q->none);
}

static int open_worker_desks(struct querier *q, uint32_t n_tickets)
{
	int err = 0;

	q->desks = calloc(q->n_desks + 1, sizeof(*q->desks));
	if (!q->desks)
		return -ENOMEM;
	for (unsigned int i = 0; i < q->n_desks && !err; i++) {
		q->desks[i].number = i;
		q->desks[i].now = &q->now;
		q->desks[i].ended_ns = &q->ended_ns;
		q->desks[i].suspects = q->suspects;
		err = worker_desk_open(&q->desks[i], n_tickets);
	}
	return err;
}

/* The main thread handles signals, so the new thread inherits a full mask. */
static int start_watch(struct querier *q)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&q->watch, NULL, watch_run, q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -err;
	q->has_watch = true;
	pthread_setname_np(q->watch, "volley-querier");
	return 0;
}

static int wait_for_start(struct querier *q, char *err, size_t cap)
{
	pthread_mutex_lock(&q->lock);
	while (!q->has_started)
		pthread_cond_wait(&q->changed, &q->lock);
	pthread_mutex_unlock(&q->lock);
	if (*q->first_err)
		snprintf(err, cap, "%s", q->first_err);
	return q->first_code;
}

static int open_querier(struct querier *q, const struct resolver_config *config,
			const struct querier_env *env, char *err, size_t cap)
{
	int code = !config->n_threads || config->n_threads > RESOLVER_THREADS_MAX ? -EINVAL : 0;

	if (!code)
		code = suspects_new(&q->suspects);
	q->wake_fd = code ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!code && q->wake_fd < 0)
		code = -errno;
	if (!code)
		code = copy_querier_config(q, config, env);
	if (!code)
		code = open_worker_desks(q, config->max_outstanding);
	if (!code)
		code = start_watch(q);
	return code ? code : wait_for_start(q, err, cap);
}

int querier_start(struct querier **out, const struct resolver_config *config,
		  const struct querier_env *env, char *err, size_t cap)
{
	struct querier *q = calloc(1, sizeof(*q));
	int code;

	if (!q)
		return -ENOMEM;
	q->n_desks = env->bells ? env->bells->n : 0;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	code = open_querier(q, config, env, err, cap);
	if (code) {
		querier_stop(q);
		querier_free(q);
		return code;
	}
	*out = q;
	return 0;
}

/* --- Questions -------------------------------------------------------------------------------- */

void querier_submit(struct querier *q, unsigned int worker,
		    struct resolver_question *const *questions, unsigned int n)
{
	worker_desk_submit(&q->desks[worker], questions, n);
}

struct resolver_question *querier_take(struct querier *q, unsigned int worker)
{
	return worker_desk_take(&q->desks[worker], clock_ns());
}

/* --- End -------------------------------------------------------------------------------------- */

void querier_stop(struct querier *q)
{
	for (unsigned int i = 0; q->desks && i < q->n_desks; i++)
		worker_desk_stop(&q->desks[i]);
	if (!q->has_watch)
		return;
	__atomic_store_n(&q->stops, true, __ATOMIC_RELEASE);
	(void)eventfd_write(q->wake_fd, 1);
	pthread_join(q->watch, NULL);
	q->has_watch = false;
}

void querier_free(struct querier *q)
{
	if (!q)
		return;
	for (unsigned int i = 0; q->desks && i < q->n_desks; i++)
		worker_desk_close(&q->desks[i]);
	if (q->wake_fd >= 0)
		close(q->wake_fd);
	targets_fini(&q->targets);
	free(q->desks);
	free(q->suspects);
	free(q->config);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* --- For people ------------------------------------------------------------------------------- */

static void add_counters(struct resolver_counters *sum, const struct resolver_counters *of)
{
#define ADD(name, words) sum->name += of->name;
	RESOLVER_COUNTERS(ADD)
#undef ADD
	histogram_read(&of->took, &sum->took);
}

void querier_count(struct querier *q, struct resolver_counters *out)
{
	struct resolver_counters sum = q->counted, of;

	if (q->shown) {
		board_counters(&q->shown->boards, q->shown->layout.sizes.n_threads, &of);
		add_counters(&sum, &of);
	}
	*out = sum;
}

/* What the desks have counted themselves: questions that the process never ended. */
static void add_desks(const struct querier *q, struct resolver_counters *out)
{
	for (unsigned int i = 0; i < q->n_desks; i++) {
		const struct desk_counters *c = &q->desks[i].counters;
		uint64_t lost = __atomic_load_n(&c->lost, __ATOMIC_RELAXED);
		uint64_t waited = __atomic_load_n(&c->waited, __ATOMIC_RELAXED);
		uint64_t refused = __atomic_load_n(&c->refused, __ATOMIC_RELAXED);
		uint64_t limited = __atomic_load_n(&c->limited, __ATOMIC_RELAXED);

		out->outstanding += __atomic_load_n(&c->outstanding, __ATOMIC_RELAXED);
		out->lost += lost + waited;
		out->suspected += refused;
		out->limited_outstanding += limited;
		out->asked += lost + waited + refused + limited;
	}
}

void querier_report_read(struct querier *q, struct querier_report *out)
{
	*out = (struct querier_report){ .refuses = suspects_any(q->suspects, clock_ns()) };
	pthread_mutex_lock(&q->lock);
	querier_count(q, &out->counters);
	out->n_restarts = q->n_restarts;
	out->pid = q->shown ? q->shown->pid : 0;
	out->rss_bytes = q->shown ? __atomic_load_n(&q->shown->resident_bytes, __ATOMIC_RELAXED) :
				    0;
	snprintf(out->libunbound, sizeof(out->libunbound), "%s", q->libunbound);
	snprintf(out->problem, sizeof(out->problem), "%s", q->problem);
	pthread_mutex_unlock(&q->lock);
	add_desks(q, &out->counters);
}
