/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection out, TCP or TLS, that carries messages with their lengths in front (RFC 1035 section
 * 4.2.2). It belongs to an exchange, or is idle and closes itself when its time is over or the other
 * side says anything.
 *
 *      connecting ─► handshake (TLS) ─► open ─► query out, messages in ─► idle ─► the next query ...
 *
 * A turn of the loop reads at most for STREAM_TURN_NS, then others have theirs.
 */
#ifndef VOLLEY_TRANSFER_STREAM_H
#define VOLLEY_TRANSFER_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "transfer/peer.h"

#define STREAM_TURN_NS   2000000ULL
#define STREAM_CONNECT_S 5
#define STREAM_SILENCE_S 30
#define STREAM_IDLE_S    8 /* less than the timeouts of knotd (10 s), named (30 s), nsd (120 s) */

struct exchange {
	struct transfer *t;
	struct book_remote *remote;
	struct peer *peer;
	const struct exchange_handlers *handlers;
	void *user;
	struct stream *stream;
	uint64_t n_bytes; /* that came */
	bool is_reused;   /* on a connection that others used before */
	size_t n_query;   /* with its length in front */
	uint8_t query[];
};

/* Begins to connect. 0, -ENOMEM, or the immediate error of connect(). */
int stream_open(struct stream **out, struct transfer *t, struct book_remote *remote,
		struct peer *peer) __attribute__((warn_unused_result));
/* Its connection is the exchange's, whose query goes out as soon as it can. */
void stream_begin(struct stream *s, struct exchange *exchange);
/* Without a word to its exchange. */
void stream_close(struct stream *s);

/* peer.c: the connection is good for another exchange, or to be closed. */
void peer_keep(struct peer *peer, struct stream *s);
void peer_forget(struct peer *peer, struct stream *s);
/* The connection is closed: the exchange is asked again on another one, or fails. */
void exchange_lost(struct exchange *exchange, int code, const char *why);

/* For the list of idle ones. */
struct stream **stream_next_idle(struct stream *s);

#endif
