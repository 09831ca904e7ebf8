/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/exchange.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/wire.h"
#include "port/privileged.h"
#include "transfer/peer.h"
#include "transfer/remotes.h"
#include "transfer/transfer_thread.h"

#define IN_CAP (128 * 1024) /* a message, and the part of the next one that is read with it */

struct exchange {
	struct transfer *t;
	struct remote *remote;
	struct peer *peer;
	const struct exchange_handlers *handlers;
	void *user;
	struct stream *stream;
	uint64_t n_bytes; /* octets received */
	bool is_reused;   /* on a connection that an earlier exchange has used */
	bool is_sent;     /* the query, whole */
	size_t n_query;   /* with its length in front */
	uint8_t query[];
};

enum stream_state { CONNECTING, HANDSHAKE, OPEN };

struct stream {
	struct peer_connection connection; /* first */
	struct transfer *t;
	struct remote *remote;
	struct peer *peer;
	struct exchange *exchange; /* NULL: idle */
	enum stream_state state;
	int fd;
	struct tls_stream tls;
	struct event *io, *more;
	short watched;     /* events that io waits for */
	size_t n_sent;     /* octets of the exchange's query */
	uint64_t heard_ns; /* when the last whole message came, or the exchange began */
	size_t in_at, in_n;
	uint8_t in[IN_CAP];
};

