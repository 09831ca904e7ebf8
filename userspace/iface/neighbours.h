/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Next hops that only the driver uses (return-path: fib).
 *
 *      REACHABLE ──some 30 s──► STALE ──a packet──► DELAY ──5 s──► PROBE ──no reply──► FAILED
 *          ▲                                                         │
 *          └────────────────────────── a reply ──────────────────────┘
 *
 * bpf_fib_lookup() takes the address of a neighbour in any state but the last, and is no packet to
 * the kernel: so a neighbour would stay STALE for ever, with an address that may be another host's
 * by now. Here the kernel is told that such a neighbour is in use (NTF_USE of rtnetlink), and does
 * what it does for its own packets. When the neighbour has FAILED, the program passes queries, and
 * the kernel's answer finds the new address.
 */
#ifndef VOLLEY_IFACE_NEIGHBOURS_H
#define VOLLEY_IFACE_NEIGHBOURS_H

#include <stdint.h>

/*
 * Tells the kernel that the neighbours of the interface that are stale, and whose flag in `used`
 * (VOLLEY_HOPS of them, by volley_hop()) is set, are in use. All flags are cleared. Nothing is
 * asked where none is set. Returns how many were told, or -errno. Control's thread; two questions
 * by netlink and one for each neighbour.
 */
int neighbours_use(unsigned int ifindex, uint8_t *used) __attribute__((warn_unused_result));

#endif
