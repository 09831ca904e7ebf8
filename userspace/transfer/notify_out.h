/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NOTIFY to secondaries (RFC 1996): each remote in a zone's notify list gets one for each version.
 * It is repeated until the remote answers or NOTIFY_ROUNDS rounds are over. A newer version
 * replaces the NOTIFY that is not answered yet.
 *
 *      published ─► queue ─► NOTIFY_PER_TICK in NOTIFY_TICK_MS, NOTIFY_RUNNING_MAX at a time
 *                     ▲          │ no answer, from any of its addresses
 *                     └── a while ◄┘                     10,000 zones at start are 10 s of packets
 *
 * After an address did not answer, it gets no NOTIFY of any zone for a while (peer.h). Remotes with
 * TLS get it over TLS, the others by UDP (udp_query.h).
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_NOTIFY_OUT_H
#define VOLLEY_TRANSFER_NOTIFY_OUT_H

#define NOTIFY_TICK_MS     10
#define NOTIFY_PER_TICK    10
#define NOTIFY_RUNNING_MAX 64

struct transfer;
struct transfer_zone;

int notifier_open(struct transfer *t) __attribute__((warn_unused_result));
void notifier_close(struct transfer *t); /* after all zones were dropped */

/* The zone has a new list of remotes. They get a NOTIFY if there was no list before, or if a remote
 * of the old list had not answered. */
void notifier_put_zone(struct transfer *t, struct transfer_zone *zone);
void notifier_drop_zone(struct transfer *t, struct transfer_zone *zone);
/* Sends a NOTIFY to all its remotes, beginning with the first round. */
void notifier_notify(struct transfer *t, struct transfer_zone *zone);

#endif
