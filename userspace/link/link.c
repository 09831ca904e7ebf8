/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "link/ethtool.h"
#include "link/netdev.h"
#include "link/netlink.h"
#include "link/sysfs.h"

bool link_is(const struct link *link, const char *kind)
{
	return !strcmp(link->kind, kind);
}

/* --- What a message says ---------------------------------------------------------------------- */

static int take_link_kind(const struct nlattr *attr, void *user)
{
	struct link *link = user;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
		netlink_text(attr, link->kind, sizeof(link->kind));
	else if (mnl_attr_get_type(attr) == IFLA_INFO_SLAVE_KIND)
		netlink_text(attr, link->master_kind, sizeof(link->master_kind));
	return MNL_CB_OK;
}

/* Only a program of the driver is native. */
static int take_link_xdp(const struct nlattr *attr, void *user)
{
	struct link *link = user;

	if (mnl_attr_get_type(attr) == IFLA_XDP_ATTACHED)
		link->has_native_xdp |= netlink_number(attr) == XDP_ATTACHED_DRV;
	else if (mnl_attr_get_type(attr) == IFLA_XDP_DRV_PROG_ID)
		link->has_native_xdp |= netlink_number(attr) != 0;
	return MNL_CB_OK;
}

struct parse {
	struct link *link;
	uint32_t parent;
	bool is_far;
};

static int take_link_attr(const struct nlattr *attr, void *user)
{
	struct parse *parse = user;
	struct link *link = parse->link;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(attr, take_link_kind, link);
		break;
	case IFLA_XDP:
		mnl_attr_parse_nested(attr, take_link_xdp, link);
		break;
	case IFLA_LINK:
		parse->parent = (uint32_t)netlink_number(attr);
		break;
	case IFLA_LINK_NETNSID:
		parse->is_far = true;
		link->far_netnsid = (uint32_t)netlink_number(attr);
		break;
	case IFLA_MASTER:
		link->master = (uint32_t)netlink_number(attr);
		break;
	case IFLA_MTU:
		link->mtu = (uint32_t)netlink_number(attr);
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == sizeof(link->mac))
			memcpy(link->mac, mnl_attr_get_payload(attr), sizeof(link->mac));
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

int link_parse(struct link *link, const struct nlmsghdr *message)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
	struct parse parse = { .link = link };

	*link = (struct link){ 0 };
	if (message->nlmsg_type != RTM_NEWLINK ||
	    message->nlmsg_len < mnl_nlmsg_size(sizeof(*head)))
		return -EBADMSG;
	link->ifindex = (unsigned int)head->ifi_index;
	link->is_up = head->ifi_flags & IFF_UP;
	link->has_carrier = head->ifi_flags & IFF_RUNNING;
	link->is_ethernet = head->ifi_type == ARPHRD_ETHER || head->ifi_type == ARPHRD_LOOPBACK;
	mnl_attr_parse(message, sizeof(*head), take_link_attr, &parse);
	*(parse.is_far ? &link->far_parent : &link->parent) = parse.parent;
	return 0;
}

/* --- Questions -------------------------------------------------------------------------------- */

struct nlmsghdr *link_begin(void *buf, unsigned int ifindex)
{
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));

	question->nlmsg_type = RTM_GETLINK;
	head->ifi_index = (int)ifindex;
	mnl_attr_put_u32(question, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return question;
}

static int take_link(const struct nlmsghdr *message, void *user)
{
	int err = link_parse(user, message);

	errno = -err;
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

static int ask_link(struct link *link, struct nlmsghdr *question)
{
	int err;

	*link = (struct link){ 0 };
	err = netlink_ask(NETLINK_ROUTE, question, take_link, link);
	return err || link->ifindex ? err : -ENODEV;
}

int link_find(struct link *link, const char *ifname)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = link_begin(buf, 0);

	*link = (struct link){ 0 };
	if (strlen(ifname) >= IF_NAMESIZE)
		return -ENODEV;
	mnl_attr_put_strz(question, IFLA_IFNAME, ifname);
	return ask_link(link, question);
}

int link_at(struct link *link, unsigned int ifindex, const uint32_t *netnsid)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = link_begin(buf, ifindex);

	if (netnsid)
		mnl_attr_put_u32(question, IFLA_TARGET_NETNSID, *netnsid);
	return ask_link(link, question);
}

/* The best source first. */
static uint32_t count_tx_queues(const struct link *link, const char *ifname, uint32_t n_by_ethtool)
{
	uint32_t n = netdev_count_tx_queues(link->ifindex);

	if (!n)
		n = sysfs_count_tx_queues(SYSFS_NET, ifname, link->ifindex);
	return n ? n : n_by_ethtool;
}

static void read_queues(struct link *link, const char *ifname)
{
	struct ethtool_queues queues;

	ethtool_count_queues(ifname, &queues);
	link->n_queues = queues.n_rx;
	link->n_queues_max = queues.n_rx_max;
	link->n_tx_queues = count_tx_queues(link, ifname, queues.n_tx);
}

static void read_driver(struct link *link, const char *ifname)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };

	if (!ethtool_ask(ifname, &driver))
		snprintf(link->driver, sizeof(link->driver), "%s", driver.driver);
}

int link_read(struct link *link, const char *ifname)
{
	int err = link_find(link, ifname);

	if (err)
		return err;
	read_queues(link, ifname);
	read_driver(link, ifname);
	return 0;
}

void link_host_mac(const struct link *link, uint8_t mac[6])
{
	struct link master;

	memcpy(mac, link->mac, sizeof(link->mac));
	if (!link->master || strcmp(link->master_kind, "bridge"))
		return;
	if (!link_at(&master, link->master, NULL))
		memcpy(mac, master.mac, sizeof(master.mac));
}

/* --- Frames ----------------------------------------------------------------------------------- */

static int take_stats_attr(const struct nlattr *attr, void *user)
{
	struct rtnl_link_stats64 stats = { 0 };
	const size_t n = mnl_attr_get_payload_len(attr);

	if (mnl_attr_get_type(attr) != IFLA_STATS_LINK_64)
		return MNL_CB_OK;
	memcpy(&stats, mnl_attr_get_payload(attr), n < sizeof(stats) ? n : sizeof(stats));
	*(uint64_t *)user = stats.rx_packets;
	return MNL_CB_OK;
}

static int take_stats(const struct nlmsghdr *message, void *user)
{
	return mnl_attr_parse(message, sizeof(struct if_stats_msg), take_stats_attr, user);
}

int link_count_rx(unsigned int ifindex, uint64_t *n_rx)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct if_stats_msg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));

	question->nlmsg_type = RTM_GETSTATS;
	head->ifindex = ifindex;
	head->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	return netlink_ask(NETLINK_ROUTE, question, take_stats, n_rx);
}
