/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other end of a veth pair, watched (vethpeer.h): natively, answers leave only while it has an
 * XDP program.
 *
 *                       xdp: auto                                xdp: native, or not volleyd's to take off
 *      it has one       native                                   native
 *      it has none      generic                                  native, the driver does not answer: degraded
 *      it loses it      silent at once, then generic: degraded   the same as above
 *      it gets one      native again, after some seconds         the driver answers again
 *
 * Where it cannot be seen, auto takes generic mode; in native mode what is lost is counted
 * (iface_guard.h).
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_IFACE_IFACE_PEER_H
#define VOLLEY_IFACE_IFACE_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "iface/iface_state.h"

/* Looks for the first time, before a program is attached. */
void iface_peer_begin(struct iface *iface);

/* Whether the program is to be generic because of it. */
bool iface_peer_wants_generic(const struct iface *iface);

/* Says what is to be said of it; once the program is there. */
void iface_peer_say(struct iface *iface);

/*
 * Looks again, several times a second: what is sent natively meanwhile is lost. Switches the
 * driver's answers off and on, and makes due that the program is attached again in the other mode.
 */
void iface_peer_watch(struct iface *iface, uint64_t now_ns);

#endif
