/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A responder handles a worker's messages. It joins an engine, the ports of the messages, and the
 * resolver, which gets the questions that the engine cannot answer.
 *
 *	port ─► responder_handle() ─► engine_answer() ─► reply, at once
 *	                                   │ deferred: a slot is taken
 *	                                   ▼ end of the burst: one querier_submit()
 *	port ◄─ port_reply() ◄─ engine_finish() ◄─ responder_source(): completions, in bursts
 *
 * Messages for the transfer thread go to the handover (worker/handover_queue.h), whose replies are
 * another source. Signed questions come back from there without their signature, and their answers
 * go there again.
 *
 * A slot is a question upstream, with the way back to its client. All slots are made before the
 * first question. The engine answers SERVFAIL at once if no slot is free, if there is no resolver,
 * or if the client has its share of the slots (base/limits.h). When a port goes, its questions go
 * on only for the cache.
 *
 * Each worker has one. Control calls new and free. The worker's thread calls the other functions,
 * except where another thread is named.
 */
#ifndef VOLLEY_WORKER_RESPONDER_H
#define VOLLEY_WORKER_RESPONDER_H

#include <stdint.h>

#include "engine/engine.h"
#include "worker/worker.h"

struct handover;
struct tap_producer;
struct querier;

struct responder_config {
	struct engine *engine; /* borrowed until responder_free() */
	/*
	 * The place of the pointer to the querier: RCU, NULL for none. Before querier_stop() the
	 * pointer is replaced, and a grace period passes. Outstanding questions are then asked once
	 * more, of the resolver that is at the place by that time.
	 */
	struct querier **resolver;
	unsigned int desk;         /* the worker's number there */
	int bell_fd;               /* the worker's bell (querier/bells.h), if there is a querier */
	unsigned int n_pending;    /* number of slots; 0: responder_make_room() may make some */
	struct handover *handover; /* borrowed until responder_free(); NULL: none */
	struct tap_producer *tap;  /* the same; NULL: answers are not reported */
};

struct responder;

/* 0, -ENOMEM or -errno. */
int responder_new(struct responder **out, const struct responder_config *config)
	__attribute__((warn_unused_result));

/*
 * Call it when the worker has ended and all resolvers that it asked are stopped. Outstanding
 * questions end without a reply. NULL is allowed.
 */
void responder_free(struct responder *r);

/*
 * Replaces the slots by n new ones. It may only be called before a resolver has ever been at
 * config.resolver: that pointer makes the slots visible to the worker. Memory is touched when it is
 * used. 0, or -ENOMEM, after which there are no slots. Control's thread, while the worker runs.
 */
int responder_make_room(struct responder *r, unsigned int n) __attribute__((warn_unused_result));

/* worker_config.handle; ctx is the responder. */
void responder_handle(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
		      uint64_t now_ns);

/* worker_config.port_gone; ctx is the responder. Sends no more replies to this port. */
void responder_port_gone(void *ctx, struct port *port);

/* One of worker_config.sources: handles completed questions. Any thread, before its start. */
struct worker_source responder_source(struct responder *r);

/* The same, for what comes back from the resolver's process. */
struct worker_source responder_bell_source(struct responder *r);

/* The same for replies of the handover, if there is one. */
struct worker_source responder_handover_source(struct responder *r);

/* Asks upstream again for n answers that the driver wants to be refreshed. */
void responder_refresh(struct responder *r, const struct volley_refresh *refreshes, unsigned int n);

/*
 * taken = released + outstanding. E(name, words).
 */
#define RESPONDER_COUNTERS(E)                                                              \
	E(taken, "questions that were sent to the resolver")                               \
	E(released, "of these, finished")                                                  \
	E(replies, "replies to deferred messages that were given to their port")           \
	E(orphaned, "questions that were answered after the client's port had gone")       \
	E(resubmitted, "questions that were asked again, because their resolver had gone") \
	E(not_refreshed, "answers that were not refreshed: no resolver or no free slot")   \
	E(handed_over, "messages for the transfer thread")                                 \
	E(handover_lost, "messages for it that were dropped, because too many waited")

struct responder_counters {
#define RESPONDER_COUNTER_FIELD(name, words) uint64_t name;
	RESPONDER_COUNTERS(RESPONDER_COUNTER_FIELD)
#undef RESPONDER_COUNTER_FIELD
};

/* Each value is whole; the set is not of one instant. Any thread. */
void responder_counters_read(const struct responder *r, struct responder_counters *out);

#endif
