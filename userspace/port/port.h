/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port receives messages and sends replies in bursts. AF_XDP, kernel sockets, TCP, TLS and DPDK
 * implement the table of functions below, so a worker need not know which kind of port it has. A
 * port knows no DNS: a message is octets, room for the reply, and the addresses of both ends.
 *
 *      port_receive() ──► msgs[0..n-1] ──► handler writes each reply over its query ──► port_send()
 *           ▲                                                                             │
 *           └──────────────── all buffers belong to the port again ───────────────────────┘
 *
 * Receive and send alternate strictly: ONE send hands back all messages of a receive, in the same
 * order, before the next receive. So a port needs the buffers of one burst only, and no message is
 * lost between the two.
 *
 * A reply that is not ready yet can be sent at any later time: the handler notes its destination
 * and hands the message back like the others. The buffer is free at once.
 *
 *      handler: port_defer() ──► struct port_return, kept by the caller ──► port_reply(), once
 *
 * A reply over a connection may have any number of messages, and other messages of the connection
 * wait until the last one has left: port_claim(). The port keeps no more of it than the socket has
 * not taken of one port_reply(). It says when the socket has taken that, and when the connection
 * has ended:
 *
 *      handler: port_claim(), port_defer() ──► port_reply(.more) ... port_reply()
 *                                                ▲       │ port_has_room() is false
 *                                PORT_ROOM ──────┘       ▼
 *                                PORT_GONE ◄── struct port_watch
 *
 * Threads: control opens and closes a port; only the worker that the port was given to calls the
 * rest. Only that worker writes the counters; any thread may read them with port_counter().
 */
#ifndef VOLLEY_PORT_PORT_H
#define VOLLEY_PORT_PORT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORT_BURST    64         /* messages of one burst at most */
#define PORT_NAME_CAP 96         /* "tcp 2001:db8::53@53 +2", with its NUL */
#define PORT_NEVER    UINT64_MAX /* port_wake_at(): only when the fd is readable */
#define PORT_L2_CAP   22         /* Ethernet with two VLAN tags */

#define PORT_KIND_LIST(X)        \
	X(PORT_XSK, "xsk")       \
	X(PORT_SOCKET, "socket") \
	X(PORT_TCP, "tcp")       \
	X(PORT_TLS, "tls")       \
	X(PORT_DPDK, "dpdk")

enum port_kind {
#define PORT_KIND(name, text) name,
	PORT_KIND_LIST(PORT_KIND) PORT_N_KINDS
#undef PORT_KIND
};

/*
 * Between two rounds the counters of every port add up:
 *
 *      rx + more = malformed + truncated_in + no_reply + tx + tx_dropped + replies that wait +
 *                  port_deferred() + to_kernel + to_kernel_lost + put_back
 *
 * Replies wait in the port for room in the ring or the socket: tcp_port.n_queued of TCP and TLS,
 * xsk_port.n_backlog of AF_XDP. port_deferred() is deferred - late. A late reply is counted when it
 * is sent, in the same counters as any other: tx, no_reply, tx_dropped ... Each message of a reply
 * counts as a reply.
 *
 * Bytes: of whole frames with xsk, of DNS messages with sockets and TCP.
 */
#define PORT_COUNTER_LIST(X)                                                \
	X(rx, "messages received, bad ones included")                       \
	X(rx_bytes, "bytes of these messages")                              \
	X(malformed, "received but not a message for a server: recycled")   \
	X(truncated_in, "received longer than the buffer: recycled")        \
	X(no_reply, "handed back without a reply")                          \
	X(deferred, "handed back to be answered later")                     \
	X(late, "of the deferred, answered by now or given up")             \
	X(late_orphaned, "of the late, those whose connection was gone")    \
	X(more, "messages of late replies that more messages follow")       \
	X(put_back, "put back, to come again behind earlier replies")       \
	X(tx, "replies given to the kernel")                                \
	X(tx_bytes, "bytes of these replies")                               \
	X(tx_retried, "replies that found no room at first")                \
	X(tx_dropped, "replies that could not be sent: given up")           \
	X(tx_kicks, "calls that only tell the kernel to send")              \
	X(rx_errors, "failed calls to receive or accept")                   \
	X(fill_starved, "the fill ring ran out of frames")                  \
	X(to_kernel, "not for us: given to the kernel")                     \
	X(to_kernel_lost, "not for us, and the kernel did not take it")     \
	X(from_kernel, "frames of the kernel's own, sent")                  \
	X(from_kernel_lost, "frames of the kernel's own, lost")             \
	X(conns_opened, "connections accepted")                             \
	X(conns_closed, "connections closed, for whatever reason")          \
	X(conns_refused, "connections over the limit: refused")             \
	X(conns_evicted, "idle or stalled connections closed to make room") \
	X(conns_timed_out, "connections closed by a timeout")

struct port_stats {
#define PORT_COUNTER(name, text) uint64_t name;
	PORT_COUNTER_LIST(PORT_COUNTER)
#undef PORT_COUNTER
};

