/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps an interface from answering into the void: drivers that are known to lose answers are
 * not asked for them (quirks.h), and what is given to send is watched (leaving.h, xdpdrops.h).
 *
 *      a socket is stuck       its queue loses it, kernel sockets answer there
 *      hits are lost           the driver answers no more, workers do
 *
 * Both are faults of the interface, and tried again by and by.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_IFACE_IFACE_GUARD_H
#define VOLLEY_IFACE_IFACE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "iface/iface_state.h"

/* Whether an answer by native XDP would crash the kernel, by the link as it was read last. */
bool iface_guard_is_native_fatal(const struct iface *iface);

/*
 * Notes what queues a virtio_net has, for a kernel that does not tell of transmit queues: before
 * the program comes, receive and transmit queues are as many; the program's own are receive queues
 * only.
 */
void iface_guard_note_pairs(struct iface *iface);
/* The transmit queues that there are, by that too; of a link that is down, as many as before. */
uint32_t iface_guard_tx_queues(const struct iface *iface, const struct linkinfo *before);

/* What to do about that, as a remark; hits are given only by a generic program. */
void iface_guard_say_fatal(struct iface *iface);

/* Why zero-copy is not to be tried; NULL: nothing is known against it, or zero-copy: on asks for
 * it. */
const char *iface_guard_zerocopy(const struct iface *iface);

/* Whether the queue's socket was stuck and it is too early for another. */
bool iface_guard_is_barred(const struct iface *iface, uint32_t queue, uint64_t now_ns);

/* Whether the queue, which has a socket, is stuck: close the socket. After the link was read. */
bool iface_guard_is_stuck(struct iface *iface, uint32_t queue, uint64_t now_ns);
/* Says which queues were stuck lately. */
void iface_guard_say_stuck(struct iface *iface, uint64_t now_ns);

/* Looks whether hits leave, where the driver tells. Once a second. */
void iface_guard_hits(struct iface *iface, uint64_t now_ns);

/* Nothing is attached any more. */
void iface_guard_reset(struct iface *iface);

#endif
