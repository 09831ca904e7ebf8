/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps an interface from sending answers that are lost. Network drivers that are known to lose
 * answers get none to send (quirks.h), and sent answers are watched (leaving.h, xdpdrops.h).
 *
 *      a socket is stuck       its queue loses it, kernel sockets answer there
 *      hits are lost           the driver answers no more, workers do
 *
 * Both are faults of the interface; volleyd tries again after a pause.
 *
 * Control's thread calls all these functions.
 */
#ifndef VOLLEY_IFACE_IFACE_GUARD_H
#define VOLLEY_IFACE_IFACE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "iface/iface_state.h"

/* True if an answer by native XDP would crash the kernel, judged by iface->link. */
bool iface_guard_is_native_fatal(const struct iface *iface);

/*
 * Notes the queue pairs of a virtio_net, for a kernel that does not report transmit queues. The
 * program adds receive queues only.
 */
void iface_guard_note_pairs(struct iface *iface);
/* The number of transmit queues, also by that note. If the link is down, the number in `before`. */
uint32_t iface_guard_tx_queues(const struct iface *iface, const struct link *before);

/* Remarks what to do if native answers are fatal; only a generic program answers then. */
void iface_guard_say_fatal(struct iface *iface);

/* Why zero-copy must not be tried. NULL: no reason is known, or zero-copy: on asks for it. */
const char *iface_guard_zerocopy(const struct iface *iface);

/* True if the queue's socket was stuck and it is too early to open another. */
bool iface_guard_is_barred(const struct iface *iface, uint32_t queue, uint64_t now_ns);

/* True if the queue's socket is stuck: the caller closes it. Call it after reading the link. */
bool iface_guard_is_stuck(struct iface *iface, uint32_t queue, uint64_t now_ns);
/* Remarks which queues were stuck lately. */
void iface_guard_say_stuck(struct iface *iface, uint64_t now_ns);

/* Checks that hits leave, if the network driver reports it. Once a second. */
void iface_guard_hits(struct iface *iface, uint64_t now_ns);

/* The program is no longer attached: forgets what was seen. */
void iface_guard_reset(struct iface *iface);

#endif
