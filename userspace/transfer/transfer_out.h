/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfers out. One holds a version of its zone, which may be replaced meanwhile, and makes
 * messages as fast as its reader takes them: a few a turn, so that any number of readers get on
 * side by side.
 *
 *      transfer_out_begin() ─► line ─► runs (at most transfers-out at a time) ─► conn_release()
 *                                  └ chain of changes, if there is one and it is shorter; else the zone
 *
 * Messages are of 16 KiB, as far as pointers to names reach; a record that needs more has a larger
 * one.
 *
 * Transfers over the limit wait in line, oldest first, for as long as their clients stay connected:
 * a secondary that is refused would try again, and only later. One client, an IPv4 /24 or an IPv6
 * /48, has three quarters of the places at most, so that those of others are next in line. A reader
 * that takes nothing for TRANSFER_OUT_STALL_S lends its place to the next in line, and goes on
 * without one; so do TRANSFER_OUT_LENT_MAX for each place. A reader that takes less than
 * SERVER_OUT_HIGH in TRANSFER_OUT_STEP_S seconds is given up.
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

struct conn;
struct peer_request;
struct transfer;
struct transfer_zone;

/*
 * The client is allowed to have the zone. @serial is for IXFR. The connection is busy from here on;
 * replies are made later.
 */
void transfer_out_begin(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial);
/* IXFR by UDP: one message, or the SOA alone, which says: ask over TCP (RFC 1995 section 2). */
void transfer_out_datagram(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial);

/* There is room in the connection's output. It may be ended by this. */
void transfer_out_go_on(struct conn *c);
/* The connection goes; nothing where there is no transfer. */
void transfer_out_abort(struct conn *c);
/* The zone is being removed: transfers that wait end with an error, transfers that run go on. */
void transfer_out_forget_zone(struct transfer *t, const struct transfer_zone *zone);
/* Initialises the members of struct primary for transfers. 0, or the error of getrandom(). */
int transfer_out_open(struct transfer *t) __attribute__((warn_unused_result));
/* The connection of the oldest that has lent its place; NULL: there is none. */
struct conn *transfer_out_find_lent(const struct transfer *t);
/* More may run now. */
void transfer_out_next(struct transfer *t);

#endif
