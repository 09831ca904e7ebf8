/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side of a TLS relay that libunbound connects to: a loopback port for each upstream, and the
 * connections to it. For the relay's files only (resolver/tls_relay.h).
 *
 * The kernel has only one loopback TCP connection with a given pair of addresses and ports. So if a
 * descriptor of this process has the client's address and port as its own, and ours as its peer's,
 * that descriptor is the client. A connection of another process is closed before anything is read
 * from it. The check looks at each descriptor of this process.
 *
 * One thread, that of the event base.
 */
#ifndef VOLLEY_RESOLVER_TLS_RELAY_CLIENT_H
#define VOLLEY_RESOLVER_TLS_RELAY_CLIENT_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <urcu/list.h>

#include "resolver/random.h"
#include "resolver/upstreams.h"

#define RELAY_ADDRESS_CAP 32 /* "127.255.255.255@65535" and a NUL */

struct bufferevent;
struct evconnlistener;
struct relay_clients;

/* A connection of libunbound. */
struct relay_client {
	struct cds_list_head node;
	struct cds_list_head queries; /* the owner's; closed() must empty it */
	struct relay_clients *clients;
	struct bufferevent *stream;
	uint8_t upstream; /* the upstream of the port that it came to */
};

struct relay_client_events {
	void *ctx;
	/* A message of n octets, valid until the callee returns. False: it is no query, and the
	 * connection must be closed. */
	bool (*query)(void *ctx, struct relay_client *client, const uint8_t *bytes, size_t n);
	/* The connection is being closed: no reply may be sent there any more. */
	void (*closed)(void *ctx, struct relay_client *client);
};

struct relay_port {
	struct relay_clients *clients;
	struct evconnlistener *listener;
	uint8_t upstream;
	char address[RELAY_ADDRESS_CAP]; /* in libunbound's form: "127.1.2.3@4711" */
};

struct relay_clients {
	struct event_base *base;
	struct relay_client_events events;
	struct cds_list_head all;
	size_t query_max;
	unsigned int n_ports;
	uint64_t n_strangers; /* connections of other processes, closed */
	uint32_t net_address; /* IPv4, network byte order; 0: ::1 is used */
	struct relay_port ports[UPSTREAMS_MAX];
};

struct relay_clients_config {
	struct event_base *base;
	struct relay_client_events events;
	struct random *random;
	unsigned int n_upstreams;
	size_t query_max; /* the most octets of a query */
	bool is_ip6;
};

/* Opens the ports. 0 or -errno. Call relay_clients_fini() in any case. */
int relay_clients_init(struct relay_clients *c, const struct relay_clients_config *config)
	__attribute__((warn_unused_result));

/* Closes connections and ports; closed() is called for each connection. */
void relay_clients_fini(struct relay_clients *c);

/* Sends a message of at most 65535 octets. */
void relay_client_reply(struct relay_client *client, const uint8_t *msg, size_t n);

#endif
