/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One neighbour of an interface: the host to which packets for an address are sent next. */
#ifndef VOLLEY_LINK_NEIGHBOUR_H
#define VOLLEY_LINK_NEIGHBOUR_H

#include <stdint.h>

/*
 * Tells the kernel that a neighbour that it knows is in use (NTF_USE of rtnetlink), so that the
 * kernel probes it as for its own packets. `address` has 4 or 16 octets, by the family. Needs
 * CAP_NET_ADMIN. 0; -ENOENT: the kernel does not know the neighbour any more; or -errno. Any
 * thread; one netlink question.
 */
int neighbour_use(unsigned int ifindex, uint8_t family, const uint8_t *address)
	__attribute__((warn_unused_result));

#endif
