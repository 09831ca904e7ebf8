/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many transmit queues an interface has in use.
 *
 * An AF_XDP socket of queue N sends by transmit queue N. Where there are fewer transmit than
 * receive queues, the kernel takes no frame from the sockets of the others, and says nothing:
 * sendto() returns 0 (net/xdp/xsk.c, __xsk_generic_xmit(): queue_id >= real_num_tx_queues).
 * virtio_net is such a case while an XDP program is there: it keeps a transmit queue for each
 * possible CPU out of the kernel's sight, and receives on their pairs as well
 * (drivers/net/virtio_net.c, virtnet_xdp_set()).
 *
 *      netlink   family netdev, queue-get, Linux 6.8; only of a link that is up
 *      sysfs     /sys/class/net/NAME/queues/tx-*, where /sys is of this network namespace
 *      ethtool   channels, where transmit queues have a number of their own (veth)
 *
 * IFLA_NUM_TX_QUEUES and combined channels do not tell: they count what there could be.
 */
#ifndef VOLLEY_IFACE_TXQUEUES_H
#define VOLLEY_IFACE_TXQUEUES_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

#define TXQUEUES_SYSFS "/sys/class/net"

/* By netlink, else by sysfs. 0: neither tells. Any thread. */
uint32_t txqueues_count(const char *ifname, unsigned int ifindex);

/* The same of a folder such as /sys/class/net; 0 where its NAME is not the interface of that
 * index. */
uint32_t txqueues_count_sysfs(const char *folder, const char *ifname, unsigned int ifindex);

/* Whether a message of netlink's queue-get is of a transmit queue of that interface. */
bool txqueues_is_transmit(const struct nlmsghdr *message, unsigned int ifindex);

#endif
