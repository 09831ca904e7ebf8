/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One query to another name server by TCP or TLS, and the messages of its answer, with their
 * lengths in front (RFC 1035 section 4.2.2). A connection carries one exchange at a time. After an
 * exchange its peer keeps it for the next one. An idle connection closes itself when its time is
 * over or when the other side sends anything.
 *
 *      exchange_begin() ─► an idle connection, else a new one ─► message() ... ─► idle, or closed
 *                           └─ closed meanwhile by the other side: once more, on a new one
 *
 *      connecting ─► handshake (TLS) ─► open ─► query out, messages in ─► idle ─► query ...
 *
 * A connection reads for STREAM_TURN_NS at most in one turn of the loop. Each message has to come
 * to its end within STREAM_SILENCE_S, so that single octets do not keep an exchange alive.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_EXCHANGE_H
#define VOLLEY_TRANSFER_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct remote;
struct exchange;
struct peer;
struct transfer;

#define STREAM_TURN_NS   2000000ULL
#define STREAM_CONNECT_S 5
#define STREAM_SILENCE_S 30 /* between two octets, and for each whole message */
/* less than knotd (10 s), named (30 s), nsd (120 s) */
#define STREAM_IDLE_S 8

/* Results of message(). A negative value: the exchange has failed, and its connection is closed. */
enum {
	EXCHANGE_MORE, /* there is more to come */
	EXCHANGE_DONE, /* this was the last message; the connection can be used again */
};

struct exchange_handlers {
	/* A message, without its length in front. If it returns EXCHANGE_DONE or an error, the
	 * exchange is freed after the call. */
	int (*message)(void *user, const uint8_t *msg, size_t n);
	/* The exchange has failed, for the reason @why; it is freed after the call. Not called
	 * after an error of message(). */
	void (*failed)(void *user, int code, const char *why);
};

/*
 * Sends a copy of @msg by TCP, or by TLS if @remote has it, and gives its answers to @handlers,
 * never within this call. An exchange fails after STREAM_SILENCE_S seconds of silence. The caller's
 * reference to the remotes has to last until the exchange ends. 0, -ENOMEM, or the immediate error
 * of connect().
 */
int exchange_begin(struct exchange **out, struct transfer *t, struct remote *remote,
		   struct peer *peer, const uint8_t *msg, size_t n,
		   const struct exchange_handlers *handlers, void *user)
	__attribute__((warn_unused_result));
/* Ends it without a call of its handlers. Not to be called within a handler. NULL is allowed. */
void exchange_abort(struct exchange *exchange);
/* Octets received so far. */
uint64_t exchange_bytes(const struct exchange *exchange);
/* True if the whole query has gone out: the connection has come about. */
bool exchange_is_sent(const struct exchange *exchange);
/* True if the connection is older than the exchange: an older instance of the server may answer on
 * it. */
bool exchange_is_reused(const struct exchange *exchange);

/*
 * One query over UDP to one address: with a random port, a random ID (RFC 5452), and signed with
 * the remote's key. It is repeated until a matching reply comes or the tries are used up.
 *
 *      query ─► the peer's open socket, else a new one ─► UDP_QUERY_SHARED queries ─► no new ones
 *                                                         └─ none waits for a reply: closed
 *
 * Queries to one address share a socket while others wait on it, because a new socket for each of
 * a hundred thousand costs more than the query. A forger has to guess port and ID of each name
 * nevertheless, and a port is in use for at most UDP_QUERY_SHARED queries.
 *
 * Threads: the loop's.
 */

struct udp_query;

#define UDP_QUERY_MAX    1232
#define UDP_QUERY_SHARED 64
/* Packets that are read from one socket before other work: the rest waits in the kernel. */
#define UDP_QUERY_TURN 64

/*
 * The query ends. @code is 0 for a reply with the right ID, opcode, question and signature,
 * whatever its rcode; ERR_TSIG if all replies had a wrong signature; or -ETIMEDOUT, -ECONNREFUSED
 * and the like. The query is freed after the call.
 */
typedef void udp_query_done_fn(void *user, int code, const uint8_t *reply, size_t n);

/*
 * Sends a copy of @msg, which has one question and no TSIG, with a new ID. @done is never called
 * within this call. The caller's reference to the remotes has to last until the query ends. 0,
 * -ENOMEM, or the error of the socket.
 */
int udp_query_start(struct udp_query **out, struct transfer *t, const struct remote *remote,
		    struct peer *peer, const uint8_t *msg, size_t n, udp_query_done_fn *done,
		    void *user) __attribute__((warn_unused_result));
/* For @done after ERR_TSIG: what was wrong with the last reply's signature. Static. */
const char *udp_query_bad_tsig(const struct udp_query *query);
/* Ends it without a call of @done. Not to be called within @done. NULL is allowed. */
void udp_query_abort(struct udp_query *query);

#endif
