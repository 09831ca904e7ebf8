/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches the other end of a veth pair (vethpeer.h): in native mode, answers leave only while the
 * other end has an XDP program.
 *
 *      other end        xdp: auto                         xdp: native, or volleyd may not detach
 *      has a program    native                            native
 *      has none         generic                           native, without answers: degraded
 *      loses it         no answers, then generic:         native, without answers: degraded
 *                       degraded
 *      gets one         native again after some seconds   the driver answers again
 *
 * If volleyd cannot see the other end, auto takes generic mode; in native mode lost answers are
 * counted (iface_guard.h).
 *
 * Control's thread calls all these functions.
 */
#ifndef VOLLEY_IFACE_IFACE_PEER_H
#define VOLLEY_IFACE_IFACE_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "iface/iface_state.h"

/*
 * Looks for the first time, before a program is attached. True if the program must be generic
 * because of the other end.
 */
bool iface_peer_begin(struct iface *iface);

/* Remarks on the other end. Call it after the program was attached. */
void iface_peer_say(struct iface *iface);

/*
 * Wakes the other end, so that it receives the native answers that wait for it: while they fill its
 * ring, it may receive nothing (bpf/tiny_programs.h). Call it after the driver's answers were
 * switched off. No effect on an interface that is no veth.
 */
void iface_peer_wake(const struct iface *iface);

/*
 * Looks again, several times a second, because natively sent answers may be lost meanwhile.
 * Switches the driver's answers off and on, and makes a new attachment in the other mode due.
 */
void iface_peer_watch(struct iface *iface, uint64_t now_ns);

#endif
