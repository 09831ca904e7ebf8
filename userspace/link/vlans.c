/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/vlans.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>

#include "link/ethtool.h"
#include "link/netlink.h"

struct search {
	const struct link *link;
	unsigned int found; /* index of a matching VLAN; 0: none yet */
	bool is_taken_out;  /* a member strips tags */
};

/* --- VLANs ------------------------------------------------------------------------------------ */

bool vlans_is_on(const struct link *link, const struct nlmsghdr *message)
{
	struct link vlan;

	return !link_parse(&vlan, message) && link_is(&vlan, "vlan") && vlan.parent &&
	       (vlan.parent == link->ifindex || vlan.parent == link->master);
}

static int take_vlan(const struct nlmsghdr *message, void *user)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
	struct search *search = user;

	if (!search->found && vlans_is_on(search->link, message))
		search->found = (unsigned int)head->ifi_index;
	return MNL_CB_OK;
}

bool vlans_find(const struct link *link, char name[IF_NAMESIZE])
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = link_begin(buf, 0);
	struct search search = { .link = link };
	struct nlattr *nest = mnl_attr_nest_start(question, IFLA_LINKINFO);

	question->nlmsg_flags = NLM_F_DUMP;
	mnl_attr_put_strz(question, IFLA_INFO_KIND, "vlan");
	mnl_attr_nest_end(question, nest);
	if (netlink_ask(NETLINK_ROUTE, question, take_vlan, &search) || !search.found)
		return false;
	if (!if_indextoname(search.found, name))
		snprintf(name, IF_NAMESIZE, "a VLAN");
	return true;
}

/* --- Offload ---------------------------------------------------------------------------------- */

static int take_vlans_member(const struct nlmsghdr *message, void *user)
{
	struct search *search = user;
	struct link member;
	char name[IF_NAMESIZE];

	if (!search->is_taken_out && !link_parse(&member, message) &&
	    member.master == search->link->ifindex && if_indextoname(member.ifindex, name))
		search->is_taken_out = ethtool_takes_tags_out(name);
	return MNL_CB_OK;
}

bool vlans_are_taken_out(const struct link *link, const char *ifname)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct search search = { .link = link };
	struct nlmsghdr *question;

	if (link_is(link, "veth"))
		return false;
	if (!link_is(link, "bond"))
		return ethtool_takes_tags_out(ifname);
	question = link_begin(buf, 0);
	question->nlmsg_flags = NLM_F_DUMP;
	mnl_attr_put_u32(question, IFLA_MASTER, link->ifindex);
	return !netlink_ask(NETLINK_ROUTE, question, take_vlans_member, &search) &&
	       search.is_taken_out;
}