/*
 * How the handler hands a message back to port_send():
 *
 *	received ─┬─► PORT_REPLIES    len octets of reply; 0: there is none
 *	          ├─► PORT_DEFERS     the reply follows by port_reply(): port_defer()
 *	          ├─► PORT_PUTS_BACK  the message is received once more: port_claim()
 *	          └─► PORT_CLOSES     its connection ends; later messages there are not answered
 *
 * All but PORT_REPLIES have len 0.
 */
enum port_outcome { PORT_REPLIES, PORT_DEFERS, PORT_PUTS_BACK, PORT_CLOSES };

/*
 * One message. In: the query at data, of len bytes (0 is possible: an empty datagram). Out: the
 * reply at the same place, of len bytes, at most cap; len 0 sends nothing. cap is the room at data,
 * which is never smaller than the query. Addresses of family AF_INET use the first 4 bytes. data
 * stays valid until port_send(), and no other thread uses it.
 */
struct port_msg {
	uint8_t *data;
	uint32_t len;
	uint32_t cap;
	uint8_t family; /* AF_INET or AF_INET6 */
	bool stream;    /* came over TCP: a reply may have 65535 bytes and never needs TC */
	bool encrypted; /* stream: it came over TLS */
	/* stream: how long the connection may be idle after the reply; 0: the connection ends */
	uint16_t idle_100ms;
	__be16 peer_port;
	__be16 local_port;
	uint8_t peer[16];
	uint8_t local[16]; /* destination of the query, source of the reply */
	uint32_t ifindex;  /* the interface it came in by; 0: not known */
	uint8_t outcome;   /* out: enum port_outcome; in: PORT_REPLIES */

	/* Only the port reads and writes these. */
	uint32_t slot;     /* of the buffer or connection */
	uint32_t gen;      /* tcp: which of the slot's connections */
	uint64_t frame_at; /* xsk: offset of the frame in the UMEM; tcp: offset in the input */
	uint16_t net_off;  /* xsk: IP header in the frame; tcp: messages before it in this burst */
};

struct port;

/*
 * The destination of a late reply, whose message has been handed back already. Plain data: the
 * owner copies it by value and keeps it as long as needed. The owner may read port and cap; the
 * rest is for the port alone.
 */
struct port_return {
	struct port *port;
	uint32_t cap; /* the longest reply that can be sent there */
	uint32_t slot, gen;
	uint32_t ifindex;
	uint8_t family;
	bool stream;
	bool is_tls13; /* tcp: the connection is over TLS 1.3 */
	__be16 peer_port;
	__be16 local_port;
	uint8_t l2_bytes; /* xsk: MACs, VLAN tags and type, as the query had them */
	uint8_t l2[PORT_L2_CAP];
	uint8_t peer[16];
	uint8_t local[16];
};

/* A late reply. data belongs to the caller; the port does not use it after port_reply() returns. */
struct port_reply {
	const struct port_return *to;
	const uint8_t *data;
	uint32_t len; /* at most to->cap; 0: no reply will be sent */
	bool more;    /* another message of this reply follows; only after port_claim() */
	bool closes;  /* with len 0: the connection ends */
};

enum port_event {
	PORT_ROOM, /* the socket has taken all of the reply so far: port_has_room() is true */
	PORT_GONE, /* the connection has ended; the watch is not used any more */
};

/*
 * Called on the worker's thread, from any function of the port. It only makes a note: it must not
 * call the port. A port that is closed does not call it.
 */
struct port_watch {
	void (*tell)(struct port_watch *watch, enum port_event event);
};

struct port_ops {
	unsigned int (*receive)(struct port *p, uint64_t now_ns, struct port_msg *msgs,
				unsigned int n_cap);
	void (*send)(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n);
	/* Fills the fields of *out that port_defer() cannot know. NULL: there are none. */
	void (*defer)(struct port *p, const struct port_msg *msg, struct port_return *out);
	/* NULL: the port cannot defer. Counts all but `late`, which port_reply() counts. */
	unsigned int (*reply)(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			      unsigned int n);
	/* NULL, both: the port has no connections. */
	int (*claim)(struct port *p, const struct port_msg *msg, struct port_watch *watch);
	bool (*has_room)(const struct port *p, const struct port_return *to);
	int (*start)(struct port *p);
	void (*stop)(struct port *p);
	void (*retire)(struct port *p);
	uint64_t (*wake_at)(struct port *p);
	void (*close)(struct port *p);
};

/* The head of every port; the implementation's own struct begins with it. */
struct port {
	const struct port_ops *ops;
	enum port_kind kind;
	int fd; /* readable when there is something to receive */
	char name[PORT_NAME_CAP];
	struct port_stats stats;
};

/*
 * Receives up to n_cap (at most PORT_BURST) messages; returns their number, 0 if there are none.
 * Never blocks. If it returns fewer than n_cap, no more have arrived, unless port_wake_at() is 0.
 * now_ns is CLOCK_MONOTONIC; timeouts are measured by it.
 */
static inline unsigned int port_receive(struct port *p, uint64_t now_ns, struct port_msg *msgs,
					unsigned int n_cap)
{
	return p->ops->receive(p, now_ns, msgs, n_cap);
}

