/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: one thread on one core, which handles each message to its end. It sleeps in epoll over
 * its ports' fds. When one is readable, it makes a round:
 *
 *      epoll_wait ─► for each ready port in turn: receive a burst ─► handle ─► send ─► again, until
 *          ▲         all are empty or WORKER_BURSTS_MAX bursts each                       │
 *          └──── quiescent state (RCU) · heartbeat · mailbox ◄────────────────────────────┘
 *
 * Sources are other fds with a function for this thread to call, for results of other threads such
 * as answers to deferred messages. They come before the ports.
 *
 * A port without an fd (DPDK) is polled when port_wake_at() says so, which is at once while there
 * is traffic. If it has no messages, the worker yields its core before it polls again.
 *
 * The fds are level-triggered: epoll reports a port with remaining messages again, so no wake-up is
 * lost. A sleeping worker is offline for RCU, so synchronize_rcu() in another thread does not wait
 * for traffic. Messages meet no lock: ports come and go through a mailbox, which the worker reads
 * between two rounds.
 */
#ifndef VOLLEY_WORKER_WORKER_H
#define VOLLEY_WORKER_WORKER_H

#include <stdint.h>

#include "base/histogram.h"
#include "port/port.h"

#define WORKER_PORTS_MAX   768 /* 256 addresses, and queues of several interfaces */
#define WORKER_BURSTS_MAX  8   /* of one port in one round, without a call of epoll */
#define WORKER_IDLE_MS     250 /* the longest sleep, so also the longest time between heartbeats */
#define WORKER_CPU_ANY     (-1)
#define WORKER_SOURCES_MAX 4

/*
 * Answers a burst of one port. For each message it writes the reply over the query at data and sets
 * len, or sets len to 0 for no reply. Called on the worker's thread, which is online for RCU: data
 * read under RCU is valid until it returns. now_ns is CLOCK_MONOTONIC at the start of the round.
 * Must not block.
 */
typedef void worker_handle(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
			   uint64_t now_ns);

/*
 * While fd is readable, the worker calls ready() once a round, on its thread, online for RCU;
 * ready() should read fd empty. The worker also calls ready(), even if fd is not readable, before
 * it releases a port, so that waiting replies find their port, and a last time when all ports are
 * gone. Must not block.
 */
struct worker_source {
	int fd;
	void (*ready)(void *ctx, uint64_t now_ns);
	void *ctx;
};

struct worker_config {
	unsigned int id; /* for the thread's name */
	int cpu;         /* the core to run on, or WORKER_CPU_ANY */
	worker_handle *handle;
	void *ctx; /* for handle and port_gone; borrowed until worker_stop() has returned */
	/*
	 * The worker has released p and has no message of it. Now forget all returns to it
	 * (port_defer()), before the port's owner may close it. On the worker's thread. NULL: no
	 * returns are kept.
	 */
	void (*port_gone)(void *ctx, struct port *p);
	/* copied; their fds and contexts must live as long as ctx */
	const struct worker_source *sources;
	unsigned int n_sources; /* at most WORKER_SOURCES_MAX */
};

/* Only the worker writes it. Read it with worker_stats_read(). */
struct worker_stats {
	uint64_t heartbeat; /* rounds: at least one in WORKER_IDLE_MS */
	uint64_t bursts;
	struct worker_kind_stats {
		uint64_t queries;  /* messages that handle() got */
		uint64_t answered; /* of these, answered at once */
		uint64_t deferred; /* of these, deferred */
		/* time from the receive of a burst to its send, for each answered message */
		struct histogram took;
	} by_kind[PORT_N_KINDS];
};

struct worker;

/*
 * Starts the thread. 0 or -errno: -EINVAL for a core that does not exist or is not allowed, and for
 * too many sources; or the error of epoll_ctl() for a source's fd.
 */
__attribute__((warn_unused_result)) int worker_start(struct worker **out,
						     const struct worker_config *config);

/*
 * Gives the worker a port and starts it (port_start()). The caller closes the port after
 * worker_port_remove() or worker_stop(). Returns when it is done, which takes at most
 * WORKER_IDLE_MS and one round. Any thread but a worker's. 0, -ENOSPC (WORKER_PORTS_MAX) or -errno;
 * then the worker does not have the port.
 */
__attribute__((warn_unused_result)) int worker_port_add(struct worker *w, struct port *p);

/*
 * Removes a port: it gets no more traffic, the worker answers messages that have arrived (as many
 * as fit one round), and no thread uses the port after the return. 0, or -ENOENT if the worker does
 * not have it.
 */
int worker_port_remove(struct worker *w, struct port *p);

/*
 * The worker calls `call` between two rounds, when it has no message of a port. So another thread
 * can run a function that only the worker's thread may run. `call` must not block. Returns the
 * result of `call`. Any thread but a worker's.
 */
typedef int worker_call_fn(void *user);
int worker_call(struct worker *w, worker_call_fn *call, void *user);

/*
 * Removes all ports as above, calls each source a last time, ends and joins the thread, and frees
 * the worker. NULL is allowed.
 */
void worker_stop(struct worker *w);

/* Each value is whole; the set is not of one instant. Any thread. */
void worker_stats_read(const struct worker *w, struct worker_stats *out);

#endif
