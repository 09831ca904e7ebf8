/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of transmit queues that an interface uses.
 *
 * An AF_XDP socket of queue N sends by transmit queue N. If there is no such transmit queue, the
 * kernel takes no frame from the socket and reports no error: sendto() returns 0 (net/xdp/xsk.c,
 * __xsk_generic_xmit(): queue_id >= real_num_tx_queues). virtio_net with an XDP program is an
 * example: it hides one transmit queue for each possible CPU from the kernel, but receives on their
 * pairs (drivers/net/virtio_net.c, virtnet_xdp_set()).
 *
 *      netlink   family netdev, queue-get, Linux 6.8; only of a link that is up
 *      sysfs     /sys/class/net/NAME/queues/tx-*, where /sys is of this network namespace
 *      ethtool   channels, where transmit queues have a number of their own (veth)
 *
 * IFLA_NUM_TX_QUEUES and combined channels do not help: they count possible queues.
 */
#ifndef VOLLEY_LINK_TXQUEUES_H
#define VOLLEY_LINK_TXQUEUES_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

#define TXQUEUES_SYSFS "/sys/class/net"

/* Asks netlink, else sysfs. 0: not known. Any thread. */
uint32_t txqueues_count(const char *ifname, unsigned int ifindex);

/* Counts by sysfs in `folder` (TXQUEUES_SYSFS). 0 if `ifname` there has another index. */
uint32_t txqueues_count_sysfs(const char *folder, const char *ifname, unsigned int ifindex);

/* True if a message of netlink's queue-get describes a transmit queue of that interface. */
bool txqueues_is_transmit(const struct nlmsghdr *message, unsigned int ifindex);

#endif
