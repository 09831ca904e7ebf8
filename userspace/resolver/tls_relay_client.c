/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/tls_relay_client.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wire.h"
#include "dns/proto.h"

#define LENGTH_BYTES 2 /* before a message: RFC 1035 section 4.2.2 */
#define BACKLOG      256

/* --- The other end ---------------------------------------------------------------------------- */

static bool is_tls_relay_client_same(const struct sockaddr *a, const struct sockaddr *b)
{
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)(const void *)a;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)(const void *)b;
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)(const void *)a;
	const struct sockaddr_in *b4 = (const struct sockaddr_in *)(const void *)b;

	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
	       !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

static bool is_between(int fd, const struct sockaddr *own, const struct sockaddr *other)
{
	struct sockaddr_storage address = { 0 };
	socklen_t n = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &n) ||
	    !is_tls_relay_client_same((struct sockaddr *)&address, own))
		return false;
	n = sizeof(address);
	return !getpeername(fd, (struct sockaddr *)&address, &n) &&
	       is_tls_relay_client_same((struct sockaddr *)&address, other);
}

/*
 * True if a descriptor of this process has the address `peer` as its own and `local` as its peer's.
 * Any thread. If other threads close descriptors meanwhile, the result is right for those that stay
 * open.
 */
static bool is_this_process(const struct sockaddr *peer, const struct sockaddr *local)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	bool is_own = false;

	while (dir && !is_own && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			is_own = is_between((int)strtol(entry->d_name, NULL, 10), peer, local);
	if (dir)
		closedir(dir);
	return is_own;
}

/* --- Connections ------------------------------------------------------------------------------ */

static void close_client(struct relay_client *client)
{
	const struct relay_client_events *events = &client->clients->events;

	events->closed(events->ctx, client);
	cds_list_del(&client->node);
	bufferevent_free(client->stream);
	free(client);
}

/* Takes the first query, if it is whole. 1: taken, 0: not whole yet, -1: this is no query. */
static int take_query(struct relay_client *client, struct evbuffer *in)
{
	const struct relay_client_events *events = &client->clients->events;
	const uint8_t *bytes;
	uint8_t length[LENGTH_BYTES];
	size_t n_bytes;
	bool is_well;

	if (evbuffer_copyout(in, length, LENGTH_BYTES) != LENGTH_BYTES)
		return 0;
	n_bytes = wire_load_be16(length);
	if (n_bytes < DNS_HEADER_BYTES || n_bytes > client->clients->query_max)
		return -1;
	if (evbuffer_get_length(in) < LENGTH_BYTES + n_bytes)
		return 0;
	bytes = evbuffer_pullup(in, (ev_ssize_t)(LENGTH_BYTES + n_bytes));
	is_well = bytes && events->query(events->ctx, client, bytes + LENGTH_BYTES, n_bytes);
	evbuffer_drain(in, LENGTH_BYTES + n_bytes);
	return is_well ? 1 : -1;
}

static void on_tls_relay_client_readable(struct bufferevent *stream, void *user)
{
	struct evbuffer *in = bufferevent_get_input(stream);
	int code;

	do
		code = take_query(user, in);
	while (code > 0);
	if (code < 0)
		close_client(user);
}

static void on_end(struct bufferevent *stream, short what, void *user)
{
	(void)stream, (void)what;
	close_client(user);
}

void relay_client_reply(struct relay_client *client, const uint8_t *msg, size_t n)
{
	uint8_t length[LENGTH_BYTES];

	wire_store_be16(length, (uint16_t)n);
	if (bufferevent_write(client->stream, length, sizeof(length)) ||
	    bufferevent_write(client->stream, msg, n))
		/* No memory: ends the connection. libunbound sees that, and on_end() closes it. */
		(void)shutdown(bufferevent_getfd(client->stream), SHUT_RDWR);
}

