/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's side of the resolver: questions go to a process of their own (volley-resolver),
 * which parses what strangers upstream send, and replies come back from it.
 *
 *	worker ─► querier_submit() ─► ring ─► resolver/desk.h ─► resolver threads ─► upstream
 *	worker ◄─ querier_take()   ◄─ ring ◄─ and the worker's bell
 *	           │
 *	           └─ a watching thread: starts the process, ends one that hangs, grows too large or
 *	              writes nonsense, and starts the next
 *
 * Workers take no lock and wait for nothing. A worker has a desk of its own: two rings
 * (base/byte_ring.h) in memory that both processes have mapped (resolver/shared_memory.h). Nothing
 * in that memory is believed: each reply is copied, and its lengths, numbers and the question that
 * it belongs to are checked. The first nonsense ends the process.
 *
 * The states of the process:
 *
 *	            start fails: again after a while
 *	              ┌────┐
 *	 querier_start()   ▼      "started"              crash, kill, nonsense
 *	 ────────────► STARTING ───────────► SERVES ───────────────────────────┐
 *	                   ▲                                                   │
 *	                   └──── at once; after many ends in a minute: 1 s ◄───┘
 *
 * At an end, the questions under way are asked again, of the next process; those that come until
 * it serves wait for it. Each waits no longer than its deadline, which also holds while a process
 * hangs: SERVFAIL, or a stale answer where the engine has one. If the process has failed, trials
 * show which question is the reason (querier/trials.h): it is refused for a minute.
 *
 * A question is the caller's memory. It belongs to the querier from querier_submit() until the
 * caller gets it back from querier_take() or from its inbox. Its answer is valid until
 * resolver_release(). Each question comes back exactly once.
 */
#ifndef VOLLEY_QUERIER_QUERIER_H
#define VOLLEY_QUERIER_QUERIER_H

#include <stdbool.h>
#include <stddef.h>

#include "querier/bells.h"
#include "base/executable.h"
#include "resolver/resolver_config.h"
#include "resolver/resolver_counters.h"
#include "resolver/resolver_question.h"

struct querier;
struct tap;

/* What outlives the querier; borrowed. */
struct querier_env {
	const struct executable *program;
	const struct bells *bells; /* one for each worker; NULL: nothing will be asked */
	struct tap *tap;           /* gets queries to upstreams; or NULL */
};

/*
 * Starts the process, and returns when it serves. 0; -errno; or ERR_CONFIG with a sentence in err
 * of cap octets: libunbound refuses an option, a file cannot be read, a file of trust anchors has
 * no usable one, or more sockets are needed than RLIMIT_NOFILE allows. Nothing is asked upstream
 * before the first question. The configuration is copied. Control's thread.
 */
int querier_start(struct querier **out, const struct resolver_config *config,
		  const struct querier_env *env, char *err, size_t cap)
	__attribute__((warn_unused_result));

/*
 * Submits n questions of a worker's. A refused question comes back at once through its inbox:
 * SERVFAIL with an extended error. The worker's thread.
 */
void querier_submit(struct querier *q, unsigned int worker,
		    struct resolver_question *const *questions, unsigned int n);

/* The worker's questions that have come back, the oldest first, linked as in an inbox; or NULL.
 * Call it when the worker's bell rings. The worker's thread. */
struct resolver_question *querier_take(struct querier *q, unsigned int worker);

/*
 * Ends the process. All outstanding questions are in their inboxes then: SERVFAIL and
 * DNS_EDE_NOT_READY. Call it when no worker uses the querier any more. A second call does nothing.
 */
void querier_stop(struct querier *q);

/* After querier_stop(). NULL is allowed. */
void querier_free(struct querier *q);

/* The state of the process, for people. */
struct querier_report {
	struct resolver_counters counters; /* of all processes of this querier */
	uint64_t n_restarts;
	uint64_t rss_bytes; /* 0: it does not run */
	pid_t pid;          /* 0: it does not run */
	bool refuses;       /* questions that have ended it */
	char libunbound[32];
	char problem[192]; /* why it does not run, or ended of late; "": all is well */
};

/* Never waits for the process. Any thread. */
void querier_report_read(struct querier *q, struct querier_report *out);

#endif
