/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TCP connections of a forwarder: one to each upstream. The first query opens it. It is kept,
 * and all queries share it without waiting for each other (RFC 7766 section 6.2.1). It is closed
 * after FORWARD_TCP_IDLE_S without queries, or by the upstream at any time. If the upstream closes
 * it with queries outstanding, later connections carry at most as many queries at a time as it
 * answered.
 *
 *	closed ─► connecting ─► handshake (with TLS) ─► open ─► closed
 *
 * After a failed TLS handshake there is no new connection to this upstream within
 * FORWARD_TLS_AGAIN_NS, because a handshake costs more than a query.
 *
 * One thread, that of the event base. Buffers are allocated at the start, those of TLS with each
 * connection.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_TCP_H
#define VOLLEY_RESOLVER_FORWARD_TCP_H

#include "base/tls_client.h"
#include "resolver/forward_udp.h"

#define FORWARD_TCP_IDLE_S  10
#define FORWARD_TCP_QUERIES 16384 /* at a time on a connection, with those no longer waited for */
#define FORWARD_TCP_OUT     (1024 * (FORWARD_QUERY_MAX + 2))

#define FORWARD_TLS_AGAIN_NS 250000000ULL

#define FORWARD_TCP_WHY_CAP 200
#define FORWARD_TCP_FROM    16

/* The most queries in flight to an upstream if TCP is the only transport. */
#define FORWARD_TCP_IN_FLIGHT 1024

struct forward_tcp;

struct forward_connection {
	struct forward_channel channel; /* first */
	struct forward_tcp *tcp;
	struct event *readable;
	struct event *writable;
	struct tls_stream stream; /* with TLS */
	struct tls_session session;
	int fd;                        /* -1: closed */
	char why[FORWARD_TCP_WHY_CAP]; /* why the last connection could not be opened */
	bool is_connected;
	bool is_open; /* queries may be sent */
	uint32_t n_replies;
	uint32_t limit;      /* of queries at a time; kept for the next connections */
	uint64_t heard_ns;   /* the last octets came, or it was opened */
	uint64_t replied_ns; /* the last reply to a query came, or it was opened */
	uint64_t shut_until_ns;
	size_t n_in;
	size_t n_out;
	uint8_t *in; /* a message with its length */
	uint8_t *out;
};

struct forward_tcp {
	const struct upstreams *upstreams;
	struct event_base *base;
	struct forward_events events;
	uint64_t silence_ns;
	SSL_CTX *tls;
	struct sockaddr_storage from[FORWARD_TCP_FROM];
	unsigned int n_from;
	unsigned int n_opened;
	uint64_t *n_sent;
	uint64_t *n_tls_failed;
	struct forward_connection connections[UPSTREAMS_MAX];
};

struct forward_tcp_config {
	const struct upstreams *upstreams;
	struct event_base *base;
	struct forward_events events;
	/* A connection with queries is closed after so long without octets, and after twice as long
	 * without a reply to one of them. */
	uint64_t silence_ns;
	SSL_CTX *tls; /* owned by the caller; NULL: no TLS */
	/*
	 * Addresses to connect from, used in turn, each for upstreams of its family; only the first
	 * FORWARD_TCP_FROM are used. NULL ends the list. If `from` is NULL or has none of the
	 * family, the system chooses.
	 */
	const char *const *from;
	uint64_t *n_sent; /* counter of queries; the next: of failed handshakes */
	uint64_t *n_tls_failed;
};

/* 0 or -ENOMEM. Call forward_tcp_fini() in any case. */
int forward_tcp_init(struct forward_tcp *tcp, const struct forward_tcp_config *config)
	__attribute__((warn_unused_result));
void forward_tcp_fini(struct forward_tcp *tcp);

/* True if the connection has as many queries as it may have. */
bool forward_tcp_is_full(const struct forward_tcp *tcp, uint8_t upstream);

/* The channel to this upstream, which is perhaps still connecting; NULL: it cannot be opened. */
struct forward_channel *forward_tcp_channel(struct forward_tcp *tcp, uint8_t upstream,
					    uint64_t now_ns);

/* Appends a query to a channel that is not full. */
void forward_tcp_add(struct forward_tcp *tcp, struct forward_channel *channel, const uint8_t *query,
		     size_t n_bytes);

/* The descriptor of a channel's connection. */
int forward_tcp_fd(const struct forward_channel *channel);

/* Sends what was appended. True if this broke a channel. */
bool forward_tcp_end_round(struct forward_tcp *tcp, uint64_t now_ns);

/* A reply did not come in time. Closes the connection, with broken(), if it has been silent for too
 * long: silence_ns, above. */
void forward_tcp_on_silence(struct forward_tcp *tcp, struct forward_channel *channel,
			    uint64_t now_ns);

#endif
