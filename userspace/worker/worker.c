/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/sandbox.h"

#define EVENTS_CAP 64

enum command_kind {
	COMMAND_NONE,
	COMMAND_ADD,
	COMMAND_REMOVE,
	COMMAND_CALL,
	COMMAND_STOP,
};

/* It has one command at a time. Callers queue at `callers`, and `lock` guards the command. */
struct mailbox {
	pthread_mutex_t callers;
	pthread_mutex_t lock;
	pthread_cond_t done;
	enum command_kind command;
	struct port *port;
	worker_call_fn *call; /* of COMMAND_CALL */
	void *call_user;
	int result;
	int fd; /* eventfd: wakes the worker */
};

struct entry {
	struct port *port;
	uint64_t wake_at_ns;
	bool ready;
};

struct source {
	struct worker_source is;
	bool ready;
};

struct worker {
	struct worker_config config; /* without its sources */
	struct worker_stats stats;
	struct mailbox mailbox;
	pthread_t thread;
	int epoll_fd;
	bool stopping;
	bool is_idle; /* the last round had no message */
	unsigned int n_ports;
	unsigned int n_sources;
	struct source sources[WORKER_SOURCES_MAX];
	struct entry ports[WORKER_PORTS_MAX];
	struct port_msg msgs[PORT_BURST];
};

/* Counts a burst. Returns how many of its messages have a reply. */
static unsigned int count_burst(struct worker_kind_stats *stats, const struct port_msg *msgs,
				unsigned int n)
{
	unsigned int n_replies = 0, n_deferred = 0;

	for (unsigned int i = 0; i < n; i++) {
		n_replies += msgs[i].len != 0;
		n_deferred += msgs[i].outcome == PORT_DEFERS;
	}
	port_count(&stats->queries, n);
	port_count(&stats->answered, n_replies);
	port_count(&stats->deferred, n_deferred);
	return n_replies;
}

/* Handles one burst of a port. True if the port may have more messages. */
static bool run_burst(struct worker *w, struct port *p, uint64_t now_ns)
{
	struct worker_kind_stats *stats = &w->stats.by_kind[p->kind];
	unsigned int n = port_receive(p, now_ns, w->msgs, PORT_BURST), n_replies;
	uint64_t begun_ns;

	if (!n)
		return false;
	begun_ns = clock_ns();
	w->config.handle(w->config.ctx, w->msgs, n, p, now_ns);
	n_replies = count_burst(stats, w->msgs, n);
	port_count(&w->stats.bursts, 1);
	port_send(p, now_ns, w->msgs, n);
	histogram_add(&stats->took, clock_ns() - begun_ns, n_replies);
	return n == PORT_BURST;
}

/* Handles one burst of each ready port in turn, so that a busy port does not starve the others. */
static void run_ready(struct worker *w, uint64_t now_ns)
{
	uint64_t n_before = w->stats.bursts;
	bool any = true;

	for (unsigned int b = 0; b < WORKER_BURSTS_MAX && any; b++) {
		any = false;
		for (unsigned int i = 0; i < w->n_ports; i++) {
			struct entry *e = &w->ports[i];

			if (!e->ready)
				continue;
			e->ready = run_burst(w, e->port, now_ns);
			any |= e->ready;
		}
	}
	w->is_idle = w->stats.bursts == n_before;
}

static void run_source(struct source *s, uint64_t now_ns)
{
	s->ready = false;
	s->is.ready(s->is.ctx, now_ns);
}

static void run_sources(struct worker *w, uint64_t now_ns)
{
	for (unsigned int i = 0; i < w->n_sources; i++)
		if (w->sources[i].ready)
			run_source(&w->sources[i], now_ns);
}

/* Calls all sources, readable or not, because there may be no later round for them. */
static void drain_sources(struct worker *w)
{
	for (unsigned int i = 0; i < w->n_sources; i++)
		run_source(&w->sources[i], clock_ns());
}

static struct entry *find_worker(struct worker *w, const struct port *p)
{
	for (unsigned int i = 0; i < w->n_ports; i++)
		if (w->ports[i].port == p)
			return &w->ports[i];
	return NULL;
}

static int watch_worker(struct worker *w, int fd, void *ptr)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = ptr };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* For a port without a descriptor only port_wake_at() says when to poll it. */
static int watch_port(struct worker *w, struct port *p)
{
	return p->fd < 0 ? 0 : watch_worker(w, p->fd, p);
}

static void unwatch_port(struct worker *w, const struct port *p)
{
	if (p->fd >= 0)
		epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
}

static int add_worker(struct worker *w, struct port *p)
{
	int err;

	if (find_worker(w, p))
		return -EEXIST;
	if (w->n_ports == WORKER_PORTS_MAX)
		return -ENOSPC;
	err = watch_port(w, p);
	if (err)
		return err;
	err = port_start(p);
	if (err) {
		unwatch_port(w, p);
		return err;
	}
	w->ports[w->n_ports++] = (struct entry){ .port = p, .wake_at_ns = PORT_NEVER };
	return 0;
}

