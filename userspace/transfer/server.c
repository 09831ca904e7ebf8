/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/wire.h"
#include "port/tls_bio.h"
#include "transfer/conn.h"
#include "transfer/peer_dispatch.h"
#include "transfer/peer_request.h"
#include "transfer/primary_state.h"
#include "transfer/questions.h"
#include "transfer/transfer_out.h"
#include "transfer/updates.h"

#define IN_HIGH   (CONN_PREFIX_BYTES + DNS_MESSAGE_MAX)
#define WRITE_MAX (256u << 10) /* octets in one call */
#define TURN_MAX  16           /* messages in one turn */

/* ---- One connection -------------------------------------------------------------------------- */

static void conn_destroy(struct conn *c)
{
	transfer_out_abort(c);
	updates_forget(c);
	questions_forget(c);
	c->t->primary->server->n--;
	cds_list_del(&c->link);
	event_free(c->on_turn);
	bufferevent_free(c->bev);
	free(c);
}

static void copy_out(struct evbuffer *buffer, size_t at, uint8_t *out, size_t n)
{
	struct evbuffer_ptr ptr;

	if (!evbuffer_ptr_set(buffer, &ptr, at, EVBUFFER_PTR_SET))
		evbuffer_copyout_from(buffer, &ptr, out, n);
}

/* Copies the next whole message to @in. Returns its length; 0: there is none yet, or it has to wait
 * for replies. */
static size_t take_message(struct conn *c, uint8_t *in)
{
	struct evbuffer *buffer = bufferevent_get_input(c->bev);
	uint8_t prefix[CONN_PREFIX_BYTES];
	size_t n;

	if (evbuffer_copyout(buffer, prefix, CONN_PREFIX_BYTES) < CONN_PREFIX_BYTES)
		return 0;
	n = wire_load_be16(prefix);
	if (!n) {
		c->is_ended = true;
		return 0;
	}
	if (evbuffer_get_length(buffer) < CONN_PREFIX_BYTES + n)
		return 0;
	copy_out(buffer, CONN_PREFIX_BYTES, in, n);
	if (c->n_asked && peer_dispatch_is_last(in, n))
		return 0;
	evbuffer_drain(buffer, CONN_PREFIX_BYTES + n);
	return n;
}

static size_t n_waiting(const struct conn *c)
{
	return evbuffer_get_length(bufferevent_get_output(c->bev));
}

static bool can_take(const struct conn *c)
{
	return !c->is_busy && !c->is_ended && c->n_asked < QUESTIONS_OF_CONN_MAX &&
	       n_waiting(c) < SERVER_OUT_HIGH;
}

static void handle(struct conn *c, uint8_t *msg, size_t n)
{
	struct peer_request request = {
		.t = c->t,
		.msg = msg,
		.n = n,
		.client = { .addr = c->peer,
			    .is_tls = c->is_tls,
			    .is_xot = c->tls_version >= TLS1_3_VERSION },
		.cap = DNS_MESSAGE_MAX,
		.conn = c,
	};

	peer_dispatch(&request);
}

/*
 * Adds octets that OpenSSL has read from the socket and still holds: libevent does not report them.
 * Read-ahead is switched off, so that OpenSSL reads no more than the rest of a record and the loop
 * ends. libevent reports an error again.
 */
static int add_hidden(struct evbuffer *input, SSL *ssl)
{
	uint8_t part[4096];
	int n, err = 0;

	SSL_set_read_ahead(ssl, 0);
	ERR_clear_error();
	while (!err && SSL_has_pending(ssl)) {
		n = SSL_read(ssl, part, sizeof(part));
		if (n <= 0)
			break;
		err = evbuffer_add(input, part, (size_t)n);
	}
	ERR_clear_error();
	return err;
}

/* When the input is full, libevent leaves the rest of a record in OpenSSL, and does not fetch it
 * later by itself. */
static bool pull_hidden(struct conn *c)
{
	SSL *ssl = c->is_tls && !c->is_ended ? bufferevent_openssl_get_ssl(c->bev) : NULL;

	return ssl && SSL_pending(ssl) && !add_hidden(bufferevent_get_input(c->bev), ssl);
}