/* Takes back all n messages of the last receive, in the same order, and sends the replies. */
static inline void port_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n)
{
	p->ops->send(p, now_ns, msgs, n);
}

/* True if the port can send late replies. Any thread. */
static inline bool port_can_defer(const struct port *p)
{
	return p->ops->reply != NULL;
}

/*
 * Writes the destination of the reply to msg into *out. The handler calls this while the query is
 * still whole at data. Then it sets PORT_DEFERS and len = 0, or answers at once and forgets *out.
 *
 * After a message was handed back as deferred, ONE port_reply() must follow for its *out, even if
 * the reply is empty: the port counts it as outstanding, and tcp keeps the connection open for it.
 * Before control closes a port, the owner of these port_returns must forget them; a reply to a
 * closed port is a use after free. Only if port_can_defer(). The worker's thread.
 */
void port_defer(struct port *p, const struct port_msg *msg, struct port_return *out);

/*
 * Sends n late replies (at most PORT_BURST), all of them to p. An earlier port_send() has handed
 * back their messages. Adjacent replies to one TCP connection leave by one system call. May be
 * called between a receive and its send, too. Returns how many were sent or wait for room. Of the
 * others, replies with len 0 count as no_reply, the rest as tx_dropped. A reply with `more` is
 * followed by others to the same destination, the next one when port_has_room(). The worker's
 * thread.
 */
unsigned int port_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			unsigned int n);

/* True if both are of one connection. In a burst, messages of one connection are adjacent. */
static inline bool port_same_stream(const struct port_msg *a, const struct port_msg *b)
{
	return a->stream && b->stream && a->slot == b->slot && a->gen == b->gen;
}

/*
 * Says that another thread will answer msg, which must have stream: its connection becomes one of a
 * peer (port/tcp.h). With a watch, the reply may have several messages, and nothing else leaves
 * between them. The handler calls this before port_defer().
 *
 * 0, or 1 for the first such message of its connection: the handler defers the message. The watch
 * is used until the last message of the reply, or PORT_GONE. -EAGAIN, only with a watch: earlier
 * messages are not answered yet; the handler sets PORT_PUTS_BACK and len = 0, and the message comes
 * again after all replies have left. With a watch, in both cases, the handler also sets
 * PORT_PUTS_BACK and len = 0 in all later messages of this connection in the burst. Another error:
 * the connection cannot be kept, and the handler sets PORT_CLOSES. The worker's thread.
 */
__attribute__((warn_unused_result)) int port_claim(struct port *p, const struct port_msg *msg,
						   struct port_watch *watch);

/* True if no octets of this connection wait in the port, or it has ended. After port_claim(). */
static inline bool port_has_room(const struct port *p, const struct port_return *to)
{
	return !p->ops->has_room || p->ops->has_room(p, to);
}

/*
 * Begins to attract traffic (AF_XDP: enters the socket in the map); port_stop() ends it. Messages
 * that arrived before port_stop() can still be received. 0 or -errno.
 */
__attribute__((warn_unused_result)) static inline int port_start(struct port *p)
{
	return p->ops->start ? p->ops->start(p) : 0;
}

static inline void port_stop(struct port *p)
{
	if (p->ops->stop)
		p->ops->stop(p);
}

/*
 * The same where it takes a system call that a worker may not make (base/sandbox.h). Control's
 * thread, also while a worker uses the port; before worker_port_remove().
 */
static inline void port_retire(struct port *p)
{
	if (p->ops->retire)
		p->ops->retire(p);
}

/*
 * The latest time of the next port_receive(), even if the fd is not readable. 0: at once (messages
 * wait in the port, or the port is busy-polled); else CLOCK_MONOTONIC in ns, or PORT_NEVER.
 */
static inline uint64_t port_wake_at(struct port *p)
{
	return p->ops->wake_at ? p->ops->wake_at(p) : PORT_NEVER;
}

/* Messages that were handed back and have no reply yet. The worker's thread only. */
static inline uint64_t port_deferred(const struct port *p)
{
	return p->stats.deferred - p->stats.late;
}

/*
 * Frees everything. A port_return of this port must not be used any more. Control's thread, when no
 * worker has the port. NULL is allowed.
 */
static inline void port_close(struct port *p)
{
	if (p)
		p->ops->close(p);
}

/* Adds to a counter of the calling thread. One writer needs no locked instruction. */
static inline void port_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Read a counter that another thread writes. */
static inline uint64_t port_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Counts a message that was handed back without a reply. For implementations of ports. */
static inline void port_count_unsent(struct port *p, const struct port_msg *msg)
{
	struct port_stats *s = &p->stats;

	port_count(msg->outcome == PORT_PUTS_BACK ? &s->put_back :
		   msg->outcome == PORT_DEFERS    ? &s->deferred :
						    &s->no_reply,
		   1);
}

/* Copies all counters. Each value is whole; they are not of one instant. Any thread. */
void port_stats_read(const struct port *p, struct port_stats *out);

/* "xsk", "socket", ... Static. */
const char *port_kind_text(enum port_kind kind);

#endif
