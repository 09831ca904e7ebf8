/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain forwarding: questions go to recursive servers as they are, and what these answer is passed
 * on, not validated. One forwarder for each resolver thread; it takes the place of libunbound
 * there.
 *
 *	groups_next() ─► question ─► query to an upstream ─► reply ─► an answer: done->answered()
 *	                     ▲                    │             │
 *	                     ├─ no reply in time ◄┘             │
 *	                     ├─ truncated: over TCP ◄───────────┤
 *	                     ├─ EDNS is refused: without ◄──────┤
 *	                     ├─ case or cookie is wrong: TCP ◄──┤
 *	                     └─ a failure: the next upstream ◄──┘ there is none: done->failed()
 *
 * A question has one query to each upstream, which keeps its port and ID when it is sent again (RFC
 * 5452 section 5); now and then a copy goes to an upstream that is to be known. Against who forges
 * replies: after FORWARD_UDP_WRONG wrong ones a socket is closed, and its queries go over TCP to
 * the same upstream, with other IDs. The question has letters of random case, where the
 * configuration says so, and each upstream has DNS cookies (resolver/upstream_cookie.h); what
 * cannot be told from a forged reply is asked for over TCP. It is asked until nobody waits for it,
 * each time at an upstream that was not asked yet in this turn, and waited for longer. All is made
 * at the start: nothing is allocated for a question.
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

/* Files that are open at most, for each thread. */
#define FORWARD_FDS (256 + 16)

struct forward;
struct tap_producer;

/* Whether it does all that the configuration wants; what it does not is libunbound's. */
bool forward_suits(const struct resolver_config *config);

/* 0, ERR_CONFIG with a sentence, -ENOMEM. The counters are the thread's. */
int forward_new(struct forward **out, const struct resolver_config *config, struct event_base *base,
		const struct forward_done *done, struct resolver_counters *counters, char *err,
		size_t cap) __attribute__((warn_unused_result));
void forward_free(struct forward *f); /* NULL is allowed */

/* From now on its queries and their replies are told there, until the forwarder makes no more
 * rounds. NULL: nobody is told. */
void forward_set_tap(struct forward *f, struct tap_producer *producer);

/*
 * One round: looks after what is over its time, asks what may be asked, and sends it. Whether there
 * is more to do at once.
 */
bool forward_round(struct forward *f, struct groups *groups, uint64_t now_ns);

/* Whether something is under way, so that the next round is due within DEADLINES_TICK_NS. */
bool forward_is_busy(const struct forward *f);

/* Any thread. */
void forward_get_ways(const struct forward *f, struct forward_ways *out);

/* Upstream i < n_upstreams: address and TLS name, which never change, and what is known of it. Any
 * thread. */
const struct upstream *forward_get_upstream(const struct forward *f, unsigned int i);
void forward_get_seen(const struct forward *f, unsigned int i, struct forward_seen *out);

#endif