/* Handles the received messages, TURN_MAX at most. */
static void serve(struct conn *c)
{
	uint8_t *in = c->t->primary->in;
	size_t n;

	for (unsigned int i = 0; can_take(c); i++) {
		if (i == TURN_MAX) {
			conn_turn_soon(c);
			return;
		}
		n = take_message(c, in);
		if (!n && pull_hidden(c))
			n = take_message(c, in);
		if (!n) {
			c->is_ended |= c->is_eof && !n_waiting(c) && !c->n_asked;
			return;
		}
		conn_move(c);
		handle(c, in, n);
	}
}

/* At the end of the client's data on_write() is called only when the output is empty, and then the
 * connection ends. */
static void end_of_turn(struct conn *c)
{
	if (c->is_eof && !c->is_busy)
		bufferevent_setwatermark(c->bev, EV_WRITE, 0, 0);
	if (c->is_ended)
		conn_destroy(c);
}

static void on_read(struct bufferevent *bev, void *user)
{
	struct conn *c = user;

	(void)bev;
	loop_wake(c->t);
	serve(c);
	end_of_turn(c);
}

/* The output has fallen to SERVER_OUT_LOW. */
static void on_write(struct bufferevent *bev, void *user)
{
	struct conn *c = user;

	(void)bev;
	loop_wake(c->t);
	if (c->transfer)
		transfer_out_go_on(c);
	serve(c);
	end_of_turn(c);
}

static void on_turn(evutil_socket_t fd, short events, void *user)
{
	struct conn *c = user;

	(void)fd, (void)events;
	loop_wake(c->t);
	serve(c);
	end_of_turn(c);
}

static void on_event(struct bufferevent *bev, short events, void *user)
{
	struct conn *c = user;

	loop_wake(c->t);
	if (events & BEV_EVENT_CONNECTED)
		return;
	/* The client has not taken all replies yet. If it takes nothing more, the write timeout
	 * ends the connection. */
	if ((events & BEV_EVENT_TIMEOUT) && (events & BEV_EVENT_READING) &&
	    (n_waiting(c) || c->n_asked)) {
		(void)bufferevent_enable(bev, EV_READ);
		return;
	}
	if (events & BEV_EVENT_EOF) {
		c->is_eof = true;
		(void)bufferevent_disable(bev, EV_READ);
		serve(c);
	} else {
		c->is_ended = true;
	}
	end_of_turn(c);
}

/* ---- Connections ----------------------------------------------------------------------------- */

/* Makes room for one more connection: at the limit it closes the one that is idle longest, or that
 * of a reader that has stood still. */
static bool make_room(struct transfer *t)
{
	struct server *s = t->primary->server;
	struct conn *c;

	if (s->n < s->n_max)
		return true;
	if (cds_list_empty(&s->idle))
		c = transfer_out_find_lent(t);
	else
		c = cds_list_first_entry(&s->idle, struct conn, link);
	if (!c)
		return false;
	conn_destroy(c);
	return true;
}

static struct conn *conn_new(struct transfer *t, struct bufferevent *bev,
			     const struct port_addr *peer, const struct port_addr *local)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct conn){ .t = t, .bev = bev, .peer = *peer, .local = *local };
	c->number = t->primary->server->n_made++;
	CDS_INIT_LIST_HEAD(&c->questions);
	c->on_turn = evtimer_new(t->base, on_turn, c);
	if (!c->on_turn) {
		free(c);
		return NULL;
	}
	CDS_INIT_LIST_HEAD(&c->link);
	t->primary->server->n++;
	conn_move(c);
	bufferevent_setcb(bev, on_read, on_write, on_event, c);
	bufferevent_setwatermark(bev, EV_READ, 0, IN_HIGH);
	bufferevent_setwatermark(bev, EV_WRITE, SERVER_OUT_LOW, 0);
	(void)bufferevent_set_max_single_write(bev, WRITE_MAX);
	transfer_count(t, connections);
	return c;
}

/*
 * ssl NULL: no TLS. A worker's port has allowed SSL_write() to write a part (port/tcp_tls.h).
 * libevent cannot handle that: after a partial write it continues with the next piece of memory,
 * and the rest of a piece longer than a record would be lost.
 */
