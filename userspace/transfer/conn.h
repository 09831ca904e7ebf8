/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection of a client (transfer/server.h): what it is busy with, and its output.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_CONN_H
#define VOLLEY_TRANSFER_CONN_H

#include <event2/bufferevent.h>
#include <urcu/list.h>

#include "port/addr.h"
#include "transfer/transfer_thread.h"

#define CONN_PREFIX_BYTES 2  /* of a message: its length */
#define SERVER_IDLE_S     30 /* before there is a configuration: server.tcp.idle-timeout */
#define SERVER_WRITE_S    30 /* in which a reader takes something */
#define SERVER_OUT_HIGH   (192u << 10) /* octets that wait, from which on nothing is added, */
#define SERVER_OUT_LOW    (64u << 10)  /* until they are no more than these */

struct transfer_out;
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
	struct transfer_out *transfer;
	struct update_in *update;
	struct cds_list_head questions; /* with workers: questions.c */
	uint32_t n_asked;               /* of these */
	uint32_t number;                /* of the connection */
};

/* All connections. */
struct server {
	struct cds_list_head idle, busy;
	uint32_t n, n_max;
	uint32_t n_made; /* ever */
};

/*
 * Puts a message, its length in front, into the output. From the reply to a request; the connection
 * stays.
 */
void conn_send(struct conn *c, const uint8_t *msg, size_t n);
/* No message is taken until conn_release(), which goes on at the next turn. */
void conn_hold(struct conn *c);
void conn_release(struct conn *c);
/* One more question is with a worker; its reply has come, or there is none. */
void conn_asked(struct conn *c);
void conn_answered(struct conn *c);
/* To be closed at the end of this turn, or soon. */
void conn_end(struct conn *c);

/* ---- For server.c ---------------------------------------------------------------------------- */

/* Into the list of the busy connections or of the others, as its newest. */
void conn_move(struct conn *c);
/* As it is busy now. */
void conn_set_timeouts(struct conn *c);
/* Messages that are there are served from the loop, soon. */
void conn_turn_soon(struct conn *c);

#endif
