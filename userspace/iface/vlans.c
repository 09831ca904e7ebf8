/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/vlans.h"

#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "iface/genl.h"

struct search {
	const struct linkinfo *link;
	unsigned int found; /* index of a matching VLAN; 0: none yet */
	bool is_taken_out;  /* a member strips tags */
};

/* Begins a dump of links; the caller adds the filters. */
static struct nlmsghdr *begin_dump(void *buf)
{
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);

	mnl_nlmsg_put_extra_header(question, sizeof(struct ifinfomsg));
	question->nlmsg_type = RTM_GETLINK;
	question->nlmsg_flags = NLM_F_DUMP;
	mnl_attr_put_u32(question, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return question;
}

/* --- VLANs ------------------------------------------------------------------------------------ */

static int take_elsewhere(const struct nlattr *attr, void *user)
{
	if (mnl_attr_get_type(attr) == IFLA_LINK_NETNSID)
		*(bool *)user = true;
	return MNL_CB_OK;
}

bool vlans_is_on(const struct linkinfo *link, const struct nlmsghdr *message)
{
	bool is_elsewhere = false; /* `parent` is an index of another namespace */
	struct linkinfo vlan;

	if (linkinfo_parse(&vlan, message) || !linkinfo_is(&vlan, "vlan") || !vlan.parent)
		return false;
	mnl_attr_parse(message, sizeof(struct ifinfomsg), take_elsewhere, &is_elsewhere);
	return !is_elsewhere && (vlan.parent == link->ifindex || vlan.parent == link->master);
}

static int take_vlan(const struct nlmsghdr *message, void *user)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
	struct search *search = user;

	if (!search->found && vlans_is_on(search->link, message))
		search->found = (unsigned int)head->ifi_index;
	return MNL_CB_OK;
}

bool vlans_find(const struct linkinfo *link, char name[IF_NAMESIZE])
{
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	struct nlmsghdr *question = begin_dump(buf);
	struct search search = { .link = link };
	struct nlattr *nest = mnl_attr_nest_start(question, IFLA_LINKINFO);

	mnl_attr_put_strz(question, IFLA_INFO_KIND, "vlan");
	mnl_attr_nest_end(question, nest);
	if (genl_ask(NETLINK_ROUTE, question, take_vlan, &search) || !search.found)
		return false;
	if (!if_indextoname(search.found, name))
		snprintf(name, IF_NAMESIZE, "a VLAN");
	return true;
}

/* --- Offload ---------------------------------------------------------------------------------- */

static bool is_offloaded(const char *ifname)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq ifr = { .ifr_data = (void *)&flags };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is;

	if (fd < 0)
		return false;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	is = !ioctl(fd, SIOCETHTOOL, &ifr) && flags.data & ETH_FLAG_RXVLAN;
	close(fd);
	return is;
}

static int take_vlans_member(const struct nlmsghdr *message, void *user)
{
	struct search *search = user;
	struct linkinfo member;
	char name[IF_NAMESIZE];

	if (!search->is_taken_out && !linkinfo_parse(&member, message) &&
	    member.master == search->link->ifindex && if_indextoname(member.ifindex, name))
		search->is_taken_out = is_offloaded(name);
	return MNL_CB_OK;
}

bool vlans_are_taken_out(const struct linkinfo *link, const char *ifname)
{
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	struct search search = { .link = link };
	struct nlmsghdr *question;

	if (linkinfo_is(link, "veth"))
		return false;
	if (!linkinfo_is(link, "bond"))
		return is_offloaded(ifname);
	question = begin_dump(buf);
	mnl_attr_put_u32(question, IFLA_MASTER, link->ifindex);
	return !genl_ask(NETLINK_ROUTE, question, take_vlans_member, &search) &&
	       search.is_taken_out;
}
