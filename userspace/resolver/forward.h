/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain forwarding: questions go unchanged to recursive servers, and their answers are passed on
 * without validation. Each resolver thread has one forwarder, in place of libunbound.
 *
 *	groups_next() ─► question ─► query to an upstream ─► reply ─► an answer: done->answered()
 *	                     ▲                    │             │
 *	                     ├─ no reply in time ◄┘             │
 *	                     ├─ truncated: over TCP ◄───────────┤
 *	                     ├─ EDNS is refused: without ◄──────┤
 *	                     ├─ it may be forged: over TCP ◄────┤
 *	                     ├─ no target: asked for (chain) ◄──┤
 *	                     └─ a failure: the next upstream ◄──┘ there is none: done->failed()
 *
 * A question has one query to each upstream. The query keeps its port and ID when it is sent again
 * (RFC 5452 section 5). Now and then a copy of a question, a probe, goes to an upstream whose state
 * is to be measured. Against forged replies: after FORWARD_UDP_WRONG wrong replies a socket is
 * closed, and its queries go over TCP to the same upstream, with other IDs. If the configuration
 * says so, names have letters of random case. Queries carry DNS cookies
 * (resolver/upstream_cookie.h). A question whose reply cannot be told from a forged one is asked
 * again over TCP. A question is asked until no client waits for it, each time at an upstream not
 * yet asked in this turn, with a longer wait. All memory is allocated at the start, none for a
 * question.
 *
 * One thread, that of the event base.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_H
#define VOLLEY_RESOLVER_FORWARD_H

#include <event2/event.h>

#include "resolver/forward_board.h"
#include "resolver/forward_done.h"
#include "resolver/groups.h"
#include "resolver/resolver_config.h"
#include "resolver/resolver_counters.h"

/* The most descriptors that are open for each thread. */
#define FORWARD_FDS (256 + 16)

struct forward;
struct tap_producer;

/* 0, ERR_CONFIG with a sentence in err, or -ENOMEM. Counters and board are the thread's. */
int forward_new(struct forward **out, const struct resolver_config *config, struct event_base *base,
		const struct forward_done *done, struct resolver_counters *counters,
		struct forward_board *board, char *err, size_t cap)
	__attribute__((warn_unused_result));
void forward_free(struct forward *f); /* NULL is allowed */

/* From now on queries and replies are reported to the producer, which must stay until the last
 * round. NULL: nothing is reported. */
void forward_set_tap(struct forward *f, struct tap_producer *producer);

/*
 * One round: handles timers that have expired, asks the questions that may be asked, and sends.
 * True if the next round is due at once.
 */
bool forward_round(struct forward *f, struct groups *groups, uint64_t now_ns);

/* True if a question is under way, so that the next round is due within DEADLINES_TICK_NS. */
bool forward_is_busy(const struct forward *f);

#endif
