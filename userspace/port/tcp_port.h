/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tcp port's own state; its making is in tcp_open.c, who is let in and who goes in tcp_admit.c,
 * its turns and timers are in tcp.c, its replies in tcp_send.c. For the tcp port alone.
 */
#ifndef VOLLEY_PORT_TCP_PORT_H
#define VOLLEY_PORT_TCP_PORT_H

#include "port/port.h"
#include "port/tcp_config.h"
#include "port/tcp_conn.h"

#define TCP_WAKE_TAG      UINT64_MAX
#define TCP_LISTENER_TAG  (UINT64_MAX - 1) /* of the first listener; the next ones have less */
#define TCP_LISTENERS_MAX 1024u
#define TCP_INTAKE_TAG    (TCP_LISTENER_TAG - TCP_LISTENERS_MAX)
#define TCP_CLIENT_LISTS  1024u          /* a power of two */
#define TCP_BUFFER_BYTES  (64u + 65536u) /* one message, with room before it for its length */
#define TCP_BUFFER_OFFSET 64u

struct tcp_port {
	struct port port;     /* its fd is the epoll */
	struct tcp_listener { /* by the number in its tag */
		int fd;       /* -1: it listens no more, and the next listener takes its place */
		struct port_addr at;
	} * listeners;
	uint32_t n_listeners; /* with those that listen no more */
	struct tcp_config config;
	struct tcp_share *share;
	struct tcp_share *own_share;       /* the same, where it is the port's own; else NULL */
	int wake_fd;                       /* of the share's wishes */
	struct tcp_arrivals arrivals;      /* from config.intake; fd -1 without one */
	uint64_t timeout_ns[TCP_N_TIMERS]; /* as configured */
	uint32_t scale;                    /* of them, now: tcp_share_scale() */
	uint64_t resume_at_ns; /* accepting pauses until then; PORT_NEVER: it does not */
	uint64_t now_ns;       /* of the last receive */
	uint32_t queries_max;

	uint32_t n_slots;
	uint32_t n_fresh; /* of the slots never used, the first */
	struct tcp_conn *conns;
	uint8_t *in;      /* their input, one mapping */
	uint8_t *buffers; /* of the burst */
	struct tcp_pool pool;
	uint64_t n_queued; /* replies of all connections that wait */
	/* messages that are with the worker now; the pool has room for their replies */
	uint32_t n_taken;

	struct cds_list_head free;
	struct cds_list_head ready;
	struct cds_list_head timers[TCP_N_TIMERS];
	struct cds_list_head clients[TCP_CLIENT_LISTS];
};

extern const struct port_ops tcp_ops;

/* What the epoll says of a connection: its slot, and which of the slot's connections it was. */
static inline uint64_t tcp_port_tag(const struct tcp_port *t, const struct tcp_conn *c)
{
	return (uint64_t)c->gen << 32 | (uint32_t)(c - t->conns);
}

static inline uint8_t *tcp_port_buffer(struct tcp_port *t, unsigned int i)
{
	return t->buffers + (size_t)i * TCP_BUFFER_BYTES + TCP_BUFFER_OFFSET;
}

/* The first of a list of timers, or of free slots, that is not empty. */
static inline struct tcp_conn *tcp_first(const struct cds_list_head *list)
{
	return cds_list_first_entry(list, struct tcp_conn, timer_link);
}

/* Whether the pool could hold n_msgs replies, however long. */
static inline bool tcp_port_can_queue(const struct tcp_port *t, unsigned int n_msgs)
{
	return t->pool.n_free >= n_msgs * TCP_CHUNKS_PER_MSG;
}

/* Free a connection's slot, but leave the socket; what waits in it is counted as dropped. */
void tcp_port_forget(struct tcp_port *t, struct tcp_conn *c);

/* The same, and close the socket. */
void tcp_port_end(struct tcp_port *t, struct tcp_conn *c);

/* End the connection that has stalled longest. False where none is writing. */
bool tcp_port_evict_writer(struct tcp_port *t);

/* After any change of its bytes or counts: what the connection waits for now, or its end. */
void tcp_port_update(struct tcp_port *t, struct tcp_conn *c, uint64_t now_ns);

/* port_ops.send and .reply: tcp_send.c. */
void tcp_port_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n);
unsigned int tcp_port_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			    unsigned int n);

/* Let in the connections that wait at a listener, so that they get answers, and close it. */
void tcp_port_close_listener(struct tcp_port *t, struct tcp_listener *l);

/* Listen to the listeners, or not for a while. */
void tcp_port_watch_listeners(struct tcp_port *t, bool on);

/* When the connection's time is up, as full as it is now. */
static inline uint64_t tcp_port_deadline(const struct tcp_port *t, const struct tcp_conn *c)
{
	return c->since_ns + t->timeout_ns[c->timer] / TCP_SHARE_SCALE_FULL * t->scale;
}

/* Which timer runs from now on. */
void tcp_port_set_timer(struct tcp_port *t, struct tcp_conn *c, enum tcp_timer timer,
			uint64_t now_ns);

/* tcp_admit.c: accept what is there; close one where another port wishes it. */
void tcp_port_accept(struct tcp_port *t, uint32_t listener, uint64_t now_ns);
void tcp_port_grant(struct tcp_port *t, uint64_t now_ns);

/* The same with what has come through the intake. */
void tcp_port_take_arrivals(struct tcp_port *t, uint64_t now_ns);

/* Free all but the struct itself and connections that are open. */
void tcp_port_fini(struct tcp_port *t);

#endif
