/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interface that Volley answers on: its XDP program and the AF_XDP sockets of its queues, on the
 * first of these steps that works:
 *
 *      native program ─► zero-copy sockets
 *                        copy sockets
 *      generic program ─► copy sockets
 *      kernel sockets
 *
 * Each step down is reported once with its reason, in the log and in the interface's note. If one
 * queue has no socket, the others keep theirs; its queries go to the kernel's sockets.
 *
 * The interface may be missing at the start, disappear, return (with another index), and have more
 * or fewer queues than before. Each is a state that is reported; volleyd goes on. iface_settle()
 * brings kernel and wish together; iface_state.h draws the states.
 *
 * Control's thread calls all these functions.
 *
 * Queues (iface_ports.c): ethtool's notifications report changes. A new queue gets a socket. A
 * queue that has gone first loses its place in xsks_map, and then, when no program that has seen it
 * there runs any more, the socket; its worker first answers the queries that have arrived. A socket
 * that cannot be opened is tried again when the link changes, or after 1, 2, 4 ... 64 seconds.
 *
 * Some changes have no notification, so watch.c looks for them once a second: frames that the
 * program no longer sees (unseen.h); an MTU that crosses the size of one buffer (the program is
 * attached again, and the driver decides anew between native, native for several buffers, and
 * generic); VLANs on an interface whose card strips tags (vlans.h: kernel sockets answer); an
 * interface that has moved to another network namespace (its program is silenced before volleyd
 * lets go of it).
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
 * Finds or attaches the program; maps as in program_open(). Errors are in the note, too. volleyd
 * should not run after -EPROTO (program of another ABI) or ERR_RUNNING (another volleyd's).
 */
int iface_attach(struct iface *iface, struct object_maps *maps, const struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

/*
 * Brings the kernel to what iface->wish asks for. Call it once a second, and after a step became
 * due. It looks if the interface came, went, or lost its program; opens and closes sockets; watches
 * the driver; and takes the step that is due (enum iface_due). 0, or the code of iface_attach() if
 * it attaches and that fails. With IFACE_DETACHED it does nothing. maps as in program_open().
 */
int iface_settle(struct iface *iface, struct workers *workers, struct object_maps *maps,
		 const struct cache_sizes *sizes);

/*
 * Opens AF_XDP sockets for the queues that the interface has now, as far as configured and
 * possible, and closes the sockets of other queues. The note has the exceptions. Call it again when
 * something may have changed: working sockets stay, failed ones are tried again less and less
 * often. Before a socket is closed, it gets no more frames and its queries are answered.
 */
void iface_open_ports(struct iface *iface, struct workers *workers);

/* Does the same by DPDK (iface_dpdk.c), for owned and lent devices (dpdk_iface.h). Tried once. */
void iface_open_dpdk(struct iface *iface, struct workers *workers);
/*
 * If the program of an earlier volleyd still runs, replaces it by ours. Call it when the sockets of
 * our program are open and kernel sockets answer the misses.
 */
void iface_take_place(struct iface *iface);

/* Opens an owned device and its tap. 0, or a negative code with a sentence in err. */
int iface_attach_dpdk(struct iface *iface, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
void iface_close_dpdk(struct iface *iface, struct workers *workers);
/*
 * If the network driver no longer runs the program (iface/unseen.h), makes a renewal of the program
 * due; if that has not helped, reports it. If a new MTU changes the choice of native mode, makes a
 * new attachment due. Looks once a second, however often it is called.
 */
void iface_watch_driver(struct iface *iface);

/*
 * If the card strips VLAN tags and the interface has VLANs, neither program nor AF_XDP sockets may
 * answer: a reply to a tagged query would leave untagged. The remark says which command helps. When
 * VLANs or stripping are gone, they answer again. Call it before iface_open_ports().
 */
void iface_watch_tags(struct iface *iface);

/*
 * With return-path: fib, tells the kernel which next hops the driver uses (iface/neighbours.h), so
 * that the kernel notices a changed MAC address. Once a second.
 */
void iface_watch_neighbours(struct iface *iface);

/* Closes the sockets of queue `first` and of all higher queues. */
void iface_close_ports(struct iface *iface, struct workers *workers, uint32_t first);

/*
 * Closes the sockets, then the program (see program_close()). Afterwards nothing of the interface
 * is known, and an attachment is due.
 */
void iface_close(struct iface *iface, struct workers *workers, bool keep);

/* Gives the driver the interface's current MAC address and MTU. */
void iface_update_link(struct iface *iface);

/* True if interface and program are still the known ones, or if resources to look are exhausted. */
bool iface_is_sound(const struct iface *iface);

#endif
