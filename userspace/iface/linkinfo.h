/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of an interface: one rtnetlink question and one of ethtool, both asked in
 * the network namespace that volleyd is in (which /sys need not be).
 */
#ifndef VOLLEY_IFACE_LINKINFO_H
#define VOLLEY_IFACE_LINKINFO_H

#include <linux/netlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define LINKINFO_KIND_CAP   24
#define LINKINFO_DRIVER_CAP 32

struct linkinfo {
	unsigned int ifindex;
	char kind[LINKINFO_KIND_CAP]; /* "vlan", "bond", "veth" ...; "": a card, or what says nothing */
	unsigned int parent;          /* of a VLAN or macvlan: what it stands on; 0: nothing here */
	unsigned int master;          /* of a member: the bond or bridge; 0: none */
	char master_kind[LINKINFO_KIND_CAP];
	bool is_up;       /* administratively: IFF_UP */
	bool has_carrier; /* IFF_RUNNING */
	bool is_ethernet; /* frames begin with an Ethernet header */
	uint8_t mac[6];   /* zeros: it has none */
	uint32_t mtu;
	uint32_t n_queues;     /* receive queues in use; 1 where the driver does not say */
	uint32_t n_queues_max; /* as many could be, by ethtool -L */
	uint32_t n_tx_queues;  /* transmit queues in use (iface/txqueues.h); 0: not known */
	char driver[LINKINFO_DRIVER_CAP]; /* of ethtool; "": it does not say */
};

/* 0, -ENODEV (no such interface), or -errno. Any thread. */
int linkinfo_read(struct linkinfo *info, const char *ifname) __attribute__((warn_unused_result));

/*
 * The number of an interface, as if_nametoindex(3), which does not say why there is none. 0,
 * -ENODEV (no such interface), or -errno. Any thread.
 */
int linkinfo_index(const char *ifname, unsigned int *ifindex) __attribute__((warn_unused_result));

/*
 * All of it but the queues, from an RTM_NEWLINK message; what it does not say is 0. -EBADMSG: it is
 * no such message, or ends too early.
 */
int linkinfo_parse(struct linkinfo *info, const struct nlmsghdr *message)
	__attribute__((warn_unused_result));

/*
 * The MAC address of the frames that are for this host: a bridge's port brings those of the bridge.
 * All zero: not known.
 */
void linkinfo_host_mac(const struct linkinfo *info, uint8_t mac[6]);

/* What a driver's native XDP can do: bits of NETDEV_A_DEV_XDP_FEATURES of Linux 6.3's
 * linux/netdev.h. */
#define LINKINFO_XDP_BASIC    (1u << 0)
#define LINKINFO_XDP_REDIRECT (1u << 1)
#define LINKINFO_XDP_ZEROCOPY (1u << 3)
#define LINKINFO_XDP_RX_SG    (1u << 5) /* frames in several buffers */

/* Those bits, and others. All that there are where the kernel does not say (before 6.3). Any
 * thread. */
uint64_t linkinfo_xdp_features(unsigned int ifindex);

/* Whether the kind is `kind`. */
bool linkinfo_is(const struct linkinfo *info, const char *kind);

#endif
