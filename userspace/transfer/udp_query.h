/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One query over UDP to one address: from a socket of its own, so with a random port, with a random
 * ID (RFC 5452), signed with the remote's key. It is repeated until a matching reply comes or the
 * tries are used up.
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
		    const struct peer *peer, const uint8_t *msg, size_t n, udp_query_done_fn *done,
		    void *user) __attribute__((warn_unused_result));
/* For @done after ERR_TSIG: what was wrong with the last reply's signature. Static. */
const char *udp_query_bad_tsig(const struct udp_query *query);
/* Ends it without a call of @done. Not to be called within @done. NULL is allowed. */
void udp_query_abort(struct udp_query *query);

#endif
