/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a forwarder's upstreams, on a board that other threads read. The forwarder's thread
 * writes the board at the end of each round that did something, so it is up to date between rounds.
 * There is no lock.
 *
 * Any thread reads. Each value is whole, but the values of one upstream may be of two rounds: the
 * board is for people to look at, and the program takes no decision by it.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_BOARD_H
#define VOLLEY_RESOLVER_FORWARD_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "resolver/upstreams.h"

/* E(name, expression with the upstreams us, the upstream u and its connection c). Counts begin at
 * the start of the forwarder. */
#define FORWARD_SEEN(E)                                                                   \
	E(srtt_ns, u->srtt_ns) /* 0: not measured */                                      \
	E(rttvar_ns, u->rttvar_ns)                                                        \
	E(wait_ns, upstream_wait_ns(us, u, 0))                                            \
	E(heard_ns, u->heard_ns) /* CLOCK_MONOTONIC; 0: never */                          \
	E(in_flight, u->n_in_flight)                                                      \
	E(window, u->window)                                                              \
	E(sent, u->n_sent)         /* queries, counted at each sending */                 \
	E(answers, u->n_answers)   /* replies that are an answer */                       \
	E(failures, u->n_failures) /* other replies: SERVFAIL, REFUSED */                 \
	E(timeouts, u->n_timeouts) /* no reply in time, or the host cannot be reached */  \
	E(silent, u->n_silent)     /* timeouts since the last reply */                    \
	E(failing, u->n_failing)   /* failures since the last answer */                   \
	E(down, u->down)                                                                  \
	E(plain_until_ns, u->plain_until_ns)       /* EDNS was refused */                 \
	E(caseless_until_ns, u->caseless_until_ns) /* it does not keep the letter case */ \
	E(has_cookie, u->cookie.n_bytes > UPSTREAM_COOKIE_CLIENT_BYTES)                   \
	E(cookie_off_until_ns, u->cookie.off_until_ns) /* the option was refused */       \
	E(tcp_connected, c->fd >= 0)                                                      \
	E(tcp_open, c->fd >= 0 && c->is_open)                                             \
	E(tcp_queries, c->channel.n_queries)   /* on the connection */                    \
	E(tcp_shut_until_ns, c->shut_until_ns) /* the TLS handshake has failed */

struct forward_seen {
#define FORWARD_SEEN_FIELD(name, value) uint64_t name;
	FORWARD_SEEN(FORWARD_SEEN_FIELD)
#undef FORWARD_SEEN_FIELD
};

/* How the upstreams are asked. It never changes. */
struct forward_ways {
	uint32_t n_upstreams;
	bool tcp_only;
	bool has_tls;
	bool caps_for_id;
};

/* Each upstream's address and the name in its certificate ("": none). They never change. */
struct forward_named {
	struct sockaddr_storage address;
	char name[UPSTREAM_NAME_CAP];
};

struct forward_board {
	struct forward_ways ways;
	struct forward_named named[UPSTREAMS_MAX];
	struct forward_seen of[UPSTREAMS_MAX];
};

struct forward_tcp;

/* Writes what never changes. Before another thread reads the board. */
void forward_board_init(struct forward_board *board, const struct upstreams *us,
			const struct forward_ways *ways);

/* Writes the board of these upstreams and their connections. Their thread. */
void forward_board_put(struct forward_board *board, const struct upstreams *us,
		       const struct forward_tcp *tcp);

/* Reads row i. Any thread. */
void forward_board_get(const struct forward_board *board, unsigned int i, struct forward_seen *out);

#endif
