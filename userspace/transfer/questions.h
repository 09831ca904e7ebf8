/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signed questions over TCP and TLS that are not about transfers: the worker that they came from
 * answers them (handover_ask()) with its cache, its policies and its resolver, and counts them as
 * its own. So a client gets the same answers with a signature as without.
 *
 *	peer_dispatch.c ─► questions_ask() ─► the worker ─► HANDOVER_ANSWERED ─► reply: signed, sent
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_QUESTIONS_H
#define VOLLEY_TRANSFER_QUESTIONS_H

#include "transfer/peer_request.h"

/* To be called when the thread ends. The questions that workers have get no reply. */
void questions_close(struct transfer *t);

/*
 * Sends the question to its worker. cap: octets that the reply may have without its signature.
 * False: there is no memory, or no room for a reply; the caller answers it.
 */
bool questions_ask(struct peer_request *rq, size_t cap) __attribute__((warn_unused_result));

#endif
