/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port: packets in and out in bursts, whatever they travel over. AF_XDP, kernel sockets, TCP (and
 * DPDK) share the table of functions below; a worker drives them without knowing which it has. A
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
 * Threads: open and close belong to control, all else to the one worker that the port was given to.
 * The counters are written by that worker alone and may be read by anyone with port_counter().
 */
#ifndef VOLLEY_PORT_PORT_H
#define VOLLEY_PORT_PORT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#define PORT_BURST    64         /* messages of one burst at most */
#define PORT_NAME_CAP 80         /* "udp 2001:db8::53@53", with its NUL */
#define PORT_NEVER    UINT64_MAX /* port_wake_at(): only when the fd is readable */

#define PORT_KIND_LIST(X)        \
	X(PORT_XSK, "xsk")       \
	X(PORT_SOCKET, "socket") \
	X(PORT_TCP, "tcp")       \
	X(PORT_DPDK, "dpdk")

enum port_kind {
#define PORT_KIND(name, text) name,
	PORT_KIND_LIST(PORT_KIND) PORT_N_KINDS
#undef PORT_KIND
};

/*
 * Every port's books balance between two rounds:
 *
 *      rx = malformed + truncated_in + no_reply + tx + tx_dropped + port_pending()
 *
 * Bytes are those that the port sees: whole frames with xsk, DNS messages with sockets and TCP.
 */
#define PORT_COUNTER_LIST(X)                                                \
	X(rx, "messages received, bad ones included")                       \
	X(rx_bytes, "bytes of these messages")                              \
	X(malformed, "received but not a message for a server: recycled")   \
	X(truncated_in, "received longer than the buffer: recycled")        \
	X(no_reply, "handed back without a reply")                          \
	X(tx, "replies given to the kernel")                                \
	X(tx_bytes, "bytes of these replies")                               \
	X(tx_retried, "replies that found no room at first")                \
	X(tx_dropped, "replies that could not be sent: given up")           \
	X(tx_kicks, "calls that only tell the kernel to send")              \
	X(rx_errors, "failed calls to receive or accept")                   \
	X(fill_starved, "the fill ring ran out of frames")                  \
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
	__be16 peer_port;
	__be16 local_port;
	uint8_t peer[16];
	uint8_t local[16]; /* the address that was asked: the reply leaves from it */
	uint32_t ifindex;  /* the interface it came in by, where known, else 0 */

	/* The port's own; nobody else reads or writes these. */
	uint32_t slot;     /* of the buffer or connection */
	uint64_t frame_at; /* xsk: offset of the frame in the UMEM */
	uint16_t net_off;  /* xsk: IP header in the frame */
};

struct port;

struct port_ops {
	unsigned int (*receive)(struct port *p, uint64_t now_ns, struct port_msg *msgs,
				unsigned int n_cap);
	void (*send)(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n);
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
	char name[PORT_NAME_CAP];
	struct port_stats stats;
};

/*
 * Up to n_cap (at most PORT_BURST) messages; 0 when nothing is there. Never blocks. Fewer than n_cap
 * mean that nothing more is there now, unless port_wake_at() is 0. now_ns is CLOCK_MONOTONIC:
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

/* Free everything. Control's thread, when no worker has the port. NULL is allowed. */
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

/* Copy all counters. Each value is whole; the set is not of one instant. Any thread. */
void port_stats_read(const struct port *p, struct port_stats *out);

/* "xsk", "socket", ... Static. */
const char *port_kind_text(enum port_kind kind);

#endif
