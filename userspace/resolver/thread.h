/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A resolver thread. It sleeps in libevent. After each round of events it completes questions whose
 * deadline has passed, asks the questions that may be asked, and puts the completed ones into their
 * inboxes.
 */
#ifndef VOLLEY_RESOLVER_THREAD_H
#define VOLLEY_RESOLVER_THREAD_H

#include <event2/event.h>
#include <pthread.h>
#include <unbound.h>

#include "dns/nameset.h"
#include "resolver/answer.h"
#include "resolver/board.h"
#include "resolver/denials.h"
#include "resolver/failures.h"
#include "resolver/forward.h"
#include "resolver/tls_relay.h"

struct resolver;

/* A part on the thread's event base that does something after each round. */
struct thread_guest {
	struct cds_list_head node;
	void (*round)(struct thread_guest *guest);
};

struct resolver_thread {
	unsigned int id;
	pthread_t pthread;
	bool running;
	bool stopping; /* set by resolver_stop(), atomic */
	struct limits *limits;
	struct inbox questions; /* submitted */
	struct inbox home;      /* answers that were released */
	struct event_base *base;
	struct event *wake; /* the inbox's fd */
	struct event *tick;
	struct ub_ctx *ctx[RESOLVER_MEMORIES]; /* NULL with the forwarder */
	struct forward *forward;               /* or NULL */
	struct tap_producer *told;             /* gets queries to upstreams; or NULL */
	struct tls_relay *relay;               /* of libunbound's queries; or NULL */
	struct denials *denials;               /* NULL: no denials are made */
	struct nameset insecure;               /* no denial holds below these */
	struct targets targets;                /* of libunbound */
	struct groups groups;
	const struct resolver_group *asking; /* in a running ub_resolve_event(); or NULL */
	struct deadlines deadlines;
	struct completions completions;
	struct failures failures;
	uint32_t n_waiting; /* questions */
	uint32_t n_answers; /* not yet back and freed */
	bool is_hurried;    /* the next round is due at once */
	struct resolver_board *board;
	struct cds_list_head guests; /* struct thread_guest */
};

/* Makes all that the thread needs. Errors as resolver_start(). Call thread_close() in any case. */
int thread_open(struct resolver_thread *t, const struct resolver_config *config, char *err,
		size_t cap) __attribute__((warn_unused_result));

/* 0 or -errno. */
int thread_start(struct resolver_thread *t) __attribute__((warn_unused_result));

/* Ends and joins the thread, if it was started, and completes all its questions. */
void thread_stop(struct resolver_thread *t);
/* After thread_stop(): true if all its answers were released. */
bool thread_is_released(struct resolver_thread *t);
void thread_close(struct resolver_thread *t);

/* Thread i of a resolver, for resolver/serving.c; NULL: there are fewer. Before it runs. */
struct resolver_thread *resolver_thread_at(struct resolver *r, unsigned int i);

#endif