/* Makes a client that owns fd. False: no memory, and the caller still owns fd. */
static bool add_tls_relay_client(struct relay_port *port, evutil_socket_t fd)
{
	struct relay_client *client = calloc(1, sizeof(*client));
	struct bufferevent *stream =
		client ? bufferevent_socket_new(port->clients->base, fd, BEV_OPT_CLOSE_ON_FREE) :
			 NULL;
	int yes = 1;

	if (!stream) {
		free(client);
		return false;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	client->clients = port->clients;
	client->stream = stream;
	client->upstream = port->upstream;
	CDS_INIT_LIST_HEAD(&client->queries);
	cds_list_add(&client->node, &port->clients->all);
	bufferevent_setcb(stream, on_tls_relay_client_readable, NULL, on_end, client);
	if (bufferevent_enable(stream, EV_READ | EV_WRITE))
		close_client(client);
	return true;
}

static void on_tls_relay_client_connection(struct evconnlistener *listener, evutil_socket_t fd,
					   struct sockaddr *peer, int n_peer, void *user)
{
	struct relay_port *port = user;
	struct sockaddr_storage local = { 0 };
	socklen_t n = sizeof(local);
	bool is_own = !getsockname(fd, (struct sockaddr *)&local, &n) &&
		      is_this_process(peer, (const struct sockaddr *)&local);

	(void)listener, (void)n_peer;
	port->clients->n_strangers += !is_own;
	if (!is_own || !add_tls_relay_client(port, fd))
		close(fd);
}

/* --- Ports ------------------------------------------------------------------------------------ */

/* Not in 127.0.0.0/16, where other programs listen. */
static uint32_t random_address(struct random *random)
{
	return htonl(127U << 24 | (64 + random_below(random, 128)) << 16 |
		     random_below(random, 256) << 8 | (1 + random_below(random, 254)));
}

static socklen_t set_address(const struct relay_clients *c, struct sockaddr_storage *out)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
	struct sockaddr_in *in = (struct sockaddr_in *)out;

	if (!c->net_address) {
		*in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					      .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		return sizeof(*in6);
	}
	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { c->net_address } };
	return sizeof(*in);
}

static int name_port(struct relay_port *port)
{
	struct sockaddr_storage address = { 0 };
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address;
	socklen_t n = sizeof(address);
	bool is_ip4;
	char host[INET6_ADDRSTRLEN];

	if (getsockname(evconnlistener_get_fd(port->listener), (struct sockaddr *)&address, &n))
		return -errno;
	is_ip4 = address.ss_family == AF_INET;
	if (!inet_ntop(address.ss_family,
		       is_ip4 ? (const void *)&in->sin_addr : (const void *)&in6->sin6_addr, host,
		       sizeof(host)))
		return -errno;
	snprintf(port->address, sizeof(port->address), "%.15s@%u", host,
		 ntohs(is_ip4 ? in->sin_port : in6->sin6_port));
	return 0;
}

static int open_port(struct relay_clients *c, struct relay_port *port)
{
	struct sockaddr_storage address = { 0 };
	socklen_t n = set_address(c, &address);
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), code;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, n)) {
		code = -errno;
		close(fd);
		return code;
	}
	port->clients = c;
	port->listener = evconnlistener_new(c->base, on_tls_relay_client_connection, port,
					    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG,
					    fd);
	if (!port->listener) {
		close(fd);
		return -ENOMEM;
	}
	return name_port(port);
}

int relay_clients_init(struct relay_clients *c, const struct relay_clients_config *config)
{
	int code = 0;

	*c = (struct relay_clients){ .base = config->base,
				     .events = config->events,
				     .query_max = config->query_max };
	CDS_INIT_LIST_HEAD(&c->all);
	if (!config->is_ip6)
		c->net_address = random_address(config->random);
	for (; c->n_ports < config->n_upstreams && !code; c->n_ports++) {
		c->ports[c->n_ports].upstream = (uint8_t)c->n_ports;
		code = open_port(c, &c->ports[c->n_ports]);
	}
	return code;
}

void relay_clients_fini(struct relay_clients *c)
{
	struct relay_client *client, *next;

	if (!c->base)
		return;
	cds_list_for_each_entry_safe(client, next, &c->all, node)
		close_client(client);
	for (unsigned int i = 0; i < c->n_ports; i++)
		if (c->ports[i].listener)
			evconnlistener_free(c->ports[i].listener);
}
