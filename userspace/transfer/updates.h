/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UPDATE messages (RFC 2136): the rules are checked here, control makes the change and gives the
 * rcode with transfer_answer(). The reply is signed with the key of the request.
 *
 * Control has at most UPDATES_MAX at a time; more get SERVFAIL. A connection handles its next
 * message only after the answer.
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
/* The connection closes; control completes its update nevertheless. */
void updates_forget(struct conn *c);
void updates_answer(struct transfer *t, void *request, unsigned int rcode);
/* To be called when control answers no more: frees the updates that wait. */
void updates_close(struct transfer *t);

#endif
