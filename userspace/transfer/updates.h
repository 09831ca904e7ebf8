/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UPDATE (RFC 2136) as a message: rules and signature are checked here, control makes the
 * change, and its rcode comes back by transfer_answer(). The reply is signed with the key of the
 * request.
 *
 * At most UPDATES_MAX are out at a time; more get SERVFAIL. A connection waits for its answer
 * before its next message is looked at.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_UPDATES_H
#define VOLLEY_TRANSFER_UPDATES_H

#include <stdint.h>

#define UPDATES_MAX 256

struct conn;
struct peer_request;
struct transfer;

void updates_take(struct peer_request *rq);
/* The connection goes; control completes its update all the same. */
void updates_forget(struct conn *c);
void updates_answer(struct transfer *t, void *request, unsigned int rcode);
/* No answer comes any more. */
void updates_close(struct transfer *t);

#endif
