/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel reports of an interface: one question to rtnetlink and one to ethtool, both in
 * volleyd's network namespace (/sys may be of another one).
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
	char kind[LINKINFO_KIND_CAP]; /* "vlan", "bond", "veth" ...; "": a card, or not known */
	unsigned int parent;          /* of a VLAN or macvlan: the link below; 0: none here */
	unsigned int master;          /* the bond or bridge that it is a member of; 0: none */
	char master_kind[LINKINFO_KIND_CAP];
	bool is_up;       /* administratively: IFF_UP */
	bool has_carrier; /* IFF_RUNNING */
	bool is_ethernet; /* frames begin with an Ethernet header */
	uint8_t mac[6];   /* zeros: it has none */
	uint32_t mtu;
	uint32_t n_queues;     /* receive queues in use; 1 if the driver does not say */
	uint32_t n_queues_max; /* the most that ethtool -L can set */
	uint32_t n_tx_queues;  /* transmit queues in use (iface/txqueues.h); 0: not known */
	char driver[LINKINFO_DRIVER_CAP]; /* by ethtool; "": not known */
};

/* 0, -ENODEV (no such interface), or -errno. Any thread. */
int linkinfo_read(struct linkinfo *info, const char *ifname) __attribute__((warn_unused_result));

/*
 * The number of an interface, as by if_nametoindex(3), but with the reason for a failure. 0,
 * -ENODEV (no such interface), or -errno. Any thread.
 */
int linkinfo_index(const char *ifname, unsigned int *ifindex) __attribute__((warn_unused_result));

/*
 * Fills *info, except queues, from an RTM_NEWLINK message. Fields that the message does not have
 * are 0. -EBADMSG: another message, or one that ends too early.
 */
int linkinfo_parse(struct linkinfo *info, const struct nlmsghdr *message)
	__attribute__((warn_unused_result));

/*
 * The MAC address of frames for this host: on a bridge's port, that of the bridge. Zeros: unknown.
 */
void linkinfo_host_mac(const struct linkinfo *info, uint8_t mac[6]);

/* Features of native XDP: bits of NETDEV_A_DEV_XDP_FEATURES of Linux 6.3's linux/netdev.h. */
#define LINKINFO_XDP_BASIC    (1u << 0)
#define LINKINFO_XDP_REDIRECT (1u << 1)
#define LINKINFO_XDP_ZEROCOPY (1u << 3)
#define LINKINFO_XDP_RX_SG    (1u << 5) /* frames in several buffers */

/* These bits and others. All bits are set if the kernel does not say (before 6.3). Any thread. */
uint64_t linkinfo_xdp_features(unsigned int ifindex);

/* True if the kind of the link is `kind`. */
bool linkinfo_is(const struct linkinfo *info, const char *kind);

#endif
