/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port: packets in and out in bursts, whatever they travel over. AF_XDP, kernel sockets, TCP, TLS
 * and DPDK share the table of functions below; a worker drives them without knowing which it has. A
 * port knows no DNS: a message is bytes, a place for the reply, and where both belong.
 *
 *      port_receive() ──► msgs[0..n-1] ──► handler writes each reply over its query ──► port_send()
 *           ▲                                                                             │
 *           └────────────── the buffers are the port's again, all of them ────────────────┘
 *
 * Receive and send alternate strictly: every message that a receive gave is handed back by ONE
 * send, in the same order, before the next receive. So a port keeps one burst of buffers and no
 * message is lost between the two.
 *
 * A reply that is not known yet can follow at any time: the handler notes where it goes, the
 * message is handed back like the others, and the buffer does not wait for it.
 *
 *      handler: port_defer() ──► struct port_return, the caller's ──► port_reply(), once
 *
 * A connection can be given away as a whole to who does more with it than reply: port_give(). What
 * was asked before has to be answered first; until then the message is put back, and comes again.
 *
 * Threads: open and close belong to control, all else to the one worker that the port was given to.
 * The counters are written by that worker alone and may be read by anyone with port_counter().
 */
#ifndef VOLLEY_PORT_PORT_H
#define VOLLEY_PORT_PORT_H

#include <linux/types.h>
#include <openssl/types.h>
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
 * Every port's books balance between two rounds:
 *
 *      rx = malformed + truncated_in + no_reply + tx + tx_dropped + port_pending() +
 *      port_deferred()
 *           + to_kernel + to_kernel_lost + given + put_back
 *
 * where port_deferred() is deferred - late. A reply that comes late is counted when it comes, as
 * any other is: in tx, no_reply, tx_dropped ...
 *
 * Bytes are those that the port sees: whole frames with xsk, DNS messages with sockets and TCP.
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
	X(given, "gone with their connection, which was given away")        \
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
	X(conns_given, "of the closed, those that were given away open")    \
	X(conns_timed_out, "connections closed by a timeout")

struct port_stats {
#define PORT_COUNTER(name, text) uint64_t name;
	PORT_COUNTER_LIST(PORT_COUNTER)
#undef PORT_COUNTER
};

/*
 * One message. In: the query at data, len bytes (0 is possible: an empty datagram). Out: the
 * reply at the same place, len bytes, at most cap; len 0 sends nothing. cap is the room at data and
 * never less than the query. Addresses of family AF_INET use the first 4 bytes. data stays valid
 * and exclusive until port_send().
 */
struct port_msg {
	uint8_t *data;
	uint32_t len;
	uint32_t cap;
	uint8_t family; /* AF_INET or AF_INET6 */
	bool stream;    /* came over TCP: a reply may be 65535 bytes long, TC is never needed */
	bool encrypted; /* stream: and over TLS */
	/* stream: how long the connection may be idle behind the reply; 0: it ends */
	uint16_t idle_100ms;
	__be16 peer_port;
	__be16 local_port;
	uint8_t peer[16];
	uint8_t local[16]; /* the address that was asked: the reply leaves from it */
	uint32_t ifindex;  /* the interface it came in by, where known, else 0 */
	bool deferred; /* out, with len 0: the reply follows by port_reply(); see port_defer() */
	bool given;    /* out, with len 0: see port_give(), for both */
	bool put_back;
	/* out, with len 0: its connection ends; what follows it there is not answered */
	bool closes;

	/* The port's own; nobody else reads or writes these. */
	uint32_t slot;     /* of the buffer or connection */
	uint32_t gen;      /* tcp: which of the slot's connections */
	uint64_t frame_at; /* xsk: offset of the frame in the UMEM; tcp: of the input */
	uint16_t net_off;  /* xsk: IP header in the frame; tcp: messages before it in this burst */
};

struct port;

/*
 * Where a reply goes whose message was handed back before: plain data, to be kept by value, as long
 * as need be. port and cap may be read, the rest is the port's.
 */
struct port_return {
	struct port *port;
	uint32_t cap; /* the longest reply that can be sent there */
	uint32_t slot, gen;
	uint32_t ifindex;
	uint8_t family;
	bool stream;
	__be16 peer_port;
	__be16 local_port;
	uint8_t l2_bytes; /* xsk: MACs, VLAN tags and type, as the query had them */
	uint8_t l2[PORT_L2_CAP];
	uint8_t peer[16];
	uint8_t local[16];
};

/* A reply that comes late. data is the caller's and is not needed any more when port_reply()
 * returns. */
struct port_reply {
	const struct port_return *to;
	const uint8_t *data;
	uint32_t len; /* at most to->cap; 0: there will be none */
};

/* A connection that was given away. */
struct port_gift {
	int fd;   /* the receiver's; not blocking */
	SSL *ssl; /* NULL: it is not over TLS; else the receiver's, and may have read more of fd */
	const uint8_t *bytes; /* read and not answered, lengths included; valid until port_send() */
	size_t n_bytes;
};

