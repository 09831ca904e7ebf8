/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The UDP sockets of a forwarder, and its packets in bursts.
 *
 *	           open, random port     1024 queries, or 2 s,       no query on it
 *	 free ─────────────────────► current ─────────────────► retired ──────────► free
 *	                             8 of each upstream, for       oldest one where none is free
 *	                             each burst one at random
 *
 * A socket is bound to a random port and connected to its upstream, so the kernel lets nothing in
 * but what has the upstream's address and port and goes to this port (RFC 5452 section 9). It
 * serves many queries, for opening one costs more than a query; it is changed so soon that nobody
 * has the time to find out its port.
 *
 * Guesses: after FORWARD_UDP_WRONG replies to no query of the socket it is closed, and its queries
 * are the owner's to ask elsewhere (FORWARD_FORGED): with n queries on it, a guesser has at most
 * FORWARD_UDP_WRONG times n chances in 65536. Replies to queries that were on the socket before are
 * late, or doubled by the
 * network: they are refused and not counted, as their IDs are of no use to a guesser.
 *
 * Queries are gathered for each upstream and sent with one system call.
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
#define FORWARD_UDP_WRONG   3 /* replies to no query, of now or before: then it is closed */
#define FORWARD_BURST       64

enum forward_break {
	FORWARD_LOST,    /* to make room for another one */
	FORWARD_CLOSED,  /* by the upstream, which had replied on it */
	FORWARD_REFUSED, /* the network or the upstream's host says that it cannot be reached */
	FORWARD_FORGED, /* wrong replies came: the next one may be a forged one with the right ID */
};

/* What comes of channels. Called on the thread by libevent, and by what says so. */
struct forward_events {
	void *ctx;
	/* A message of n octets at msg, which may be written to. Whether it was a reply to a
	 * query. */
	bool (*message)(void *ctx, struct forward_channel *channel, uint8_t *msg, size_t n,
			uint64_t now_ns);
	/* The channel's queries get no replies any more: take them off. */
	void (*broken)(void *ctx, struct forward_channel *channel, enum forward_break how,
		       uint64_t now_ns);
};

struct forward_udp;

struct forward_socket {
	struct forward_channel channel; /* first */
	struct cds_list_head node;      /* of the free or the retired ones */
	struct forward_udp *udp;
	struct event *event;
	int fd; /* -1: free */
	uint32_t n_left;
	uint32_t n_wrong;
	uint32_t n_past;
	bool is_current;
	bool is_refused; /* the system said so, and the owner has not been told yet */
	uint64_t opened_ns;
	uint16_t past[FORWARD_UDP_QUERIES]; /* IDs of the n_past queries that were on it */
};

struct forward_burst {
	struct forward_socket *socket; /* that all of it goes to */
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
	uint64_t *n_sent; /* queries are counted here, and sockets that were opened */
	uint64_t *n_opened;
};

/* -ENOMEM; forward_udp_fini() in any case. No socket is opened yet. */
int forward_udp_init(struct forward_udp *udp, const struct forward_udp_config *config)
	__attribute__((warn_unused_result));
void forward_udp_fini(struct forward_udp *udp);

/*
 * The channel for the next query to this upstream; NULL: no socket can be had. Another one may be
 * broken by it: FORWARD_LOST.
 */
struct forward_channel *forward_udp_channel(struct forward_udp *udp, uint8_t upstream,
					    uint64_t now_ns);

/* Room for a query on the channel, until the next call of this floor. */
uint8_t *forward_udp_room(struct forward_udp *udp, struct forward_channel *channel);

/* Its octets were written there. */
void forward_udp_add(struct forward_udp *udp, struct forward_channel *channel, size_t n_bytes);

/* A query with this ID was taken off the channel. */
void forward_udp_put(struct forward_udp *udp, struct forward_channel *channel, uint16_t id);

/* The descriptor of a channel's socket. */
int forward_udp_fd(const struct forward_channel *channel);

/* Sends all that was gathered; whether channels were broken by that: FORWARD_REFUSED. */
bool forward_udp_end_round(struct forward_udp *udp, uint64_t now_ns);

#endif
