/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/linkinfo.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/genl.h"

/* Of Linux 6.3's linux/netdev.h; the installed one may be older. */
#define NETDEV_FAMILY             "netdev"
#define NETDEV_CMD_DEV_GET        1
#define NETDEV_A_DEV_IFINDEX      1
#define NETDEV_A_DEV_XDP_FEATURES 3

#define ANSWER_CAP 16384

struct question {
	struct nlmsghdr head;
	struct ifinfomsg info;
	struct rtattr name_head;
	char name[IFNAMSIZ];
	struct rtattr mask_head;
	uint32_t mask;
};

bool linkinfo_is(const struct linkinfo *info, const char *kind)
{
	return !strcmp(info->kind, kind);
}

/* --- What a message says ------------------------------------------------------------------------- */

static uint32_t take_number(const struct rtattr *attr)
{
	uint32_t n = 0;

	if (RTA_PAYLOAD(attr) >= sizeof(n))
		memcpy(&n, RTA_DATA(attr), sizeof(n));
	return n;
}

static void take_kind(char kind[LINKINFO_KIND_CAP], const struct rtattr *attr)
{
	snprintf(kind, LINKINFO_KIND_CAP, "%.*s", (int)RTA_PAYLOAD(attr),
		 (const char *)RTA_DATA(attr));
}

static void take_kinds(struct linkinfo *info, const struct rtattr *nest)
{
	size_t left = RTA_PAYLOAD(nest);
	const struct rtattr *attr;

	for (attr = RTA_DATA(nest); RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		if (attr->rta_type == IFLA_INFO_KIND)
			take_kind(info->kind, attr);
		else if (attr->rta_type == IFLA_INFO_SLAVE_KIND)
			take_kind(info->master_kind, attr);
	}
}

static void take(struct linkinfo *info, const struct rtattr *attr)
{
	switch (attr->rta_type & NLA_TYPE_MASK) {
	case IFLA_LINKINFO:
		take_kinds(info, attr);
		break;
	case IFLA_LINK:
		info->parent = take_number(attr);
		break;
	case IFLA_MASTER:
		info->master = take_number(attr);
		break;
	case IFLA_MTU:
		info->mtu = take_number(attr);
		break;
	case IFLA_ADDRESS:
		if (RTA_PAYLOAD(attr) == sizeof(info->mac))
			memcpy(info->mac, RTA_DATA(attr), sizeof(info->mac));
		break;
	default:
		break;
	}
}

int linkinfo_parse(struct linkinfo *info, const struct nlmsghdr *message)
{
	const struct ifinfomsg *head = NLMSG_DATA(message);
	const struct rtattr *attr;
	size_t left;

	*info = (struct linkinfo){ .n_queues = 1, .n_queues_max = 1 };
	if (message->nlmsg_type != RTM_NEWLINK || message->nlmsg_len < NLMSG_LENGTH(sizeof(*head)))
		return -EBADMSG;
	info->ifindex = (unsigned int)head->ifi_index;
	info->is_up = head->ifi_flags & IFF_UP;
	info->is_ethernet = head->ifi_type == ARPHRD_ETHER || head->ifi_type == ARPHRD_LOOPBACK;
	left = message->nlmsg_len - NLMSG_LENGTH(sizeof(*head));
	for (attr = IFLA_RTA(head); RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		take(info, attr);
	return 0;
}

/* --- Questions ----------------------------------------------------------------------------------- */

/* By name, or by number where that is not 0; the answer is in `answer`. */
static int ask(const char *ifname, unsigned int ifindex, void *answer, size_t answer_cap)
{
	struct question q = {
		.head = { .nlmsg_len = sizeof(q),
			  .nlmsg_type = RTM_GETLINK,
			  .nlmsg_flags = NLM_F_REQUEST },
		.info = { .ifi_index = (int)ifindex },
		.name_head = { RTA_LENGTH(sizeof(q.name)), ifname ? IFLA_IFNAME : IFLA_UNSPEC },
		.mask_head = { RTA_LENGTH(sizeof(q.mask)), IFLA_EXT_MASK },
		.mask = RTEXT_FILTER_SKIP_STATS,
	};
	const struct nlmsghdr *head = answer;
	ssize_t n;
	int err = 0, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	snprintf(q.name, sizeof(q.name), "%s", ifname ? ifname : "");
	n = send(fd, &q, sizeof(q), 0);
	if (n >= 0)
		n = recv(fd, answer, answer_cap, 0);
	if (n < 0)
		err = -errno;
	else if (!NLMSG_OK(head, (size_t)n))
		err = -EBADMSG;
	else if (head->nlmsg_type == NLMSG_ERROR)
		err = ((const struct nlmsgerr *)NLMSG_DATA(head))->error;
	close(fd);
	return err;
}

/* Receive queues: combined and receive-only channels. */
static void count_queues(struct linkinfo *info, const char *ifname)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq ifr = { .ifr_data = (void *)&channels };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	if (!ioctl(fd, SIOCETHTOOL, &ifr)) {
		info->n_queues = channels.combined_count + channels.rx_count;
		info->n_queues_max = channels.max_combined ? channels.max_combined :
							     channels.max_rx;
	}
	close(fd);
	if (!info->n_queues)
		info->n_queues = 1;
	if (info->n_queues_max < info->n_queues)
		info->n_queues_max = info->n_queues;
}

int linkinfo_read(struct linkinfo *info, const char *ifname)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER_CAP];
	int err = ask(ifname, 0, answer, sizeof(answer));

	*info = (struct linkinfo){ 0 };
	if (!err)
		err = linkinfo_parse(info, (const void *)answer);
	if (!err)
		count_queues(info, ifname);
	return err;
}

void linkinfo_host_mac(const struct linkinfo *info, uint8_t mac[6])
{
	_Alignas(struct nlmsghdr) char answer[ANSWER_CAP];
	struct linkinfo master = { 0 };

	memcpy(mac, info->mac, sizeof(info->mac));
	if (!info->master || strcmp(info->master_kind, "bridge"))
		return;
	if (!ask(NULL, info->master, answer, sizeof(answer)) &&
	    !linkinfo_parse(&master, (const void *)answer))
		memcpy(mac, master.mac, sizeof(master.mac));
}

static int ask_features(int fd, unsigned int ifindex, uint64_t *features)
{
	_Alignas(struct nlmsghdr) char answer[GENL_ANSWER_CAP];
	const struct rtattr *attr;
	struct genl_family family;
	int err = genl_find(fd, NETDEV_FAMILY, "", &family);

	if (!err)
		err = genl_ask_u32(fd, family.id, NETDEV_CMD_DEV_GET, NETDEV_A_DEV_IFINDEX, ifindex,
				   answer);
	if (err)
		return err;
	attr = genl_attr((const void *)answer, NETDEV_A_DEV_XDP_FEATURES);
	if (!attr || RTA_PAYLOAD(attr) < sizeof(*features))
		return -EBADMSG;
	memcpy(features, RTA_DATA(attr), sizeof(*features));
	return 0;
}

uint64_t linkinfo_xdp_features(unsigned int ifindex)
{
	uint64_t features = UINT64_MAX;
	int fd = genl_open();

	if (fd < 0)
		return features;
	if (ask_features(fd, ifindex, &features))
		features = UINT64_MAX;
	close(fd);
	return features;
}
