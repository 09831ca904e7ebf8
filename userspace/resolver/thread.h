/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A resolver thread. It sleeps in libevent; after each round of events it completes what is over
 * its deadline, asks what may be asked, and puts the completions into their inboxes.
 */
#ifndef VOLLEY_RESOLVER_THREAD_H
#define VOLLEY_RESOLVER_THREAD_H

#include <event2/event.h>
#include <pthread.h>
#include <unbound.h>

#include "dns/nameset.h"
#include "resolver/answer.h"
#include "resolver/denials.h"
#include "resolver/failure_table.h"
#include "resolver/failures.h"
#include "resolver/forward.h"
#include "resolver/targets.h"
#include "resolver/tls_relay.h"

struct resolver;

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
	struct ub_ctx *ctx[RESOLVER_MEMORIES]; /* NULL where it forwards */
	struct forward *forward;               /* or NULL */
	struct tap *tap;                       /* or NULL */
	struct tap_producer *told;             /* likewise; of the tap, until thread_stop() */
	struct tls_relay *relay;               /* of libunbound's queries; or NULL */
	struct denials *denials;               /* NULL: none are made */
	struct nameset insecure;               /* no denial holds below these */
	struct targets targets;                /* of libunbound */
	struct groups groups;
	const struct resolver_group *asking; /* libunbound is being asked it now; or NULL */
	struct deadlines deadlines;
	struct completions completions;
	struct failures failures;
	struct failure_table failure_table;
	uint32_t n_waiting; /* questions */
	uint32_t n_answers; /* not yet home */
	bool is_hurried;    /* there is more to do at once */
	struct resolver_counters counters;
};

/* Makes all that the thread needs. Errors as resolver_start(); thread_close() in any case. */
int thread_open(struct resolver_thread *t, const struct resolver_config *config, char *err,
		size_t cap) __attribute__((warn_unused_result));

/* 0 or -errno. */
int thread_start(struct resolver_thread *t) __attribute__((warn_unused_result));

/* Ends and joins it, where it was started; all its questions are completed. */
void thread_stop(struct resolver_thread *t);
/* After thread_stop(): whether nobody has an answer of it any more. */
bool thread_is_released(struct resolver_thread *t);
void thread_close(struct resolver_thread *t);

/* The i-th thread of a resolver, for resolver/inspect.c; NULL: there are not so many. Any thread
 * may read what says so. */
const struct resolver_thread *resolver_thread_at(const struct resolver *r, unsigned int i);

#endif
