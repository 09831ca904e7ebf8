/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/linkinfo.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "iface/genl.h"
#include "iface/txqueues.h"

/* From Linux 6.3's linux/netdev.h; the installed header may be older. */
#define NETDEV_FAMILY             "netdev"
#define NETDEV_CMD_DEV_GET        1
#define NETDEV_A_DEV_IFINDEX      1
#define NETDEV_A_DEV_XDP_FEATURES 3

bool linkinfo_is(const struct linkinfo *info, const char *kind)
{
	return !strcmp(info->kind, kind);
}

/* --- What a message says ---------------------------------------------------------------------- */

static int take_linkinfo_kind(const struct nlattr *attr, void *user)
{
	struct linkinfo *info = user;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
		genl_text(attr, info->kind, sizeof(info->kind));
	else if (mnl_attr_get_type(attr) == IFLA_INFO_SLAVE_KIND)
		genl_text(attr, info->master_kind, sizeof(info->master_kind));
	return MNL_CB_OK;
}

static int take_linkinfo(const struct nlattr *attr, void *user)
{
	struct linkinfo *info = user;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(attr, take_linkinfo_kind, info);
		break;
	case IFLA_LINK:
		info->parent = (uint32_t)genl_number(attr);
		break;
	case IFLA_MASTER:
		info->master = (uint32_t)genl_number(attr);
		break;
	case IFLA_MTU:
		info->mtu = (uint32_t)genl_number(attr);
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == sizeof(info->mac))
			memcpy(info->mac, mnl_attr_get_payload(attr), sizeof(info->mac));
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

int linkinfo_parse(struct linkinfo *info, const struct nlmsghdr *message)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);

	*info = (struct linkinfo){ .n_queues = 1, .n_queues_max = 1 };
	if (message->nlmsg_type != RTM_NEWLINK ||
	    message->nlmsg_len < mnl_nlmsg_size(sizeof(*head)))
		return -EBADMSG;
	info->ifindex = (unsigned int)head->ifi_index;
	info->is_up = head->ifi_flags & IFF_UP;
	info->has_carrier = head->ifi_flags & IFF_RUNNING;
	info->is_ethernet = head->ifi_type == ARPHRD_ETHER || head->ifi_type == ARPHRD_LOOPBACK;
	mnl_attr_parse(message, sizeof(*head), take_linkinfo, info);
	return 0;
}

/* --- Questions -------------------------------------------------------------------------------- */

static int take_linkinfo_link(const struct nlmsghdr *message, void *user)
{
	int err = linkinfo_parse(user, message);

	errno = -err;
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

/* Asks by number, or by name if the number is 0. */
static int ask_linkinfo(struct linkinfo *info, const char *ifname, unsigned int ifindex)
{
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));

	question->nlmsg_type = RTM_GETLINK;
	head->ifi_index = (int)ifindex;
	mnl_attr_put_u32(question, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (ifname && !mnl_attr_put_strz_check(question, sizeof(buf), IFLA_IFNAME, ifname))
		return -ENODEV;
	return genl_ask(NETLINK_ROUTE, question, take_linkinfo_link, info);
}

/* Runs the ethtool command at `call` for the interface. */
static int ask_ethtool(const char *ifname, void *call)
{
	struct ifreq ifr = { .ifr_data = call };
	int err, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	err = ioctl(fd, SIOCETHTOOL, &ifr) ? -errno : 0;
	close(fd);
	return err;
}

/* Receive queues are combined and receive-only channels. */
static void count_queues(struct linkinfo *info, const char *ifname)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };

	if (!ask_ethtool(ifname, &channels)) {
		info->n_queues = channels.combined_count + channels.rx_count;
		info->n_queues_max = channels.max_combined ? channels.max_combined :
							     channels.max_rx;
	}
	if (!info->n_queues)
		info->n_queues = 1;
	if (info->n_queues_max < info->n_queues)
		info->n_queues_max = info->n_queues;
	info->n_tx_queues = txqueues_count(ifname, info->ifindex);
	if (!info->n_tx_queues && channels.tx_count)
		info->n_tx_queues = channels.combined_count + channels.tx_count;
}

static void read_driver(struct linkinfo *info, const char *ifname)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };

	if (!ask_ethtool(ifname, &driver))
		snprintf(info->driver, sizeof(info->driver), "%s", driver.driver);
}

int linkinfo_read(struct linkinfo *info, const char *ifname)
{
	int err;

	*info = (struct linkinfo){ 0 };
	err = ask_linkinfo(info, ifname, 0);
	if (err)
		return err;
	count_queues(info, ifname);
	read_driver(info, ifname);
	return 0;
}

int linkinfo_index(const char *ifname, unsigned int *ifindex)
{
	struct linkinfo info = { 0 };
	int err = ask_linkinfo(&info, ifname, 0);

	*ifindex = info.ifindex;
	return err;
}

void linkinfo_host_mac(const struct linkinfo *info, uint8_t mac[6])
{
	struct linkinfo master = { 0 };

	memcpy(mac, info->mac, sizeof(info->mac));
	if (!info->master || strcmp(info->master_kind, "bridge"))
		return;
	if (!ask_linkinfo(&master, NULL, info->master))
		memcpy(mac, master.mac, sizeof(master.mac));
}

static int take_linkinfo_features_attr(const struct nlattr *attr, void *user)
{
	if (mnl_attr_get_type(attr) == NETDEV_A_DEV_XDP_FEATURES)
		*(uint64_t *)user = genl_number(attr);
	return MNL_CB_OK;
}

static int take_linkinfo_features(const struct nlmsghdr *message, void *user)
{
	return mnl_attr_parse(message, GENL_HDRLEN, take_linkinfo_features_attr, user);
}

uint64_t linkinfo_xdp_features(unsigned int ifindex)
{
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	uint64_t features = UINT64_MAX;
	struct genl_family family;
	struct nlmsghdr *question;

	if (genl_find(NETDEV_FAMILY, "", &family))
		return UINT64_MAX;
	question = genl_begin(buf, family.id, NETDEV_CMD_DEV_GET);
	mnl_attr_put_u32(question, NETDEV_A_DEV_IFINDEX, ifindex);
	if (genl_ask(NETLINK_GENERIC, question, take_linkinfo_features, &features))
		return UINT64_MAX;
	return features;
}
