/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A responder: what a worker does with its messages. It joins an engine, the ports that the
 * messages came by, and the resolver that is asked what the engine does not know.
 *
 *	port ─► responder_handle() ─► engine_answer() ─► reply, at once
 *	                                   │ deferred: a slot is taken
 *	                                   ▼ end of the burst: one resolver_submit()
 *	port ◄─ port_reply() ◄─ engine_finish() ◄─ responder_source(): completions, in bursts
 *
 * What the engine leaves to the transfer thread goes to the handover (worker/handover_queue.h); its
 * replies are another source.
 *
 * A slot is a question upstream with the way back to its client; all are made before the first
 * question. Where none is free, or there is no resolver, or the client has its share of the slots
 * (base/limits.h), the engine says SERVFAIL at once. A port that goes takes the ways back with it:
 * its questions are completed for the cache alone.
 *
 * One for each worker. All but new and free belong to the worker's thread.
 */
#ifndef VOLLEY_WORKER_RESPONDER_H
#define VOLLEY_WORKER_RESPONDER_H

#include <stdint.h>

#include "engine/engine.h"
#include "worker/worker.h"

struct handover;
struct tap_producer;
struct resolver;

struct responder_config {
	struct engine *engine; /* the caller's, until responder_free() */
	/*
	 * Where the pointer to the resolver stands: RCU, NULL for none. It is taken away, with a
	 * grace period, before resolver_stop(); what was outstanding then is asked once more, of
	 * the resolver that stands there by that time.
	 */
	struct resolver **resolver;
	unsigned int n_pending; /* questions outstanding; 0: responder_make_room() may say more */
	struct handover *handover; /* until responder_free(); NULL: nothing is handed over */
	struct tap_producer *tap;  /* likewise; NULL: answers are not reported */
};

struct responder;

/* 0, -ENOMEM or -errno. */
int responder_new(struct responder **out, const struct responder_config *config)
	__attribute__((warn_unused_result));

/*
 * When the worker has ended and every resolver that it asked was stopped: what is outstanding then
 * is given back without a reply. NULL is allowed.
 */
void responder_free(struct responder *r);

/*
 * Makes room for n questions in the place of what there was, while no resolver has ever stood at
 * config.resolver; it is pointed to only then, which is what lets the worker see the room. The
 * memory is touched when it is used. 0; or -ENOMEM, and there is room for none. Control's thread,
 * while the worker runs.
 */
int responder_make_room(struct responder *r, unsigned int n) __attribute__((warn_unused_result));

/* worker_config.handle, with the responder as its ctx. */
void responder_handle(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
		      uint64_t now_ns);

/* worker_config.port_gone, likewise: no reply goes to this port any more. */
void responder_port_gone(void *ctx, struct port *port);

/* One of worker_config.sources: its questions that were completed. Any thread, before the worker
 * is. */
struct worker_source responder_source(struct responder *r);

/* Another one, likewise, where there is a handover. */
struct worker_source responder_handover_source(struct responder *r);

/* Answers that the driver wants fetched anew: n of them. */
void responder_refresh(struct responder *r, const struct volley_refresh *refreshes, unsigned int n);

/*
 * taken = released + outstanding. E(name, words).
 */
#define RESPONDER_COUNTERS(E)                                                       \
	E(taken, "questions asked upstream")                                        \
	E(released, "of these, done with")                                          \
	E(replies, "replies that came later and were handed to their port")         \
	E(orphaned, "answered when the client's port was gone")                     \
	E(resubmitted, "asked again of another resolver, since the first one went") \
	E(not_refreshed, "not fetched anew: no resolver, or too many questions")    \
	E(handed_over, "messages and connections left to the transfer thread")      \
	E(handover_lost, "messages for it that were dropped, as too many waited")

struct responder_counters {
#define RESPONDER_COUNTER_FIELD(name, words) uint64_t name;
	RESPONDER_COUNTERS(RESPONDER_COUNTER_FIELD)
#undef RESPONDER_COUNTER_FIELD
};

/* Each value is whole; the set is not of one instant. Any thread. */
void responder_counters_read(const struct responder *r, struct responder_counters *out);

#endif