struct port_ops {
	unsigned int (*receive)(struct port *p, uint64_t now_ns, struct port_msg *msgs,
				unsigned int n_cap);
	void (*send)(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n);
	/* What port_defer() cannot know of itself; NULL: nothing. */
	void (*defer)(struct port *p, const struct port_msg *msg, struct port_return *out);
	/* NULL: the port cannot defer. Counts all but `late`, which port_reply() has counted. */
	unsigned int (*reply)(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			      unsigned int n);
	/* NULL: the port has no connections, or keeps them. */
	int (*give)(struct port *p, const struct port_msg *msg, struct port_gift *out);
	int (*start)(struct port *p);
	void (*stop)(struct port *p);
	uint64_t (*wake_at)(struct port *p);
	uint64_t (*pending)(const struct port *p);
	void (*close)(struct port *p);
};

/* The head of every port; the implementation's own struct begins with it. */
struct port {
	const struct port_ops *ops;
	enum port_kind kind;
	int fd; /* readable when there is something to receive */
	/* its messages come from who else connections are given to: worker/relay.h */
	bool is_relay;
	char name[PORT_NAME_CAP];
	struct port_stats stats;
};

/*
 * Up to n_cap (at most PORT_BURST) messages; 0 when nothing is there. Never blocks. Fewer than
 * n_cap mean that nothing more is there now, unless port_wake_at() is 0. now_ns is CLOCK_MONOTONIC:
 * timeouts are judged by it.
 */
static inline unsigned int port_receive(struct port *p, uint64_t now_ns, struct port_msg *msgs,
					unsigned int n_cap)
{
	return p->ops->receive(p, now_ns, msgs, n_cap);
}

/* Takes back all n messages of the last receive, in its order, and sends those with a reply. */
static inline void port_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n)
{
	p->ops->send(p, now_ns, msgs, n);
}

/* Whether replies of this port may come late. Any thread. */
static inline bool port_can_defer(const struct port *p)
{
	return p->ops->reply != NULL;
}

/*
 * Note where the reply to msg goes: called by the handler, while the query is still whole at data.
 * The handler then sets deferred and len = 0, or changes its mind, answers, and forgets *out.
 *
 * Each return of a message that was handed back deferred is used up by ONE port_reply(), be it with
 * no bytes: the port keeps account of it, and tcp a connection open. Whoever takes a port away
 * tells the owner of its returns before the port is closed, who then forgets them; a reply to a
 * port that is closed is a use after free. Only where port_can_defer(). The worker's thread.
 */
void port_defer(struct port *p, const struct port_msg *msg, struct port_return *out);

/*
 * Send n replies (at most PORT_BURST), all of them to p, whose messages were handed back by an
 * earlier port_send(). Replies to one TCP connection that are next to each other go out by one
 * call. May come between a receive and its send too. Returns how many were sent or wait in the port
 * for room; of the others, those with len 0 count as no_reply and the rest as tx_dropped. The
 * worker's thread.
 */
unsigned int port_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			unsigned int n);

/* Two messages of one connection: those of a burst stand next to each other. */
static inline bool port_same_stream(const struct port_msg *a, const struct port_msg *b)
{
	return a->stream && b->stream && a->slot == b->slot && a->gen == b->gen;
}

/*
 * Give away the connection that msg, which has stream, came by: called by the handler. 0: *out is
 * the receiver's, and the port has nothing to do with the connection any more; the handler sets
 * given and len = 0. -EAGAIN: earlier messages are still to be answered; the handler sets put_back
 * and len = 0, and the message comes again when all replies have left. Either holds for all
 * messages of this connection that follow in the burst, too; the handler answers none of them.
 * -EOPNOTSUPP: it cannot be given; the handler answers. The worker's thread.
 */
__attribute__((warn_unused_result)) int port_give(struct port *p, const struct port_msg *msg,
						  struct port_gift *out);

/*
 * Begin to attract traffic (AF_XDP: enter the socket in the map) and cease to. After port_stop()
 * what had already arrived can still be received. 0 or -errno.
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
 * When port_receive() must be called at the latest even if the fd stays silent: 0 for at once
 * (something waits here already, or the port is busy-polled), else CLOCK_MONOTONIC ns, PORT_NEVER.
 */
static inline uint64_t port_wake_at(struct port *p)
{
	return p->ops->wake_at ? p->ops->wake_at(p) : PORT_NEVER;
}

/* Replies that wait in the port for room further down. The worker's thread only. */
static inline uint64_t port_pending(const struct port *p)
{
	return p->ops->pending ? p->ops->pending(p) : 0;
}

/* Messages handed back whose replies are still to come. The worker's thread only. */
static inline uint64_t port_deferred(const struct port *p)
{
	return p->stats.deferred - p->stats.late;
}

/*
 * Free everything; returns of the port that are still kept lead nowhere from here on. Control's
 * thread, when no worker has the port. NULL is allowed.
 */
static inline void port_close(struct port *p)
{
	if (p)
		p->ops->close(p);
}

/* Add to a counter of ours. One writer, so no locked instruction; readers see whole values. */
static inline void port_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Read a counter that another thread writes. */
static inline uint64_t port_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Count a message that was handed back without a reply: for good, or for now. For ports. */
static inline void port_count_unsent(struct port *p, const struct port_msg *msg)
{
	struct port_stats *s = &p->stats;

	if (msg->given || msg->put_back)
		port_count(msg->given ? &s->given : &s->put_back, 1);
	else
		port_count(msg->deferred ? &s->deferred : &s->no_reply, 1);
}

/* Copy all counters. Each value is whole; the set is not of one instant. Any thread. */
void port_stats_read(const struct port *p, struct port_stats *out);

/* "xsk", "socket", ... Static. */
const char *port_kind_text(enum port_kind kind);

#endif
