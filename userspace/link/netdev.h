/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions about an interface to generic netlink's family "netdev", since Linux 6.3. The numbers
 * are those of linux/netdev.h; the installed header may be older. Any thread.
 */
#ifndef VOLLEY_LINK_NETDEV_H
#define VOLLEY_LINK_NETDEV_H

#include <stdbool.h>

#include "link/netlink.h"

enum netdev_command {
	NETDEV_DEV_GET = 1,
	NETDEV_QUEUE_GET = 10, /* 6.8 */
	NETDEV_NAPI_GET = 11,  /* 6.8 */
};

enum netdev_attr {
	NETDEV_DEV_IFINDEX = 1,
	NETDEV_DEV_XDP_FEATURES = 3,
	NETDEV_QUEUE_IFINDEX = 2,
	NETDEV_QUEUE_TYPE = 3, /* 0: it receives; 1: it sends */
	NETDEV_NAPI_IFINDEX = 1,
	NETDEV_NAPI_PID = 4,
	NETDEV_NAPI_DEFER = 5,         /* 6.13 */
	NETDEV_NAPI_FLUSH_TIMEOUT = 6, /* 6.13 */
};

/*
 * Asks about an interface: one message for NETDEV_DEV_GET, a dump for the others. `take` as in
 * netlink_ask(); the attributes follow after GENL_HDRLEN octets. 0, -ENOENT (the kernel has no such
 * family), -EOPNOTSUPP (it lacks the command), or -errno.
 */
int netdev_ask(enum netdev_command command, unsigned int ifindex, mnl_cb_t take, void *user)
	__attribute__((warn_unused_result));

/* Features of native XDP: bits of NETDEV_DEV_XDP_FEATURES. */
#define NETDEV_XDP_BASIC    (1 << 0)
#define NETDEV_XDP_REDIRECT (1 << 1)
#define NETDEV_XDP_ZEROCOPY (1 << 3)
#define NETDEV_XDP_RX_SG    (1 << 5) /* frames in several buffers */

/* These bits and others. 0, or as netdev_ask(), and then *features has all bits. */
int netdev_xdp_features(unsigned int ifindex, uint64_t *features);

/* The same from a message of NETDEV_DEV_GET; 0 if it has none. */
uint64_t netdev_parse_xdp_features(const struct nlmsghdr *message);

/* The number of transmit queues in use; 0: not known. */
uint32_t netdev_count_tx_queues(unsigned int ifindex);

/* True if a message of NETDEV_QUEUE_GET describes a transmit queue of that interface. */
bool netdev_is_tx_queue(const struct nlmsghdr *message, unsigned int ifindex);

#endif
