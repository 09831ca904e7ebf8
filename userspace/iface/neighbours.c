/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/neighbours.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>

#include "broker/network.h"
#include "link/netlink.h"
#include "xdp/key.h"

#define MAC_BYTES     6
#define ADDRESS_BYTES 16
#define STALE_CAP     256 /* most of one look; the next look has the others */

struct neighbour {
	uint8_t family; /* AF_INET or AF_INET6 */
	uint8_t address[ADDRESS_BYTES];
};

struct look {
	unsigned int ifindex;
	uint8_t used[VOLLEY_HOPS];
	struct neighbour stale[STALE_CAP];
	unsigned int n;
};

/* Copies and clears the flags; the next packet to a hop sets its flag. False: none was set. */
static bool take_used(struct look *look, uint8_t *used)
{
	bool any = false;

	for (unsigned int i = 0; i < VOLLEY_HOPS; i++) {
		look->used[i] = __atomic_load_n(&used[i], __ATOMIC_RELAXED);
		if (look->used[i])
			__atomic_store_n(&used[i], 0, __ATOMIC_RELAXED);
		any |= look->used[i] != 0;
	}
	return any;
}

struct attrs {
	const struct nlattr *address;
	const struct nlattr *mac;
	bool has_more_flags; /* NTF_EXT_*: kept up to date by others */
};

static int take_neighbours_attr(const struct nlattr *attr, void *user)
{
	struct attrs *attrs = user;

	if (mnl_attr_get_type(attr) == NDA_DST)
		attrs->address = attr;
	else if (mnl_attr_get_type(attr) == NDA_LLADDR)
		attrs->mac = attr;
	else if (mnl_attr_get_type(attr) == NDA_FLAGS_EXT)
		attrs->has_more_flags = mnl_attr_get_u32(attr) != 0;
	return MNL_CB_OK;
}

static size_t address_bytes(uint8_t family)
{
	return family == AF_INET ? 4 : ADDRESS_BYTES;
}

/*
 * Skips neighbours that a routing daemon (NTF_EXT_LEARNED) or the kernel (NTF_EXT_MANAGED) keeps up
 * to date: NTF_USE would clear these flags.
 */
static int take_neighbour(const struct nlmsghdr *message, void *user)
{
	const struct ndmsg *head = mnl_nlmsg_get_payload(message);
	struct attrs attrs = { .address = NULL };
	struct look *look = user;
	struct neighbour *n;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*head) ||
	    head->ndm_ifindex != (int)look->ifindex || !(head->ndm_state & NUD_STALE) ||
	    (head->ndm_flags & NTF_EXT_LEARNED) || look->n == STALE_CAP)
		return MNL_CB_OK;
	mnl_attr_parse(message, sizeof(*head), take_neighbours_attr, &attrs);
	if (attrs.has_more_flags || !attrs.address ||
	    mnl_attr_get_payload_len(attrs.address) != address_bytes(head->ndm_family) ||
	    !attrs.mac || mnl_attr_get_payload_len(attrs.mac) != MAC_BYTES ||
	    !look->used[volley_hop(mnl_attr_get_payload(attrs.mac))])
		return MNL_CB_OK;
	n = &look->stale[look->n++];
	n->family = head->ndm_family;
	memcpy(n->address, mnl_attr_get_payload(attrs.address), address_bytes(n->family));
	return MNL_CB_OK;
}

/* Old kernels without filters send the neighbours of all interfaces. */
static int find_neighbours_stale(struct look *look, uint8_t family)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct ndmsg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));

	question->nlmsg_type = RTM_GETNEIGH;
	question->nlmsg_flags = NLM_F_DUMP;
	head->ndm_family = family;
	mnl_attr_put_u32(question, NDA_IFINDEX, look->ifindex);
	return netlink_ask(NETLINK_ROUTE, question, take_neighbour, look);
}

int neighbours_use(const char *ifname, unsigned int ifindex, uint8_t *used)
{
	struct look look = { .ifindex = ifindex };
	int err, n = 0;

	if (!take_used(&look, used))
		return 0;
	err = find_neighbours_stale(&look, AF_INET);
	if (!err)
		err = find_neighbours_stale(&look, AF_INET6);
	for (unsigned int i = 0; i < look.n; i++) {
		int one =
			network_use_neighbour(ifname, look.stale[i].family, look.stale[i].address);

		if (one && one != -ENOENT)
			err = one;
		n += !one;
	}
	return err ? err : n;
}
