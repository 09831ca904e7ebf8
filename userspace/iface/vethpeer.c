/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/vethpeer.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>

#include "iface/genl.h"

struct link {
	char kind[16];
	uint32_t other; /* interface index of the other end */
	uint32_t netnsid;
	bool has_netnsid; /* the other end is in another network namespace */
	int mtu;
	bool is_native; /* the link has a native XDP program */
};

static int take_vethpeer_kind(const struct nlattr *attr, void *user)
{
	struct link *link = user;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
		genl_text(attr, link->kind, sizeof(link->kind));
	return MNL_CB_OK;
}

/* Only a program of the driver is native. */
static int take_xdp(const struct nlattr *attr, void *user)
{
	struct link *link = user;

	if (mnl_attr_get_type(attr) == IFLA_XDP_ATTACHED)
		link->is_native |= genl_number(attr) == XDP_ATTACHED_DRV;
	else if (mnl_attr_get_type(attr) == IFLA_XDP_DRV_PROG_ID)
		link->is_native |= genl_number(attr) != 0;
	return MNL_CB_OK;
}

static int take_vethpeer_attr(const struct nlattr *attr, void *user)
{
	struct link *link = user;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(attr, take_vethpeer_kind, link);
		break;
	case IFLA_LINK:
		link->other = (uint32_t)genl_number(attr);
		break;
	case IFLA_LINK_NETNSID:
		link->has_netnsid = true;
		link->netnsid = (uint32_t)genl_number(attr);
		break;
	case IFLA_MTU:
		link->mtu = (int)genl_number(attr);
		break;
	case IFLA_XDP:
		mnl_attr_parse_nested(attr, take_xdp, link);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static int take_vethpeer(const struct nlmsghdr *message, void *user)
{
	return mnl_attr_parse(message, sizeof(struct ifinfomsg), take_vethpeer_attr, user);
}

/* netnsid NULL: this network namespace. */
static int ask_vethpeer(struct link *link, uint32_t ifindex, const uint32_t *netnsid)
{
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));

	*link = (struct link){ .kind = "" };
	question->nlmsg_type = RTM_GETLINK;
	head->ifi_index = (int)ifindex;
	mnl_attr_put_u32(question, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (netnsid)
		mnl_attr_put_u32(question, IFLA_TARGET_NETNSID, *netnsid);
	return genl_ask(NETLINK_ROUTE, question, take_vethpeer, link);
}

void vethpeer_look(struct vethpeer *peer, unsigned int ifindex)
{
	struct link link, other;
	int err = ask_vethpeer(&link, ifindex, NULL);

	*peer = (struct vethpeer){ .kind = err ? VETHPEER_UNSEEN : VETHPEER_NONE, .mtu = -ENOENT };
	if (err || strcmp(link.kind, "veth") != 0)
		return;
	err = link.other ?
		      ask_vethpeer(&other, link.other, link.has_netnsid ? &link.netnsid : NULL) :
		      -ENOENT;
	peer->mtu = err ? err : other.mtu;
	peer->kind = err ? VETHPEER_UNSEEN : other.is_native ? VETHPEER_TAKES : VETHPEER_BARE;
}
