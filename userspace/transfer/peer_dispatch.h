/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message to us: its signature is checked first; then opcode and type decide which module
 * answers.
 *
 *      TSIG ─► opcode ─┬─► NOTIFY: rules, reply, secondary_notified()
 *                      ├─► UPDATE: rules, updates.c
 *                      ├─► AXFR, IXFR: rules, transfer_out.c (IXFR by UDP: here)
 *                      └─► any other question: over TCP, by its worker (questions.c);
 *                          by UDP, and if a secondary asks for the SOA of its zone, by an engine
 *                          without a cache
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_PEER_DISPATCH_H
#define VOLLEY_TRANSFER_PEER_DISPATCH_H

struct peer_request;

void peer_dispatch(struct peer_request *rq);

#endif
