/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TCP connections of a forwarder: one to each upstream, opened by the first query, kept, and
 * shared by all queries, which do not wait for each other (RFC 7766 section 6.2.1). It is closed
 * after FORWARD_TCP_IDLE_S without queries, or by the upstream whenever that likes. One that closes
 * it upon several queries has no more at a time from then on than it answered.
 *
 *	closed ─► connecting ─► handshake (with TLS) ─► open ─► closed
 *
 * An upstream with which the handshake failed is not connected to again within
 * FORWARD_TLS_AGAIN_NS, whoever asks: it costs more than a query.
 *
 * One thread, that of the event base. Buffers are made at the start, but those of TLS with each
 * connection.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_TCP_H
#define VOLLEY_RESOLVER_FORWARD_TCP_H

#include "base/tls_client.h"
#include "resolver/forward_udp.h"

#define FORWARD_TCP_IDLE_S  10
#define FORWARD_TCP_QUERIES 16384 /* at a time on a connection, with those given up */
#define FORWARD_TCP_OUT     (1024 * (FORWARD_QUERY_MAX + 2))

#define FORWARD_TLS_AGAIN_NS 250000000ULL

#define FORWARD_TCP_WHY_CAP 200
#define FORWARD_TCP_FROM    16

/* Where there is nothing but TCP: so many are waited for at a time. */
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
	char why[FORWARD_TCP_WHY_CAP]; /* why the last one could not be opened */
	bool is_connected;
	bool is_open; /* queries may be sent */
	uint32_t n_replies;
	uint32_t limit;    /* of queries at a time; stays when it is closed */
	uint64_t heard_ns; /* or opened */
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
	uint64_t silence_ns; /* with queries on it: then a connection is of no use any more */
	SSL_CTX *tls;        /* of the caller; NULL: without TLS */
	/*
	 * Addresses to connect from, in turns, each for upstreams of its family; those after
	 * FORWARD_TCP_FROM are not used. NULL ends the list; NULL, or none of a family: the system
	 * chooses.
	 */
	const char *const *from;
	uint64_t *n_sent; /* queries are counted here, and handshakes that failed */
	uint64_t *n_tls_failed;
};

/* -ENOMEM; forward_tcp_fini() in any case. */
int forward_tcp_init(struct forward_tcp *tcp, const struct forward_tcp_config *config)
	__attribute__((warn_unused_result));
void forward_tcp_fini(struct forward_tcp *tcp);

/* Whether it has all the queries that it may. */
bool forward_tcp_is_full(const struct forward_tcp *tcp, uint8_t upstream);

/* The channel to this upstream, connecting perhaps; NULL: it cannot be had. */
struct forward_channel *forward_tcp_channel(struct forward_tcp *tcp, uint8_t upstream,
					    uint64_t now_ns);

/* Appends a query to a channel that was not full. */
void forward_tcp_add(struct forward_tcp *tcp, struct forward_channel *channel, const uint8_t *query,
		     size_t n_bytes);

/* The descriptor of a channel's connection. */
int forward_tcp_fd(const struct forward_channel *channel);

/* Sends what was appended; whether channels were broken by that. */
bool forward_tcp_end_round(struct forward_tcp *tcp, uint64_t now_ns);

/* A reply did not come in time: closes a connection on which none came for long (broken()). */
void forward_tcp_on_silence(struct forward_tcp *tcp, struct forward_channel *channel,
			    uint64_t now_ns);

#endif
