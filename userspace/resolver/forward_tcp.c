/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/wire.h"
#include "resolver/resolver_counters.h"

#define LENGTH_BYTES 2 /* before a message: RFC 1035 section 4.2.2 */
#define IN_BYTES     (LENGTH_BYTES + DNS_MESSAGE_MAX)
#define RECEIVE_MAX  64 /* records of TLS, then other events have their turn */

static struct forward_connection *connection_of(struct forward_channel *channel)
{
	return caa_container_of(channel, struct forward_connection, channel);
}

int forward_tcp_fd(const struct forward_channel *channel)
{
	return caa_container_of(channel, struct forward_connection, channel)->fd;
}

/* After a close with queries outstanding, the limit is the number of replies. Without a reply it is
 * half of the queries, because a reset may have lost the last ones. */
static void lower_limit(struct forward_connection *c)
{
	uint32_t limit = c->n_replies ? c->n_replies : c->channel.n_queries / 2;

	if (c->is_open && c->channel.n_queries && limit && c->limit > limit)
		c->limit = limit;
}

/* Closes the connection, if it is open, and calls broken(). */
static void close_forward_tcp_connection(struct forward_connection *c, uint64_t now_ns)
{
	const struct forward_events *events = &c->tcp->events;

	if (c->fd < 0)
		return;
	event_del(c->readable);
	event_del(c->writable);
	tls_stream_close(&c->stream);
	close(c->fd);
	c->fd = -1;
	if (c->is_connected && !c->is_open) { /* during a TLS handshake */
		resolver_count(c->tcp->n_tls_failed);
		c->shut_until_ns = now_ns + FORWARD_TLS_AGAIN_NS;
	}
	lower_limit(c);
	events->broken(events->ctx, &c->channel, c->n_replies ? FORWARD_CLOSED : FORWARD_REFUSED,
		       now_ns);
}

/* Handles the whole messages; false: this is no DNS. */
static bool take_forward_tcp_messages(struct forward_connection *c, uint64_t now_ns)
{
	const struct forward_events *events = &c->tcp->events;
	size_t at = 0;

	while (c->n_in - at >= LENGTH_BYTES) {
		size_t n_bytes = wire_load_be16(c->in + at);
		uint8_t *msg = c->in + at + LENGTH_BYTES;

		if (n_bytes < DNS_HEADER_BYTES)
			return false;
		if (c->n_in - at < LENGTH_BYTES + n_bytes)
			break;
		if (events->message(events->ctx, &c->channel, msg, n_bytes, now_ns)) {
			c->n_replies++;
			c->replied_ns = now_ns;
		}
		at += LENGTH_BYTES + n_bytes;
	}
	memmove(c->in, c->in + at, c->n_in - at);
	c->n_in -= at;
	if (c->limit < c->n_replies && c->limit < FORWARD_TCP_QUERIES)
		c->limit = c->n_replies;
	return true;
}

/* Continues the handshake; false: it has failed. */
static bool shake_forward_tcp_hands(struct forward_connection *c)
{
	c->is_open = tls_stream_handshake(&c->stream, c->why, sizeof(c->why)) == 1;
	if (c->is_open)
		return true;
	if (errno != EAGAIN)
		return false;
	if (tls_stream_wants_write(&c->stream))
		event_add(c->writable, NULL);
	return true;
}

/* Continues to connect and shake hands; false: the connection cannot be opened. */
static bool go_on_opening(struct forward_connection *c)
{
	SSL_CTX *tls = c->tcp->tls;
	socklen_t n_bytes = sizeof(int);
	int error = 0;

	if (!c->is_connected) {
		(void)getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &n_bytes);
		if (error) {
			snprintf(c->why, sizeof(c->why), "%s", err_text(-error));
			return false;
		}
		c->is_connected = true;
	}
	if (tls)
		return shake_forward_tcp_hands(c);
	c->is_open = true;
	return true;
}

/* As recv(), to the end of the octets in `in`. */
static ssize_t receive_forward_tcp(struct forward_connection *c)
{
	uint8_t *at = c->in + c->n_in;
	size_t room = IN_BYTES - c->n_in;

	return c->tcp->tls ? tls_stream_receive(&c->stream, at, room) : recv(c->fd, at, room, 0);
}

/* Receives once. 1: octets came, 0: there is nothing yet, -1: the connection is broken. */
static int take_some(struct forward_connection *c, uint64_t now_ns)
{
	ssize_t n = receive_forward_tcp(c);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	c->heard_ns = now_ns;
	c->n_in += (size_t)n;
	return take_forward_tcp_messages(c, now_ns) ? 1 : -1;
}