static int drop_worker(struct worker *w, struct port *p)
{
	struct entry *e = find_worker(w, p);

	if (!e)
		return -ENOENT;
	port_stop(p);
	for (unsigned int b = 0; b < WORKER_BURSTS_MAX; b++)
		if (!run_burst(w, p, clock_ns()) && port_wake_at(p))
			break;
	drain_sources(w);
	unwatch_port(w, p);
	*e = w->ports[--w->n_ports];
	if (w->config.port_gone)
		w->config.port_gone(w->config.ctx, p);
	return 0;
}

static int obey_worker(struct worker *w, const struct mailbox *box)
{
	switch (box->command) {
	case COMMAND_ADD:
		return add_worker(w, box->port);
	case COMMAND_REMOVE:
		return drop_worker(w, box->port);
	case COMMAND_CALL:
		return box->call(box->call_user);
	case COMMAND_STOP:
		while (w->n_ports)
			(void)drop_worker(w, w->ports[w->n_ports - 1].port);
		drain_sources(w);
		w->stopping = true;
		return 0;
	case COMMAND_NONE:
		break;
	}
	return 0;
}

static void read_mailbox(struct worker *w)
{
	struct mailbox *box = &w->mailbox;
	eventfd_t value;

	(void)eventfd_read(box->fd, &value);
	pthread_mutex_lock(&box->lock);
	if (box->command != COMMAND_NONE) {
		box->result = obey_worker(w, box);
		box->command = COMMAND_NONE;
		pthread_cond_signal(&box->done);
	}
	pthread_mutex_unlock(&box->lock);
}

/* Sends the command in `wanted`, with its arguments, and waits for the result. */
static int send_command(struct worker *w, const struct mailbox *wanted)
{
	struct mailbox *box = &w->mailbox;
	int result;

	pthread_mutex_lock(&box->callers);
	pthread_mutex_lock(&box->lock);
	box->command = wanted->command;
	box->port = wanted->port;
	box->call = wanted->call;
	box->call_user = wanted->call_user;
	/* If the counter is full, the worker has been woken already. */
	(void)eventfd_write(box->fd, 1);
	while (box->command != COMMAND_NONE)
		pthread_cond_wait(&box->done, &box->lock);
	result = box->result;
	pthread_mutex_unlock(&box->lock);
	pthread_mutex_unlock(&box->callers);
	return result;
}

static int command(struct worker *w, enum command_kind kind, struct port *p)
{
	return send_command(w, &(struct mailbox){ .command = kind, .port = p });
}

/* The time until the first port wants its turn. */
static uint64_t sleep_ns(struct worker *w, uint64_t now_ns)
{
	uint64_t first = PORT_NEVER, longest = WORKER_IDLE_MS * CLOCK_NS_PER_MS;

	for (unsigned int i = 0; i < w->n_ports; i++) {
		struct entry *e = &w->ports[i];

		e->wake_at_ns = e->ready ? 0 : port_wake_at(e->port);
		if (e->wake_at_ns < first)
			first = e->wake_at_ns;
	}
	if (first <= now_ns)
		return 0;
	return first - now_ns < longest ? first - now_ns : longest;
}

/*
 * After a round without messages the worker yields the core. On a small machine another thread may
 * need it, such as the kernel's thread that fills the port's rings.
 */
static int look_worker(struct worker *w, struct epoll_event *events)
{
	if (w->is_idle)
		sched_yield();
	return epoll_wait(w->epoll_fd, events, EVENTS_CAP, 0);
}

static int wait_events(struct worker *w, struct epoll_event *events)
{
	uint64_t ns = sleep_ns(w, clock_ns());
	int n;

	if (!ns)
		return look_worker(w, events);
	rcu_thread_offline();
	n = epoll_ns_wait(w->epoll_fd, events, EVENTS_CAP, ns);
	rcu_thread_online();
	return n;
}

/* epoll reports an error of a socket until it is read. */
static void clear_error(struct port *p)
{
	socklen_t len = sizeof(int);
	int err;

	(void)getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	port_count(&p->stats.rx_errors, 1);
}

/* An event's pointer is a port, a source, or NULL for the mailbox. */
static struct source *find_source(struct worker *w, const void *ptr)
{
	for (unsigned int i = 0; i < w->n_sources; i++)
		if (ptr == &w->sources[i])
			return &w->sources[i];
	return NULL;
}

static void take_port_event(struct worker *w, struct port *p, uint32_t events)
{
	find_worker(w, p)->ready = true;
	if (events & EPOLLERR)
		clear_error(p);
}