static void stream_close(struct stream *s)
{
	tls_stream_close(&s->tls);
	if (s->io)
		event_free(s->io);
	if (s->more)
		event_free(s->more);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static void close_stream_connection(struct peer_connection *connection)
{
	stream_close((struct stream *)connection);
}

/* The connection of an exchange was lost: begins the exchange again on another one, or ends it. */
static void exchange_lost(struct exchange *e, int code, const char *why);

static void lose(struct stream *s, int code, const char *why)
{
	struct exchange *exchange = s->exchange;

	if (!exchange)
		peer_forget(s->peer, &s->connection);
	stream_close(s);
	if (exchange)
		exchange_lost(exchange, code, why);
}

/* Waits for the events @what, at most so many seconds. False: no memory. */
static bool watch_stream(struct stream *s, short what, unsigned int seconds)
{
	const struct timeval silence = { .tv_sec = seconds };

	if (what != s->watched) {
		event_callback_fn callback = event_get_callback(s->io);

		(void)event_del(s->io);
		if (event_assign(s->io, s->t->base, s->fd, what | EV_PERSIST, callback, s))
			return false;
		s->watched = what;
	}
	return !event_add(s->io, &silence);
}

/* As recv() and send(), but an error is -errno. */
static ssize_t receive_stream(struct stream *s, uint8_t *to, size_t n)
{
	ssize_t got = s->tls.ssl ? tls_stream_receive(&s->tls, to, n) : recv(s->fd, to, n, 0);

	return got < 0 ? -errno : got;
}

static ssize_t send_stream_some(struct stream *s, const uint8_t *from, size_t n)
{
	ssize_t sent = s->tls.ssl ? tls_stream_send(&s->tls, from, n) :
				    send(s->fd, from, n, MSG_NOSIGNAL);

	return sent < 0 ? -errno : sent;
}

/* Sends as much as the socket takes. 0, or an error. */
static int send_stream_query(struct stream *s)
{
	struct exchange *e = s->exchange;

	while (s->n_sent < e->n_query) {
		ssize_t n = send_stream_some(s, e->query + s->n_sent, e->n_query - s->n_sent);

		if (n == -EAGAIN || n == -EINTR)
			break;
		if (n < 0)
			return (int)n;
		s->n_sent += (size_t)n;
	}
	e->is_sent = s->n_sent == e->n_query;
	if (!watch_stream(s, s->n_sent < e->n_query ? EV_READ | EV_WRITE : EV_READ,
			  STREAM_SILENCE_S))
		return -ENOMEM;
	return 0;
}

/* Single octets keep the connection from falling silent, so each message has a time of its own, and
 * so has the handshake. */
static bool is_too_slow(const struct stream *s)
{
	return s->t->now.ns - s->heard_ns >= STREAM_SILENCE_S * CLOCK_NS_PER_S;
}

/* Goes on after message() has returned @code. False: the stream is closed, or idle. */
static bool settle_stream(struct stream *s, int code)
{
	struct exchange *e = s->exchange;

	if (code == EXCHANGE_MORE)
		return true;
	s->exchange = NULL;
	free(e);
	if (code == EXCHANGE_DONE && s->in_at == s->in_n &&
	    watch_stream(s, EV_READ, STREAM_IDLE_S)) {
		s->in_at = s->in_n = 0;
		peer_keep(s->peer, &s->connection);
	} else {
		stream_close(s);
	}
	return false;
}

/* Hands out the received messages. False: the stream is closed, or idle. */
static bool hand_out_stream(struct stream *s)
{
	while (s->in_n - s->in_at >= 2) {
		const uint8_t *at = s->in + s->in_at;
		size_t n = wire_load_be16(at);

		if (s->in_n - s->in_at < 2 + n)
			break;
		s->in_at += 2 + n;
		s->heard_ns = s->t->now.ns;
		if (!settle_stream(s, s->exchange->handlers->message(s->exchange->user, at + 2, n)))
			return false;
	}
	memmove(s->in, s->in + s->in_at, s->in_n - s->in_at);
	s->in_n -= s->in_at;
	s->in_at = 0;
	return true;
}

/* An idle connection is readable: unexpected octets, or its end. */
static void read_idle(struct stream *s)
{
	ssize_t n = receive_stream(s, s->in, sizeof(s->in));

	if (n != -EAGAIN) /* -EAGAIN: TLS has only read a session ticket */
		lose(s, -ECONNRESET, "");
}

static void read_stream_some(struct stream *s)
{
	const struct timeval at_once = { 0 };
	uint64_t end_ns = s->t->now.ns + STREAM_TURN_NS;

	do {
		ssize_t n = receive_stream(s, s->in + s->in_n, sizeof(s->in) - s->in_n);

		if (n == -EAGAIN || n == -EINTR)
			return;
		if (n <= 0) {
			lose(s, n ? (int)n : ERR_CLOSED, err_text(n ? (int)n : ERR_CLOSED));
			return;
		}
		s->in_n += (size_t)n;
		s->exchange->n_bytes += (size_t)n;
		if (!hand_out_stream(s))
			return;
		if (is_too_slow(s)) {
			lose(s, -ETIMEDOUT, "a message did not come to its end in time");
			return;
		}
		loop_wake(s->t); /* the time that this turn has taken ends it */
	} while (s->t->now.ns < end_ns);
	/* TLS may have read more already, and the socket does not report these octets again. */
	if (s->tls.ssl)
		(void)evtimer_add(s->more, &at_once);
}

static void go_on_stream(struct stream *s)
{
	int code = 0;

	if (!s->exchange) {
		read_idle(s);
		return;
	}
	if (s->n_sent < s->exchange->n_query)
		code = send_stream_query(s);
	if (code)
		lose(s, code, err_text(code));
	else
		read_stream_some(s);
}

static void shake_stream_hands(struct stream *s)
{
	char why[256];
	const bool is_pinned = s->remote->tls == CONFIG_TLS_STRICT && s->remote->has_pin;
	int code = tls_out_handshake(&s->tls, is_pinned ? s->remote->pin : NULL, why, sizeof(why));

	if (code == -EAGAIN && is_too_slow(s)) {
		s->tls.is_broken = true;
		lose(s, -ETIMEDOUT, "the handshake did not come to its end in time");
		return;
	}
	if (code == -EAGAIN) {
		if (!watch_stream(s, tls_stream_wants_write(&s->tls) ? EV_WRITE : EV_READ,
				  STREAM_CONNECT_S))
			lose(s, -ENOMEM, err_text(-ENOMEM));
		return;
	}
	if (code < 0) {
		transfer_count(s->t, tls_failed);
		s->tls.is_broken = true;
		lose(s, code, why);
		return;
	}
	s->state = OPEN;
	go_on_stream(s);
}

static void finish_connect(struct stream *s)
{
	int one = 1, error = 0;
	socklen_t n = sizeof(error);

	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n))
		error = errno;
	if (error) {
		lose(s, -error, err_text(-error));
		return;
	}
	(void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!s->remote->tls_ctx) {
		s->state = OPEN;
		go_on_stream(s);
		return;
	}
	if (!tls_stream_open(&s->tls, s->remote->tls_ctx, s->fd, s->remote->tls_name,
			     &s->peer->session)) {
		lose(s, -ENOMEM, err_text(-ENOMEM));
		return;
	}
	s->state = HANDSHAKE;
	shake_stream_hands(s);
}