/* Receives also what TLS has already read from the socket, because no event comes for that. */
static bool take_in(struct forward_connection *c, uint64_t now_ns)
{
	SSL_CTX *tls = c->tcp->tls;
	unsigned int n_left = RECEIVE_MAX;
	int code;

	do
		code = take_some(c, now_ns);
	while (code > 0 && --n_left && tls && tls_stream_has_more(&c->stream));
	if (code < 0)
		return false;
	if (!n_left)
		event_active(c->readable, EV_READ, 0);
	if (!code && tls && tls_stream_wants_write(&c->stream))
		event_add(c->writable, NULL);
	return true;
}

/* As send(). */
static ssize_t send_forward_tcp_some(struct forward_connection *c, size_t at)
{
	return c->tcp->tls ? tls_stream_send(&c->stream, c->out + at, c->n_out - at) :
			     send(c->fd, c->out + at, c->n_out - at, MSG_NOSIGNAL);
}

/* False: the connection is broken. */
static bool send_out(struct forward_connection *c)
{
	ssize_t n = 0;
	size_t at = 0;

	while (at < c->n_out && (n = send_forward_tcp_some(c, at)) > 0) /* TLS: a record */
		at += (size_t)n;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	memmove(c->out, c->out + at, c->n_out - at);
	c->n_out -= at;
	if (c->n_out && (!c->tcp->tls || tls_stream_wants_write(&c->stream)))
		event_add(c->writable, NULL);
	return true;
}

static void on_forward_tcp_event(evutil_socket_t fd, short what, void *user)
{
	struct forward_connection *c = user;
	uint64_t now_ns = clock_ns();
	bool is_well;

	(void)fd;
	if (what & EV_TIMEOUT) {
		if (!c->channel.n_queries)
			close_forward_tcp_connection(c, now_ns);
		return;
	}
	is_well = c->is_open || go_on_opening(c);
	if (is_well && c->is_open)
		is_well = take_in(c, now_ns) && send_out(c);
	if (!is_well)
		close_forward_tcp_connection(c, now_ns);
}

/* Binds to the next configured address of the upstream's family, if there is one. 0 or -errno. */
static int bind_fd(struct forward_tcp *tcp, int fd, const struct upstream *u)
{
	unsigned int first = tcp->n_opened++;

	for (unsigned int i = 0; i < tcp->n_from; i++) {
		const struct sockaddr_storage *from = &tcp->from[(first + i) % tcp->n_from];

		if (from->ss_family == u->address.ss_family)
			return bind(fd, (const struct sockaddr *)from, u->address_bytes) ? -errno :
											   0;
	}
	return 0;
}

