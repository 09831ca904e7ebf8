/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UPDATE messages (RFC 2136): the rules are checked here, control makes the change and gives the
 * rcode with transfer_answer(). The reply is signed with the key of the request.
 *
 * Control has at most UPDATES_MAX at a time; more get SERVFAIL. A worker takes the next message of
 * a connection only after the answer. If the client goes meanwhile, control makes the change
 * nevertheless.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_UPDATES_H
#define VOLLEY_TRANSFER_UPDATES_H

#include <stdint.h>

#define UPDATES_MAX 256

struct peer_request;
struct transfer;

void updates_take(struct peer_request *rq);
void updates_answer(struct transfer *t, void *request, unsigned int rcode);
/* To be called when control answers no more: frees the updates that wait. */
void updates_close(struct transfer *t);

#endif