static struct bufferevent *open_bev(struct transfer *t, int fd, SSL *ssl)
{
	if (!ssl)
		return bufferevent_socket_new(t->base, fd, BEV_OPT_CLOSE_ON_FREE);
	SSL_clear_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
	return bufferevent_openssl_socket_new(t->base, fd, ssl, BUFFEREVENT_SSL_OPEN,
					      BEV_OPT_CLOSE_ON_FREE);
}

/* The octets that the worker had read come first. */
static int prepend(struct bufferevent *bev, const struct handover_item *item)
{
	struct evbuffer *input = bufferevent_get_input(bev);
	int err;

	/* With TLS the input is never frozen, because libevent itself adds to it from outside. */
	if (item->ssl) {
		err = evbuffer_add(input, item->bytes, item->n_bytes);
		return err ? err : add_hidden(input, item->ssl);
	}
	(void)evbuffer_unfreeze(input, 0);
	err = evbuffer_add(input, item->bytes, item->n_bytes);
	(void)evbuffer_freeze(input, 0);
	return err;
}

/* SSL is NULL for a connection without TLS. */
static void note_tls(struct conn *c, const SSL *ssl)
{
	c->is_tls = ssl;
	c->tls_version = ssl ? SSL_version(ssl) : 0;
}

static struct conn *adopt(struct transfer *t, struct handover_item *item)
{
	struct bufferevent *bev = make_room(t) ? open_bev(t, item->fd, item->ssl) : NULL;
	struct port_addr peer = peer_request_addr(item->family, item->peer, item->peer_port);
	struct port_addr local = peer_request_addr(item->family, item->local, item->local_port);
	struct conn *c;

	if (!bev) {
		SSL_free(item->ssl);
		close(item->fd);
		return NULL;
	}
	c = prepend(bev, item) ? NULL : conn_new(t, bev, &peer, &local);
	if (!c)
		bufferevent_free(bev);
	else
		note_tls(c, item->ssl);
	return c;
}

/* Messages that have already come are handled. */
static void begin(struct conn *c)
{
	conn_set_timeouts(c);
	(void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	serve(c);
	end_of_turn(c);
}

void server_take(struct transfer *t, struct handover_item *item)
{
	struct conn *c = adopt(t, item);

	handover_reply(item, NULL, 0);
	if (!c)
		return;
	begin(c);
}

/* The local address of a connection; family 0: unknown. */
static struct port_addr local_of(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct port_addr bound;

	if (getsockname(fd, (struct sockaddr *)&ss, &len) ||
	    port_addr_from_sockaddr(&bound, (struct sockaddr *)&ss))
		return (struct port_addr){ 0 };
	return peer_request_addr(bound.family, bound.bytes, bound.port);
}

void server_accept_tls(struct transfer *t, int fd, SSL *ssl, const struct port_addr *peer)
{
	struct bufferevent *bev = make_room(t) ? open_bev(t, fd, ssl) : NULL;
	struct port_addr local = local_of(fd);
	struct conn *c;

	(void)tls_bio_flush(ssl);
	if (!bev) {
		SSL_free(ssl);
		close(fd);
		return;
	}
	c = add_hidden(bufferevent_get_input(bev), ssl) ? NULL : conn_new(t, bev, peer, &local);
	if (!c) {
		bufferevent_free(bev);
		return;
	}
	note_tls(c, ssl);
	begin(c);
}

int server_open(struct transfer *t)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->n_max = t->env.n_conns_max ? t->env.n_conns_max : SERVER_CONNS_MAX;
	CDS_INIT_LIST_HEAD(&s->idle);
	CDS_INIT_LIST_HEAD(&s->busy);
	t->primary->server = s;
	return 0;
}

void server_close(struct transfer *t)
{
	struct server *s = t->primary->server;

	if (!s)
		return;
	while (!cds_list_empty(&s->idle))
		conn_destroy(cds_list_first_entry(&s->idle, struct conn, link));
	while (!cds_list_empty(&s->busy))
		conn_destroy(cds_list_first_entry(&s->busy, struct conn, link));
	free(s);
	t->primary->server = NULL;
}
