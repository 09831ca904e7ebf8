/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network link, as the kernel reports it by rtnetlink and ethtool: the one reader of these
 * reports. It asks in the caller's network namespace, unless the caller names another one (/sys may
 * show a third one).
 *
 *      link_read()   by name: rtnetlink, and the driver's name and queues by ethtool and netdev.h
 *      link_find()   by name: rtnetlink alone
 *      link_at()     by number: rtnetlink alone
 *
 * All functions are for any thread.
 *
 * Transmit queues: an AF_XDP socket of queue N sends by transmit queue N. If there is no such
 * transmit queue, the kernel takes no frame from the socket and reports no error: sendto() returns
 * 0 (net/xdp/xsk.c, __xsk_generic_xmit(): queue_id >= real_num_tx_queues). virtio_net with an XDP
 * program is an example: it hides one transmit queue for each possible CPU from the kernel, but
 * receives on their pairs (drivers/net/virtio_net.c, virtnet_xdp_set()). Sources of their number:
 *
 *      netdev.h    queue-get, Linux 6.8; only of a link that is up
 *      sysfs.h     /sys/class/net/NAME/queues/tx-*, where /sys is of this network namespace
 *      ethtool.h   channels, where transmit queues have a number of their own (veth)
 *
 * IFLA_NUM_TX_QUEUES and combined channels do not help: they count possible queues.
 */
#ifndef VOLLEY_LINK_LINK_H
#define VOLLEY_LINK_LINK_H

#include <linux/netlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The largest MTU whose frames, with two VLAN tags, fit one buffer of a network driver: a page less
 * XDP_PACKET_HEADROOM and skb_shared_info.
 */
#define LINK_MTU_ONE_BUFFER (4096u - 256u - 320u - 14u - 8u)

#define LINK_KIND_CAP   24
#define LINK_DRIVER_CAP 32

struct link {
	unsigned int ifindex;
	char kind[LINK_KIND_CAP]; /* "vlan", "bond", "veth" ...; "": a card, or not known */
	/* of a VLAN or macvlan the link below, of a veth the other end; 0: none in this
	 * namespace */
	unsigned int parent;
	unsigned int far_parent; /* the same in another network namespace; 0: none */
	uint32_t far_netnsid;    /* the kernel's number of that namespace */
	unsigned int master;     /* the bond or bridge that it is a member of; 0: none */
	char master_kind[LINK_KIND_CAP];
	bool is_up;       /* administratively: IFF_UP */
	bool has_carrier; /* IFF_RUNNING */
	bool is_ethernet; /* frames begin with an Ethernet header */
	uint8_t mac[6];   /* zeros: it has none */
	uint32_t mtu;
	bool has_native_xdp; /* a program that the driver runs */

	/* link_read() alone fills these. */
	uint32_t n_queues;     /* receive queues in use; 1 if the driver does not say */
	uint32_t n_queues_max; /* the most that ethtool -L can set; 0: the driver does not say */
	uint32_t n_tx_queues;  /* transmit queues in use; 0: not known */
	char driver[LINK_DRIVER_CAP]; /* by ethtool; "": not known */
};

/*
 * 0, -ENODEV (no such interface), -EAGAIN (the kernel is slow), or -errno; after an error *link has
 * zeros. netnsid NULL: the caller's namespace.
 */
int link_read(struct link *link, const char *ifname) __attribute__((warn_unused_result));
int link_find(struct link *link, const char *ifname) __attribute__((warn_unused_result));
int link_at(struct link *link, unsigned int ifindex, const uint32_t *netnsid)
	__attribute__((warn_unused_result));

/*
 * Fills *link from an RTM_NEWLINK message. Fields that the message does not have are 0. -EBADMSG:
 * another message, or one that ends too early.
 */
int link_parse(struct link *link, const struct nlmsghdr *message)
	__attribute__((warn_unused_result));

/*
 * Begins a question RTM_GETLINK for netlink_ask(), in NETLINK_QUESTION_CAP bytes at buf. For a dump
 * the caller sets NLM_F_DUMP and adds filters.
 */
struct nlmsghdr *link_begin(void *buf, unsigned int ifindex);

/*
 * The MAC address of frames for this host: on a bridge's port, that of the bridge. Zeros: unknown.
 */
void link_host_mac(const struct link *link, uint8_t mac[6]);

/* True if the kind of the link is `kind`. */
bool link_is(const struct link *link, const char *kind);

/* The number of frames that an interface has received. 0 or -errno. */
int link_count_rx(unsigned int ifindex, uint64_t *n_rx) __attribute__((warn_unused_result));

#endif
