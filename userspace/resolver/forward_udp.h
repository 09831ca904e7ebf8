/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The UDP sockets of a forwarder, and its packets in bursts. The life of a socket:
 *
 *	           open, random port     1024 queries, or 2 s,       no query on it
 *	 free ─────────────────────► current ─────────────────► retired ──────────► free
 *	                             8 of each upstream, for       the oldest, if none is free
 *	                             each burst one at random
 *
 * A socket is bound to a random port and connected to its upstream, so the kernel accepts only
 * packets from the upstream's address and port to this port (RFC 5452 section 9). It serves many
 * queries, because opening a socket costs more than a query. It is replaced so soon that an
 * attacker has no time to find out its port.
 *
 * Guesses: after FORWARD_UDP_WRONG replies that match no query, the socket is closed, and its owner
 * asks its queries elsewhere (FORWARD_FORGED). So against n queries a guesser has at most
 * FORWARD_UDP_WRONG times n chances in 65536. A reply to an earlier query of the socket is late, or
 * the network doubled it. It is ignored and not counted, because its ID is of no use to a guesser.
 *
 * Queries are collected for each upstream and sent with one system call.
 *
 * One thread, that of the event base.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_UDP_H
#define VOLLEY_RESOLVER_FORWARD_UDP_H

#include <event2/event.h>

#include "resolver/forward_message.h"
#include "resolver/forward_queries.h"
#include "resolver/upstreams.h"

#define FORWARD_UDP_SOCKETS 256
#define FORWARD_UDP_CURRENT 8 /* of each upstream */
#define FORWARD_UDP_QUERIES 1024
#define FORWARD_UDP_AGE_NS  2000000000ULL
#define FORWARD_UDP_WRONG   3 /* replies that match no present or past query, then it is closed */
#define FORWARD_BURST       64

enum forward_break {
	FORWARD_LOST,    /* to make room for another socket */
	FORWARD_CLOSED,  /* by the upstream, after it had replied */
	FORWARD_REFUSED, /* the upstream cannot be reached, or closed before any reply */
	FORWARD_FORGED,  /* wrong replies came: the next forged one may have the right ID */
};

/* The events of channels. Called on the thread, by libevent and by functions that say so. */
struct forward_events {
	void *ctx;
	/* A message of n octets at msg, which the callee may overwrite. Returns true if it was a
	 * reply to a query. */
	bool (*message)(void *ctx, struct forward_channel *channel, uint8_t *msg, size_t n,
			uint64_t now_ns);
	/* The channel gets no more replies. The callee must take its queries off. */
	void (*broken)(void *ctx, struct forward_channel *channel, enum forward_break how,
		       uint64_t now_ns);
};

struct forward_udp;

struct forward_socket {
	struct forward_channel channel; /* first */
	struct cds_list_head node;      /* of udp.free or udp.retired */
	struct forward_udp *udp;
	struct event *event;
	int fd; /* -1: free */
	uint32_t n_left;
	uint32_t n_wrong;
	uint32_t n_past;
	bool is_current;
	bool is_refused; /* the system said so; broken() is still to be called */
	uint64_t opened_ns;
	uint16_t past[FORWARD_UDP_QUERIES]; /* IDs of its n_past earlier queries */
};

struct forward_burst {
	struct forward_socket *socket; /* that the burst goes to */
	unsigned int n;
	uint16_t n_bytes[FORWARD_BURST];
	uint8_t bytes[FORWARD_BURST][FORWARD_QUERY_MAX];
};

struct forward_udp {
	const struct upstreams *upstreams;
	struct random *random;
	struct event_base *base;
	struct forward_events events;
	uint16_t port_first, port_last;
	uint64_t *n_sent; /* counters */
	uint64_t *n_opened;
	unsigned int n_refused; /* sockets with is_refused */
	struct cds_list_head free;
	struct cds_list_head retired; /* oldest first */
	struct forward_socket sockets[FORWARD_UDP_SOCKETS];
	struct forward_socket *current[UPSTREAMS_MAX][FORWARD_UDP_CURRENT];
	struct forward_burst bursts[UPSTREAMS_MAX];
	struct forward_received *received;
};

struct forward_udp_config {
	const struct upstreams *upstreams;
	struct random *random;
	struct event_base *base;
	struct forward_events events;
	uint16_t port_first; /* 0: all above 1023 */
	uint16_t port_last;
	uint64_t *n_sent; /* counter of queries; the next: of opened sockets */
	uint64_t *n_opened;
};

/* 0 or -ENOMEM. Call forward_udp_fini() in any case. No socket is opened yet. */
int forward_udp_init(struct forward_udp *udp, const struct forward_udp_config *config)
	__attribute__((warn_unused_result));
void forward_udp_fini(struct forward_udp *udp);

/*
 * The channel for the next query to this upstream; NULL: no socket can be opened. May call
 * broken(FORWARD_LOST) for another channel.
 */
struct forward_channel *forward_udp_channel(struct forward_udp *udp, uint8_t upstream,
					    uint64_t now_ns);

/* Room for a query on the channel, valid until the next call of a function of this header. */
uint8_t *forward_udp_room(struct forward_udp *udp, struct forward_channel *channel);

/* The caller has written the query's n_bytes octets there. */
void forward_udp_add(struct forward_udp *udp, struct forward_channel *channel, size_t n_bytes);

/* The caller has taken the query with this ID off the channel. */
void forward_udp_put(struct forward_udp *udp, struct forward_channel *channel, uint16_t id);

/* The descriptor of a channel's socket. */
int forward_udp_fd(const struct forward_channel *channel);

/* Sends all collected queries. True if this broke a channel: FORWARD_REFUSED. */
bool forward_udp_end_round(struct forward_udp *udp, uint64_t now_ns);

#endif