/* A descriptor that is connecting, or -errno. */
static int open_forward_tcp_fd(struct forward_tcp *tcp, const struct upstream *u)
{
	int fd = socket(u->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1, code;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	code = bind_fd(tcp, fd, u);
	if (!code && connect(fd, (const struct sockaddr *)&u->address, u->address_bytes) &&
	    errno != EINPROGRESS)
		code = -errno;
	if (!code)
		return fd;
	close(fd);
	return code;
}

static bool open_forward_tcp_socket(struct forward_connection *c, const struct upstream *u)
{
	SSL_CTX *tls = c->tcp->tls;

	c->fd = open_forward_tcp_fd(c->tcp, u);
	if (c->fd < 0) {
		snprintf(c->why, sizeof(c->why), "%s", err_text(c->fd));
		c->fd = -1;
		return false;
	}
	if (!tls || tls_stream_open(&c->stream, tls, c->fd, u->name, &c->session))
		return true;
	close(c->fd);
	c->fd = -1;
	return false;
}

static bool open_connection(struct forward_connection *c, uint8_t upstream, uint64_t now_ns)
{
	const struct timeval idle = { .tv_sec = FORWARD_TCP_IDLE_S };

	if (now_ns < c->shut_until_ns ||
	    !open_forward_tcp_socket(c, &c->tcp->upstreams->all[upstream]))
		return false;
	forward_channel_init(&c->channel, upstream, true);
	c->is_connected = false;
	c->is_open = false;
	c->n_replies = 0;
	c->heard_ns = c->replied_ns = now_ns;
	c->n_in = 0;
	c->n_out = 0;
	event_assign(c->readable, c->tcp->base, c->fd, EV_READ | EV_PERSIST, on_forward_tcp_event,
		     c);
	event_assign(c->writable, c->tcp->base, c->fd, EV_WRITE, on_forward_tcp_event, c);
	if (!event_add(c->readable, &idle) && !event_add(c->writable, NULL))
		return true;
	event_del(c->readable);
	tls_stream_close(&c->stream);
	close(c->fd);
	c->fd = -1;
	return false;
}

bool forward_tcp_is_full(const struct forward_tcp *tcp, uint8_t upstream)
{
	const struct forward_connection *c = &tcp->connections[upstream];

	return c->fd >= 0 && (c->channel.n_queries >= c->limit ||
			      FORWARD_TCP_OUT - c->n_out < LENGTH_BYTES + FORWARD_QUERY_MAX);
}

struct forward_channel *forward_tcp_channel(struct forward_tcp *tcp, uint8_t upstream,
					    uint64_t now_ns)
{
	struct forward_connection *c = &tcp->connections[upstream];

	if (c->fd < 0 && !open_connection(c, upstream, now_ns))
		return NULL;
	if (!c->channel.n_queries)
		c->heard_ns = c->replied_ns = now_ns; /* before this no reply was due */
	return &c->channel;
}

void forward_tcp_add(struct forward_tcp *tcp, struct forward_channel *channel, const uint8_t *query,
		     size_t n_bytes)
{
	struct forward_connection *c = connection_of(channel);

	wire_store_be16(c->out + c->n_out, (uint16_t)n_bytes);
	memcpy(c->out + c->n_out + LENGTH_BYTES, query, n_bytes);
	c->n_out += LENGTH_BYTES + n_bytes;
	resolver_count(tcp->n_sent);
}

bool forward_tcp_end_round(struct forward_tcp *tcp, uint64_t now_ns)
{
	bool is_broken = false;

	for (unsigned int i = 0; i < tcp->upstreams->n; i++) {
		struct forward_connection *c = &tcp->connections[i];

		if (c->fd < 0 || !c->is_open || !c->n_out || send_out(c))
			continue;
		close_forward_tcp_connection(c, now_ns);
		is_broken = true;
	}
	return is_broken;
}

void forward_tcp_on_silence(struct forward_tcp *tcp, struct forward_channel *channel,
			    uint64_t now_ns)
{
	struct forward_connection *c = connection_of(channel);

	if (now_ns - c->heard_ns >= tcp->silence_ns ||
	    now_ns - c->replied_ns >= 2 * tcp->silence_ns)
		close_forward_tcp_connection(c, now_ns);
}

static bool init_connection(struct forward_tcp *tcp, struct forward_connection *c)
{
	c->tcp = tcp;
	c->limit = FORWARD_TCP_QUERIES;
	c->in = malloc(IN_BYTES);
	c->out = malloc(FORWARD_TCP_OUT);
	c->readable = event_new(tcp->base, -1, EV_READ | EV_PERSIST, on_forward_tcp_event, c);
	c->writable = event_new(tcp->base, -1, EV_WRITE, on_forward_tcp_event, c);
	return c->in && c->out && c->readable && c->writable;
}

/* The interface of a link-local address is in the text: fe80::1%eth0. */
static void add_from(struct forward_tcp *tcp, const char *text)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;

	if (getaddrinfo(text, NULL, &hints, &found))
		return;
	memcpy(&tcp->from[tcp->n_from++], found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
}

int forward_tcp_init(struct forward_tcp *tcp, const struct forward_tcp_config *config)
{
	*tcp = (struct forward_tcp){
		.upstreams = config->upstreams,
		.base = config->base,
		.events = config->events,
		.silence_ns = config->silence_ns,
		.tls = config->tls,
		.n_sent = config->n_sent,
		.n_tls_failed = config->n_tls_failed,
	};
	for (const char *const *from = config->from;
	     from && *from && tcp->n_from < FORWARD_TCP_FROM; from++)
		add_from(tcp, *from);
	for (unsigned int i = 0; i < UPSTREAMS_MAX; i++)
		tcp->connections[i].fd = -1;
	for (unsigned int i = 0; i < tcp->upstreams->n; i++)
		if (!init_connection(tcp, &tcp->connections[i]))
			return -ENOMEM;
	return 0;
}

void forward_tcp_fini(struct forward_tcp *tcp)
{
	for (unsigned int i = 0; i < UPSTREAMS_MAX; i++) {
		struct forward_connection *c = &tcp->connections[i];

		if (c->readable)
			event_free(c->readable);
		if (c->writable)
			event_free(c->writable);
		c->stream.is_broken = true; /* sends no close_notify */
		tls_stream_close(&c->stream);
		tls_session_fini(&c->session);
		if (c->readable && c->fd >= 0)
			close(c->fd);
		free(c->in);
		free(c->out);
	}
}