/* Marks ports and sources that are ready. True if the mailbox has a command. */
static bool take_worker_events(struct worker *w, const struct epoll_event *events, int n,
			       uint64_t now_ns)
{
	bool letter = false;

	for (int i = 0; i < n; i++) {
		void *ptr = events[i].data.ptr;
		struct source *source = find_source(w, ptr);

		if (source)
			source->ready = true;
		else if (ptr)
			take_port_event(w, ptr, events[i].events);
		else
			letter = true;
	}
	for (unsigned int i = 0; i < w->n_ports; i++)
		if (w->ports[i].wake_at_ns <= now_ns)
			w->ports[i].ready = true;
	return letter;
}

static void *run_worker(void *arg)
{
	struct epoll_event events[EVENTS_CAP];
	struct worker *w = arg;

	sandbox_enter(SANDBOX_WORKER);
	rcu_register_thread();
	while (!w->stopping) {
		int n = wait_events(w, events);
		uint64_t now_ns = clock_ns();
		bool letter = take_worker_events(w, events, n, now_ns);

		run_sources(w, now_ns);
		run_ready(w, now_ns);
		if (letter)
			read_mailbox(w);
		rcu_quiescent_state();
		port_count(&w->stats.heartbeat, 1);
	}
	rcu_unregister_thread();
	return NULL;
}

/* The main thread handles signals, so the new thread inherits a full mask. */
static int create_thread(struct worker *w)
{
	pthread_attr_t attr;
	sigset_t all, old;
	char name[16];
	cpu_set_t cpus;
	int err;

	pthread_attr_init(&attr);
	if (w->config.cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET((unsigned int)w->config.cpu, &cpus);
		pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, &attr, run_worker, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (err)
		return -err;
	snprintf(name, sizeof(name), "volley-w%u", w->config.id % 1000);
	pthread_setname_np(w->thread, name);
	return 0;
}

static int open_worker_fds(struct worker *w)
{
	int err;

	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->mailbox.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->epoll_fd < 0 || w->mailbox.fd < 0)
		return -errno;
	err = watch_worker(w, w->mailbox.fd, NULL);
	for (unsigned int i = 0; !err && i < w->n_sources; i++)
		err = watch_worker(w, w->sources[i].is.fd, &w->sources[i]);
	return err;
}

static void copy_config(struct worker *w, const struct worker_config *config)
{
	w->config = *config;
	w->config.sources = NULL;
	w->n_sources = config->n_sources;
	for (unsigned int i = 0; i < config->n_sources; i++)
		w->sources[i].is = config->sources[i];
}

static void release_worker(struct worker *w)
{
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (w->mailbox.fd >= 0)
		close(w->mailbox.fd);
	pthread_cond_destroy(&w->mailbox.done);
	pthread_mutex_destroy(&w->mailbox.lock);
	pthread_mutex_destroy(&w->mailbox.callers);
	free(w);
}

int worker_start(struct worker **out, const struct worker_config *config)
{
	struct worker *w;
	int err;

	if (config->cpu >= CPU_SETSIZE || config->n_sources > WORKER_SOURCES_MAX)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	copy_config(w, config);
	w->epoll_fd = w->mailbox.fd = -1;
	pthread_mutex_init(&w->mailbox.callers, NULL);
	pthread_mutex_init(&w->mailbox.lock, NULL);
	pthread_cond_init(&w->mailbox.done, NULL);
	err = open_worker_fds(w);
	if (!err)
		err = create_thread(w);
	if (err) {
		release_worker(w);
		return err;
	}
	*out = w;
	return 0;
}

int worker_port_add(struct worker *w, struct port *p)
{
	return command(w, COMMAND_ADD, p);
}

int worker_port_remove(struct worker *w, struct port *p)
{
	return command(w, COMMAND_REMOVE, p);
}

int worker_call(struct worker *w, worker_call_fn *call, void *user)
{
	const struct mailbox wanted = { .command = COMMAND_CALL, .call = call, .call_user = user };

	return send_command(w, &wanted);
}

void worker_stop(struct worker *w)
{
	if (!w)
		return;
	(void)command(w, COMMAND_STOP, NULL);
	pthread_join(w->thread, NULL);
	release_worker(w);
}

void worker_stats_read(const struct worker *w, struct worker_stats *out)
{
	out->heartbeat = port_counter(&w->stats.heartbeat);
	out->bursts = port_counter(&w->stats.bursts);
	for (unsigned int i = 0; i < PORT_N_KINDS; i++) {
		out->by_kind[i].queries = port_counter(&w->stats.by_kind[i].queries);
		out->by_kind[i].answered = port_counter(&w->stats.by_kind[i].answered);
		out->by_kind[i].deferred = port_counter(&w->stats.by_kind[i].deferred);
		out->by_kind[i].took = (struct histogram){ .sum_ns = 0 };
		histogram_read(&w->stats.by_kind[i].took, &out->by_kind[i].took);
	}
}
