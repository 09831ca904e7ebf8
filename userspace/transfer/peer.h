/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address of another name server, and the connections to it. One connection carries one exchange
 * at a time, a query and the messages of its answer; then it waits some seconds for the next (RFC 7766
 * section 6.2, RFC 9103 section 7.5), which costs no handshake.
 *
 *      peer_exchange() ─► an idle connection, else a new one ─► message() ... ─► idle, or closed
 *                          └─ closed meanwhile by the other side: once more, on a new one
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_PEER_H
#define VOLLEY_TRANSFER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tls_client.h"
#include "port/addr.h"

struct book_remote;
struct exchange;
struct stream;
struct transfer;

#define PEER_IDLE_MAX 32 /* connections that are kept */

struct peer {
	struct port_addr addr;
	struct stream *idle; /* kept, newest first */
	uint32_t n_idle;
	struct tls_session session; /* to be resumed */
	uint64_t dead_until_ns;     /* it did not answer: until then nothing is asked of it */
	uint32_t n_dead;            /* how often in a row */
};

/* Results of message(). Any negative value: the exchange has failed, and the connection is closed. */
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
	/* It came to nothing, @why in words; it is freed behind the call. Not after an error of message(). */
	void (*failed)(void *user, int code, const char *why);
};

/*
 * Sends a message, which is copied, by TCP, or TLS where @remote has it, and hands its answers to
 * @handlers, never from within this call. A connection that is silent for @idle_s seconds has failed.
 * The book of @remote has to stay. 0, -ENOMEM, or the immediate error of connect().
 */
int peer_exchange(struct exchange **out, struct transfer *t, struct book_remote *remote,
		  struct peer *peer, const uint8_t *msg, size_t n,
		  const struct exchange_handlers *handlers, void *user)
	__attribute__((warn_unused_result));
/* Ends it without a word; not from within its handlers. NULL is allowed. */
void exchange_abort(struct exchange *exchange);
/* Octets that came so far. */
uint64_t exchange_bytes(const struct exchange *exchange);
/* Its connection was there before, so an older instance of the server may answer than on a new connection. */
bool exchange_is_reused(const struct exchange *exchange);

/* It has not answered: nothing is asked of it for a while, the longer the more often that is so. */
void peer_is_dead(struct peer *peer, uint64_t now_ns);
void peer_is_alive(struct peer *peer);
bool peer_is_shunned(const struct peer *peer, uint64_t now_ns);

void peer_close_idle(struct peer *peer); /* the next exchange has a new connection */
void peer_fini(struct peer *peer);

#endif
