/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: one thread on one core that runs every message to completion. It sleeps in epoll over
 * its ports' fds, and when one has something, goes round:
 *
 *      epoll_wait ─► for each ready port in turn: receive a burst ─► handle ─► send ─► again, until
 *          ▲         all are empty or WORKER_BURSTS_MAX bursts each                       │
 *          └──── quiescent state (RCU) · heartbeat · mailbox ◄────────────────────────────┘
 *
 * Sources are other fds whose owner is to be called on this thread: what comes back from other
 * threads, such as answers to deferred messages. They have their turn before the ports.
 *
 * A port without an fd (DPDK) is asked when port_wake_at() says so: at once while there is traffic,
 * and a worker that finds none there yields its core before it asks again.
 *
 * The fds are watched level-triggered: a port left with messages is reported again by itself, and
 * no wake-up can be lost. While it sleeps, the thread is offline for RCU, so a synchronize_rcu()
 * elsewhere never waits for traffic. There is no lock on the way of a message: ports come and go
 * through a mailbox that the worker empties between two rounds.
 */
#ifndef VOLLEY_WORKER_WORKER_H
#define VOLLEY_WORKER_WORKER_H

#include <stdint.h>

#include "base/histogram.h"
#include "port/port.h"

#define WORKER_PORTS_MAX   768 /* 256 addresses, and queues of several interfaces */
#define WORKER_BURSTS_MAX  8   /* of one port in a row of rounds without looking at epoll */
#define WORKER_IDLE_MS     250 /* sleep at most so long: the heartbeat beats at least so often */
#define WORKER_CPU_ANY     (-1)
#define WORKER_SOURCES_MAX 4

/*
 * Answers a burst of one port: for each message writes the reply over the query at data and sets
 * len, or sets len to 0 for none. Called on the worker's thread, online for RCU: what it reads
 * under RCU is valid until it returns. now_ns is CLOCK_MONOTONIC at the start of the round. Must
 * not block.
 */
typedef void worker_handle(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
			   uint64_t now_ns);

/*
 * While fd is readable, ready() is called once a round, on the worker's thread, online for RCU, and
 * makes it silent by and by. It is also called, whatever fd says, before a port is let go of, so
 * that replies that are there find their port, and a last time when all ports are gone. Must not
 * block.
 */
struct worker_source {
	int fd;
	void (*ready)(void *ctx, uint64_t now_ns);
	void *ctx;
};

struct worker_config {
	unsigned int id; /* in the thread's name */
	int cpu;         /* the core to run on, or WORKER_CPU_ANY */
	worker_handle *handle;
	void *ctx; /* for handle and port_gone; the caller's, until worker_stop() has returned */
	/*
	 * The worker has let go of p and no message of it is out: all returns of it (port_defer())
	 * are to be forgotten now, before the port's owner hears that it may close it. The worker's
	 * thread. NULL: nobody keeps any.
	 */
	void (*port_gone)(void *ctx, struct port *p);
	const struct worker_source *sources; /* copied; their fds and contexts as long as ctx */
	unsigned int n_sources;              /* at most WORKER_SOURCES_MAX */
};

/* Written by the worker only; read with worker_stats_read(). */
struct worker_stats {
	uint64_t heartbeat; /* rounds; at least one in WORKER_IDLE_MS while the worker lives */
	uint64_t bursts;
	struct worker_kind_stats {
		uint64_t queries;  /* messages handed to handle */
		uint64_t answered; /* of these, with a reply at once */
		uint64_t deferred; /* of these, to be answered later */
		struct histogram
			took; /* those answered, from the receive of their burst to its send */
	} by_kind[PORT_N_KINDS];
};

struct worker;

/*
 * Start the thread. 0 or -errno: -EINVAL for a core that is not there or not ours, and for too many
 * sources; what epoll_ctl() says of a source's fd.
 */
__attribute__((warn_unused_result)) int worker_start(struct worker **out,
						     const struct worker_config *config);

/*
 * Give the worker a port and start it (port_start()); the port stays the caller's to close, after
 * worker_port_remove() or worker_stop(). Returns when it is done, at most WORKER_IDLE_MS and one
 * round later. Any thread but a worker's. 0, -ENOSPC (WORKER_PORTS_MAX) or -errno; the worker
 * does not have the port then.
 */
__attribute__((warn_unused_result)) int worker_port_add(struct worker *w, struct port *p);

/*
 * Take a port away: it stops attracting traffic, what had arrived is answered (as far as one round
 * goes), and nobody touches it any more when this returns. 0, or -ENOENT if the worker has it not.
 */
int worker_port_remove(struct worker *w, struct port *p);

/*
 * The worker calls `call` between two rounds, when none of its ports has a message out: so what is
 * said to be the worker's thread's alone can be asked for by another thread. `call` must not block.
 * Returns what it returns, when it has returned. Any thread but a worker's.
 */
typedef int worker_call_fn(void *user);
int worker_call(struct worker *w, worker_call_fn *call, void *user);

/*
 * Remove all ports as above, call each source a last time, end the thread, join it, free the
 * worker. NULL is allowed.
 */
void worker_stop(struct worker *w);

/* Each value is whole; the set is not of one instant. Any thread. */
void worker_stats_read(const struct worker *w, struct worker_stats *out);

#endif
