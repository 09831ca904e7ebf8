/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interface that Volley answers on: its XDP program and the AF_XDP sockets of its queues.
 *
 *      native program ─► zero-copy sockets      each step down is said once, with the reason: in the
 *                        copy sockets           log and as the interface's note. A queue without a
 *      generic program ─► copy sockets          socket takes none from the others: what it brings up
 *      kernel sockets                           goes on to the kernel's sockets.
 *
 * The interface may be missing at the start, go away, come again (with another index), and have
 * more or fewer queues than before: each is a state that is told, none is an end.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_IFACE_IFACE_H
#define VOLLEY_IFACE_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iface/iface_state.h"
#include "iface/workers.h"

void iface_init(struct iface *iface, const struct config_interface *config);

/*
 * Finds or attaches the program; maps as in program_open(). Errors are in the note, too; -EPROTO
 * (a program of another ABI) and ERR_RUNNING (another volleyd's) nobody should run beside.
 */
int iface_attach(struct iface *iface, struct object_maps *maps, const struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

/*
 * Sees to it that the queues that the interface has now have AF_XDP sockets, as far as wanted and
 * possible, and no others; the rest is in the note. To be called again when something may have
 * changed: what is in order is left alone, what failed is tried again by and by. Those that are
 * closed first get no more frames, and answer what they have.
 */
void iface_open_ports(struct iface *iface, struct workers *workers);

/* The same by DPDK (iface_dpdk.c), of what dpdk_iface.h calls owned and lent. Tried once. */
void iface_open_dpdk(struct iface *iface, struct workers *workers);
/*
 * Where an earlier volleyd's program still runs, ours takes its place: once its sockets are
 * open and kernel sockets answer what it does not know.
 */
void iface_take_place(struct iface *iface);

/* An owned device and its tap, which is the interface. 0, or a negative code and a sentence in
 * err. */
int iface_attach_dpdk(struct iface *iface, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
void iface_close_dpdk(struct iface *iface, struct workers *workers);
/*
 * Where the driver no longer shows frames to the program (iface/unseen.h), makes a renewal of the
 * program due; where that has not helped, says so. Where another MTU decides otherwise on native
 * mode, makes due that the program is attached again. Looks once a second, however often it is
 * called.
 */
void iface_watch_driver(struct iface *iface);

/*
 * Where the card takes VLAN tags out of frames, and VLANs stand on the interface, neither program
 * nor AF_XDP sockets may answer: a reply to a tagged query would leave untagged. The remark says
 * what to type; when the card leaves tags alone, or the VLANs have gone, they answer again. Before
 * iface_open_ports() looks at queues.
 */
void iface_watch_tags(struct iface *iface);

/*
 * With return-path: fib the kernel is told which next hops the driver uses (iface/neighbours.h), so
 * that it notices when one has another MAC address. Once a second.
 */
void iface_watch_neighbours(struct iface *iface);

/* Closes the sockets of queue `first` and of those above. */
void iface_close_ports(struct iface *iface, struct workers *workers, uint32_t first);

/* Closes sockets, then lets the program go (see program_close). */
void iface_close(struct iface *iface, struct workers *workers, bool keep);

/* The MAC address by which the driver knows its frames, and the MTU that its answers keep to, as
 * they are now. */
void iface_update_link(struct iface *iface);

/* Whether interface and program are still those that we know. True where nothing is left to look
 * with. */
bool iface_is_sound(const struct iface *iface);

/* Whether the program that was in the way of ours has gone. */
bool iface_is_cleared(const struct iface *iface);

#endif
