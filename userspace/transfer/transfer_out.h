/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfers out. Each holds a version of its zone, which may be replaced meanwhile, and makes
 * messages as fast as its reader takes them: a few in each turn of the loop, so that all readers
 * make progress. The worker that has the connection sends them (worker/handover_queue.h).
 *
 *      transfer_out_begin() ─► line ─► runs (at most transfers-out at a time) ─► handover_end()
 *                                  │     ▲ HANDOVER_ROOM
 *                                  └ the changes, if they are known and shorter; else the zone
 *
 * Messages have up to 16 KiB, as far as compression pointers reach; a record that needs more gets a
 * larger one. If the client goes, its transfer ends (HANDOVER_GONE).
 *
 * Transfers above the limit wait in line, oldest first, as long as their clients stay connected: a
 * refused secondary would try again only later. One client (an IPv4 /24 or an IPv6 /48) gets three
 * quarters of the places at most, so that other clients have the rest. A reader that takes nothing
 * for TRANSFER_OUT_STALL_S seconds lends its place to the next in line, and goes on without one.
 * For each place TRANSFER_OUT_LENT_MAX readers may do so. A transfer ends if its reader takes less
 * than HANDOVER_HIGH in TRANSFER_OUT_STEP_S seconds.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_TRANSFER_OUT_H
#define VOLLEY_TRANSFER_TRANSFER_OUT_H

#include <stdbool.h>
#include <stdint.h>

#define TRANSFER_OUT_STEP_S   60
#define TRANSFER_OUT_STALL_S  1
#define TRANSFER_OUT_LENT_MAX 4
#define TRANSFER_OUT_PAD_TO   468 /* RFC 8467 section 4.1, RFC 9103 section 8.3 */

struct peer_request;
struct transfer;
struct transfer_zone;

/* Begins a transfer to a client that the rules allow. @serial is for IXFR. Takes over rq->item. */
void transfer_out_begin(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial);
/* IXFR by UDP: one message with the changes, or with the SOA alone, so that the client asks over
 * TCP (RFC 1995 section 2). */
void transfer_out_datagram(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial);

/* The zone is being removed: waiting transfers end with an error; running ones go on. */
void transfer_out_forget_zone(struct transfer *t, const struct transfer_zone *zone);
/* Initialises the members of struct primary for transfers. 0, or an error of getrandom(). */
int transfer_out_open(struct transfer *t) __attribute__((warn_unused_result));
/* All transfers end, with their connections. */
void transfer_out_close(struct transfer *t);
/* Starts waiting transfers if there are free places. */
void transfer_out_next(struct transfer *t);

#endif
