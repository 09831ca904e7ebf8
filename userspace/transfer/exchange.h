/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One query to another name server by TCP or TLS, and the messages of its answer, with their
 * lengths in front (RFC 1035 section 4.2.2). A connection carries one exchange at a time; then its
 * peer keeps it for the next. It closes itself when its time is over or the other side says
 * anything.
 *
 *      exchange_begin() ─► an idle connection, else a new one ─► message() ... ─► idle, or closed
 *                           └─ closed meanwhile by the other side: once more, on a new one
 *
 *      connecting ─► handshake (TLS) ─► open ─► query out, messages in ─► idle ─► query ...
 *
 * A turn of the loop reads for STREAM_TURN_NS at most, then other connections have theirs.
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
#define STREAM_SILENCE_S 30
#define STREAM_IDLE_S    8 /* less than the timeouts of knotd (10 s), named (30 s), nsd (120 s) */

/*
 * Results of message(). Any negative value: the exchange has failed, and the connection is closed.
 */
enum {
	EXCHANGE_MORE, /* there is more to come */
	EXCHANGE_DONE, /* that was the last; the connection is good for another */
};

struct exchange_handlers {
	/*
	 * A message, without its length in front. With EXCHANGE_DONE, or an error, the exchange is
	 * freed behind the call.
	 */
	int (*message)(void *user, const uint8_t *msg, size_t n);
	/*
	 * It came to nothing, @why in words; it is freed behind the call. Not after an error of
	 * message().
	 */
	void (*failed)(void *user, int code, const char *why);
};

/*
 * Sends a message, which is copied, by TCP, or TLS where @remote has it, and hands its answers to
 * @handlers, never from within this call. A connection that is silent for @idle_s seconds has
 * failed. The remotes that @remote belongs to have to stay. 0, -ENOMEM, or the immediate error of
 * connect().
 */
int exchange_begin(struct exchange **out, struct transfer *t, struct remote *remote,
		   struct peer *peer, const uint8_t *msg, size_t n,
		   const struct exchange_handlers *handlers, void *user)
	__attribute__((warn_unused_result));
/* Ends it without a word; not from within its handlers. NULL is allowed. */
void exchange_abort(struct exchange *exchange);
/* Octets that came so far. */
uint64_t exchange_bytes(const struct exchange *exchange);
/*
 * Its connection was there before, so an older instance of the server may answer than on a new
 * connection.
 */
bool exchange_is_reused(const struct exchange *exchange);

#endif
