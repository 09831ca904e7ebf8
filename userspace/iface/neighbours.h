/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Next hops that only the driver uses (return-path: fib).
 *
 *      REACHABLE ──some 30 s──► STALE ──a packet──► DELAY ──5 s──► PROBE ──no reply──► FAILED
 *          ▲                                                         │
 *          └────────────────────────── a reply ──────────────────────┘
 *
 * bpf_fib_lookup() uses the address of a neighbour in any state except FAILED, but the kernel does
 * not count it as a packet to that neighbour. So the neighbour would stay STALE for ever, with an
 * address that another host may have by now. neighbours_use() tells the kernel that the neighbour
 * is in use (NTF_USE of rtnetlink), and the kernel probes it as for its own packets. When the
 * neighbour has FAILED, the program passes queries, and the kernel's answer finds the new address.
 */
#ifndef VOLLEY_IFACE_NEIGHBOURS_H
#define VOLLEY_IFACE_NEIGHBOURS_H

#include <stdint.h>

/*
 * Tells the kernel that the stale neighbours of the interface whose flag in `used` is set are in
 * use. `used` has VOLLEY_HOPS flags, indexed by volley_hop(); all are cleared. Sends nothing if
 * none is set. Returns the number of neighbours, or -errno. Control's thread; two netlink
 * questions, and a request to the broker for each neighbour.
 */
int neighbours_use(const char *ifname, unsigned int ifindex, uint8_t *used)
	__attribute__((warn_unused_result));

#endif
