/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One query over UDP to one address, from a socket of its own, so with a random port, and with a
 * random ID (RFC 5452), signed with the remote's key. It is sent again until a reply comes that
 * belongs to it.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_UDP_QUERY_H
#define VOLLEY_TRANSFER_UDP_QUERY_H

#include <stddef.h>
#include <stdint.h>

struct udp_query;
struct remote;
struct peer;
struct transfer;

#define UDP_QUERY_MAX 1232

/*
 * The end: 0 and the reply, whose ID, opcode, question and signature are right, whatever its rcode;
 * or -ETIMEDOUT, -ECONNREFUSED ..., ERR_TSIG where the only answers had no signature that holds.
 * The query is freed behind the call.
 */
typedef void udp_query_done_fn(void *user, int code, const uint8_t *reply, size_t n);

/*
 * Sends @msg, a message with one question and no TSIG, which is copied; its ID is set. @done is
 * never called from within. The remotes that @remote belongs to have to live as long. 0, -ENOMEM,
 * or the error of the socket.
 */
int udp_query_start(struct udp_query **out, struct transfer *t, const struct remote *remote,
		    const struct peer *peer, const uint8_t *msg, size_t n, udp_query_done_fn *done,
		    void *user) __attribute__((warn_unused_result));
/* For @done, if it gets ERR_TSIG: the fault of the last reply's signature, in words. Static. */
const char *udp_query_bad_tsig(const struct udp_query *query);
/* Ends it without a word; not from within @done. NULL is allowed. */
void udp_query_abort(struct udp_query *query);

#endif
