/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the tcp port. Set-up is in tcp_open.c, admission and eviction of connections in
 * tcp_admit.c, connections of peers in tcp_claim.c, turns and timers in tcp.c, replies in
 * tcp_send.c. For the tcp port alone.
 */
#ifndef VOLLEY_PORT_TCP_PORT_H
#define VOLLEY_PORT_TCP_PORT_H

#include "port/port.h"
#include "port/tcp_config.h"
#include "port/tcp_conn.h"

#define TCP_WAKE_TAG      UINT64_MAX
#define TCP_LISTENER_TAG  (UINT64_MAX - 1) /* of listener 0; listener n has n less */
#define TCP_LISTENERS_MAX 1024u
#define TCP_INTAKE_TAG    (TCP_LISTENER_TAG - TCP_LISTENERS_MAX)
#define TCP_CLIENT_LISTS  1024u          /* a power of two */
#define TCP_BUFFER_BYTES  (64u + 65536u) /* one message, with room for its length before it */
#define TCP_BUFFER_OFFSET 64u

struct tcp_port {
	struct port port;     /* its fd is an epoll */
	struct tcp_listener { /* indexed by the number in the tag */
		int fd;       /* -1: unused, free for the next listener */
		struct port_addr at;
	} * listeners;
	uint32_t n_listeners; /* including unused places */
	struct tcp_config config;
	struct tcp_share *share;
	struct tcp_share *own_share;    /* the same if it belongs to the port; else NULL */
	int wake_fd;                    /* woken by wishes of the share */
	bool is_woken;                  /* wake_fd was read; clients' wishes are to be looked at */
	struct tcp_arrivals arrivals;   /* from config.intake; fd -1: no intake */
	struct tcp_peers_port as_peers; /* used if there is config.peers */
	uint64_t timeout_ns[TCP_N_CLASSES][TCP_N_TIMERS]; /* as configured */
	uint32_t scale[TCP_N_CLASSES]; /* current part of timeout_ns: tcp_share_scale() */
	uint64_t resume_at_ns;         /* accepting pauses until then; PORT_NEVER: no pause */
	uint64_t now_ns;               /* of the last receive */
	uint32_t queries_max;

	uint32_t n_slots;
	uint32_t n_fresh; /* index of the first slot that was never used */
	struct tcp_conn *conns;
	uint8_t *in;      /* input of all connections, one mapping */
	uint8_t *buffers; /* of the burst */
	struct tcp_pool pool;
	uint64_t n_queued; /* waiting replies of all connections */
	/* messages that the worker has now; the pool has room for their replies */
	uint32_t n_taken;

	struct cds_list_head free;
	struct cds_list_head ready;
	struct cds_list_head timers[TCP_N_CLASSES][TCP_N_TIMERS];
	struct cds_list_head clients[TCP_CLIENT_LISTS];
};

extern const struct port_ops tcp_ops;

/* The epoll data of a connection: its slot and its generation. */
static inline uint64_t tcp_port_tag(const struct tcp_port *t, const struct tcp_conn *c)
{
	return (uint64_t)c->gen << 32 | (uint32_t)(c - t->conns);
}

static inline uint8_t *tcp_port_buffer(struct tcp_port *t, unsigned int i)
{
	return t->buffers + (size_t)i * TCP_BUFFER_BYTES + TCP_BUFFER_OFFSET;
}

/* The first connection of a timer's list or of the free slots. The list must not be empty. */
static inline struct tcp_conn *tcp_first(const struct cds_list_head *list)
{
	return cds_list_first_entry(list, struct tcp_conn, timer_link);
}

/* True if the pool has room for n_msgs replies of any length. */
static inline bool tcp_port_can_queue(const struct tcp_port *t, unsigned int n_msgs)
{
	return t->pool.n_free >= n_msgs * TCP_CHUNKS_PER_MSG;
}

/* Closes a connection and frees its slot. Waiting replies are counted as dropped. */
void tcp_port_end(struct tcp_port *t, struct tcp_conn *c);

/* Ends the connection whose reader has stalled longest; one of a peer only if there is no other.
 * False: no connection is writing. */
bool tcp_port_evict_writer(struct tcp_port *t);

/* Call after any change of a connection's octets or counts. Sets its timer, or ends it. */
void tcp_port_update(struct tcp_port *t, struct tcp_conn *c, uint64_t now_ns);

/* port_ops.send and .reply: tcp_send.c. */
void tcp_port_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n);
unsigned int tcp_port_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			    unsigned int n);

/* Accepts the connections that wait at a listener, so that they get answers, and closes it. */
void tcp_port_close_listener(struct tcp_port *t, struct tcp_listener *l);

/* Switches the epoll events of all listeners on or off. */
void tcp_port_watch_listeners(struct tcp_port *t, bool on);

/* When the connection's timeout ends, at the current scale. */
static inline uint64_t tcp_port_deadline(const struct tcp_port *t, const struct tcp_conn *c)
{
	return c->since_ns +
	       t->timeout_ns[c->class][c->timer] / TCP_SHARE_SCALE_FULL * t->scale[c->class];
}

/* Starts the timer, unless it runs already. */
void tcp_port_set_timer(struct tcp_port *t, struct tcp_conn *c, enum tcp_timer timer,
			uint64_t now_ns);

/* tcp_admit.c: accepts waiting connections; closes a connection if another port wishes it. */
void tcp_port_accept(struct tcp_port *t, uint32_t listener, uint64_t now_ns);
void tcp_port_grant(struct tcp_port *t, uint64_t now_ns);

/* tcp_claim.c: port_ops.claim and .has_room. */
int tcp_port_claim(struct port *p, const struct port_msg *msg, struct port_watch *watch);
bool tcp_port_has_room(const struct port *p, const struct port_return *to);
/* Closes connections of peers if other ports wish it. Call tcp_port_rank() after any change. */
void tcp_port_grant_peers(struct tcp_port *t, uint64_t now_ns);
void tcp_port_rank(struct tcp_port *t, uint64_t now_ns);

/* Admits the connections that have come through the intake. */
void tcp_port_take_arrivals(struct tcp_port *t, uint64_t now_ns);

/* Frees everything except the struct itself and open connections. */
void tcp_port_fini(struct tcp_port *t);

#endif
