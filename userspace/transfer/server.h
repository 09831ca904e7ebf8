/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of clients: handed over by a worker in mid-stream, over TCP or TLS, or accepted by a TLS
 * listener while there is no worker. The messages of a connection are handled in turn; a message with a long answer (a transfer), or a late one
 * (an update), holds up the messages behind it.
 *
 *      socket ─► input ─► message ─► inquiry_handle() ─┬─► conn_send() ─► output ─► socket
 *                 ▲          │ conn is busy: wait      └─► conn_hold() ... conn_release()
 *                 └── full: nothing is read
 *
 * Bounds: connections in all, of which the one that is idle longest, or a reader that has stood still, gives
 * way to a new one; messages in
 * a turn; questions that workers have; octets in input and output; time without a message, and time in which a slow reader takes
 * something. A connection that is to be closed is closed at the end of its turn.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_SERVER_H
#define VOLLEY_TRANSFER_SERVER_H

#include <event2/bufferevent.h>
#include <openssl/types.h>
#include <urcu/list.h>

#include "transfer/internal.h"

#define SERVER_CONNS_MAX 1024
#define SERVER_IDLE_S    30           /* before there is a configuration: server.tcp.idle-timeout */
#define SERVER_WRITE_S   30           /* in which a reader takes something */
#define SERVER_OUT_HIGH  (192u << 10) /* octets that wait, from which on nothing is added, */
#define SERVER_OUT_LOW   (64u << 10)  /* until they are no more than these */
#define SERVER_TURN      16           /* messages */

struct handout;
struct server;
struct update_in;

struct conn {
	struct cds_list_head
		link; /* of the busy connections, or of the others: the last is the newest */
	struct transfer *t;
	struct bufferevent *bev;
	struct event *on_turn;        /* there is more in the input than one turn does */
	struct port_addr peer, local; /* local.family 0: it is not known */
	bool is_tls;
	bool is_busy;  /* replies are to come */
	bool is_eof;   /* nothing more comes */
	bool is_ended; /* to be closed */
	/* The one task that it is busy with. */
	struct handout *handout;
	struct update_in *update;
	struct cds_list_head questions; /* with workers: questions.c */
	uint32_t n_asked;               /* of these */
	uint32_t number;                /* of the connection */
};

int server_open(struct transfer *t) __attribute__((warn_unused_result));
void server_close(struct transfer *t);

/* A connection that a worker has given away; the item is freed. */
void server_take(struct transfer *t, struct handover_item *item);
/*
 * One over TLS, the handshake done, where no worker takes it; ssl and fd are the server's.
 */
void server_accept_tls(struct transfer *t, int fd, SSL *ssl, const struct port_addr *peer);

/* Puts a message, its length in front, into the output. From inquiries; the connection stays. */
void conn_send(struct conn *c, const uint8_t *msg, size_t n);
/* No message is taken until conn_release(), which goes on at the next turn. */
void conn_hold(struct conn *c);
void conn_release(struct conn *c);
/* One more question is with a worker; its reply has come, or there is none. */
void conn_asked(struct conn *c);
void conn_answered(struct conn *c);
/* To be closed at the end of this turn, or soon. */
void conn_end(struct conn *c);
/* At once: not from within its turn. */
void conn_destroy(struct conn *c);

#endif