static void on_stream_event(evutil_socket_t fd, short what, void *user)
{
	struct stream *s = user;

	(void)fd;
	loop_wake(s->t);
	if (what & EV_TIMEOUT)
		lose(s, -ETIMEDOUT,
		     s->state == CONNECTING ? "no connection in time" : "it has fallen silent");
	else if (s->state == CONNECTING)
		finish_connect(s);
	else if (s->state == HANDSHAKE)
		shake_stream_hands(s);
	else
		go_on_stream(s);
}

static void on_more(evutil_socket_t fd, short what, void *user)
{
	struct stream *s = user;

	(void)fd, (void)what;
	loop_wake(s->t);
	go_on_stream(s);
}

static int connect_to(struct stream *s)
{
	const struct port_addr *source = remote_source(s->remote, &s->peer->addr);
	struct sockaddr_storage ss;
	socklen_t n;
	int one = 1, err;

	s->fd = socket(s->peer->addr.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return -errno;
	if (source) {
		/* connect() chooses the port, so that thousands of connections can share it. */
		(void)setsockopt(s->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
		err = port_bind(s->fd, source);
		if (err)
			return err;
	}
	n = port_addr_to_sockaddr(&s->peer->addr, &ss);
	if (connect(s->fd, (struct sockaddr *)&ss, n) && errno != EINPROGRESS)
		return -errno;
	return 0;
}

static int stream_open(struct stream **out, struct transfer *t, struct remote *remote,
		       struct peer *peer)
{
	struct stream *s = malloc(sizeof(*s)); /* most of it is a buffer */
	int code;

	if (!s)
		return -ENOMEM;
	memset(s, 0, offsetof(struct stream, in));
	s->connection.close = close_stream_connection;
	s->t = t;
	s->remote = remote;
	s->peer = peer;
	code = connect_to(s);
	if (!code) {
		s->io = event_new(t->base, s->fd, EV_WRITE | EV_PERSIST, on_stream_event, s);
		s->more = evtimer_new(t->base, on_more, s);
		s->watched = EV_WRITE;
		if (!s->io || !s->more || !watch_stream(s, EV_WRITE, STREAM_CONNECT_S))
			code = -ENOMEM;
	}
	if (code)
		stream_close(s);
	else
		*out = s;
	return code;
}

static void stream_begin(struct stream *s, struct exchange *exchange)
{
	s->exchange = exchange;
	exchange->stream = s;
	s->n_sent = 0;
	s->heard_ns = s->t->now.ns;
	/* An open connection is writable, so the event comes at once. */
	if (s->state == OPEN)
		(void)watch_stream(s, EV_READ | EV_WRITE, STREAM_SILENCE_S);
}

/* --- Exchanges -------------------------------------------------------------------------------- */

int exchange_begin(struct exchange **out, struct transfer *t, struct remote *remote,
		   struct peer *peer, const uint8_t *msg, size_t n,
		   const struct exchange_handlers *handlers, void *user)
{
	struct exchange *e = malloc(sizeof(*e) + 2 + n);
	struct stream *s = (struct stream *)peer_take(peer);
	int code = 0;

	if (!e) {
		if (s)
			peer_keep(peer, &s->connection);
		return -ENOMEM;
	}
	*e = (struct exchange){
		.t = t,
		.remote = remote,
		.peer = peer,
		.handlers = handlers,
		.user = user,
		.is_reused = s,
		.n_query = 2 + n,
	};
	wire_store_be16(e->query, (uint16_t)n);
	memcpy(e->query + 2, msg, n);
	if (!s)
		code = stream_open(&s, t, remote, peer);
	if (code) {
		free(e);
		return code;
	}
	stream_begin(s, e);
	*out = e;
	return 0;
}

/* The server may have closed an idle connection just before the query: RFC 7766 section 6.2.4. */
static void exchange_lost(struct exchange *e, int code, const char *why)
{
	struct stream *s;

	e->stream = NULL;
	if (e->is_reused && !e->n_bytes && code != -ETIMEDOUT) {
		e->is_reused = false;
		code = stream_open(&s, e->t, e->remote, e->peer);
		if (!code) {
			stream_begin(s, e);
			return;
		}
		why = err_text(code);
	}
	e->handlers->failed(e->user, code, why);
	free(e);
}

void exchange_abort(struct exchange *e)
{
	if (!e)
		return;
	stream_close(e->stream);
	free(e);
}

uint64_t exchange_bytes(const struct exchange *e)
{
	return e->n_bytes;
}

bool exchange_is_sent(const struct exchange *e)
{
	return e->is_sent;
}

bool exchange_is_reused(const struct exchange *e)
{
	return e->is_reused;
}
