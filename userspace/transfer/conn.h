/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection of a client (transfer/server.h): its present task and its output.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_CONN_H
#define VOLLEY_TRANSFER_CONN_H

#include <event2/bufferevent.h>
#include <urcu/list.h>

#include "port/addr.h"
#include "transfer/transfer_thread.h"

#define CONN_PREFIX_BYTES 2            /* the length before each message */
#define SERVER_IDLE_S     30           /* until a configuration sets server.tcp.idle-timeout */
#define SERVER_WRITE_S    30           /* a reader has to take something within this time */
#define SERVER_OUT_HIGH   (192u << 10) /* octets in the output: nothing is added from here on, */
#define SERVER_OUT_LOW    (64u << 10)  /* until so many are left */

struct transfer_out;
struct update_in;

struct conn {
	struct cds_list_head link; /* in server.busy or server.idle; the newest comes last */
	struct transfer *t;
	struct bufferevent *bev;
	struct event *on_turn;        /* the input has more than one turn handles */
	struct port_addr peer, local; /* local.family 0: unknown */
	int tls_version;              /* as OpenSSL numbers them; 0: no TLS */
	bool is_tls;
	bool is_busy;  /* from conn_hold() to conn_release() */
	bool is_eof;   /* the client sends no more */
	bool is_ended; /* closed at the end of the turn */
	/* The task that keeps it busy: at most one. */
	struct transfer_out *transfer;
	struct update_in *update;
	struct cds_list_head questions; /* questions that workers have: questions.c */
	uint32_t n_asked;               /* length of `questions` */
	uint32_t number;                /* its number */
};

/* All connections. */
struct server {
	struct cds_list_head idle, busy;
	uint32_t n, n_max;
	uint32_t n_made; /* since the start */
};

/* Puts a message with its length in front into the output. Called from the reply to a request; does
 * not free the connection. */
void conn_send(struct conn *c, const uint8_t *msg, size_t n);
/* Handles no further message until conn_release(). Handling goes on at the turn after that. */
void conn_hold(struct conn *c);
void conn_release(struct conn *c);
/* A worker has got one more question; a question has ended, with a reply or without. */
void conn_asked(struct conn *c);
void conn_answered(struct conn *c);
/* The connection is closed at the end of this turn or of the next one. */
void conn_end(struct conn *c);

/* ---- For server.c ---------------------------------------------------------------------------- */

/*
 * Moves it to the end of server.busy if a reply is still to come, else to the end of server.idle.
 */
void conn_move(struct conn *c);
/* Sets its timeouts: without one for reading while a reply is still to come. */
void conn_set_timeouts(struct conn *c);
/* The loop soon handles the messages that are in the input. */
void conn_turn_soon(struct conn *c);

#endif
