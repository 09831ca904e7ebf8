/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/found.h"
#include "bpf/refusal.h"
#include "doctor/gather.h"
#include "iface/genl.h"
#include "iface/vethpeer.h"
#include "iface/vlans.h"

/* From linux/netdev.h of Linux 6.3 (marked rows: 6.13); the installed headers may be older. */
#define NETDEV_FAMILY             "netdev"
#define NETDEV_DEV_GET            1
#define NETDEV_DEV_IFINDEX        1
#define NETDEV_DEV_XDP_FEATURES   3
#define NETDEV_NAPI_GET           11
#define NETDEV_NAPI_IFINDEX       1
#define NETDEV_NAPI_PID           4
#define NETDEV_NAPI_DEFER         5 /* 6.13 */
#define NETDEV_NAPI_FLUSH_TIMEOUT 6 /* 6.13 */

/* --- rtnetlink -------------------------------------------------------------------------------- */

struct link {
	char kind[16];
	uint32_t lower;
	bool has_lower;
	bool has_netnsid; /* lower is in another network namespace */
	bool is_there;
};

static int take_doctor_link_kind(const struct nlattr *attr, void *user)
{
	struct link *link = user;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
		genl_text(attr, link->kind, sizeof(link->kind));
	return MNL_CB_OK;
}

static int take_link_attr(const struct nlattr *attr, void *user)
{
	struct link *link = user;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(attr, take_doctor_link_kind, link);
		break;
	case IFLA_LINK:
		link->has_lower = true;
		link->lower = (uint32_t)genl_number(attr);
		break;
	case IFLA_LINK_NETNSID:
		link->has_netnsid = true;
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static int take_doctor_link(const struct nlmsghdr *m, void *user)
{
	struct link *link = user;

	link->is_there = true;
	return mnl_attr_parse(m, sizeof(struct ifinfomsg), take_link_attr, link);
}

static int get_link(uint32_t ifindex, struct link *link)
{
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));
	int err;

	*link = (struct link){ .kind = "" };
	question->nlmsg_type = RTM_GETLINK;
	head->ifi_index = (int)ifindex;
	err = genl_ask(NETLINK_ROUTE, question, take_doctor_link, link);
	return err ? err : link->is_there ? 0 : -ENODEV;
}

static void gather_link(struct doctor_nic *nic)
{
	struct vethpeer peer;
	struct link link;
	int err = get_link((uint32_t)nic->ifindex, &link);

	nic->peer.mtu = -ENOENT;
	if (err)
		return;
	memcpy(nic->kind, link.kind, sizeof(nic->kind));
	if (!strcmp(link.kind, "vlan") && link.has_lower && !link.has_netnsid)
		if_indextoname(link.lower, nic->lower);
	if (strcmp(link.kind, "veth") != 0)
		return;
	vethpeer_look(&peer, (unsigned int)nic->ifindex);
	nic->peer = (struct doctor_peer){
		.mtu = peer.mtu,
		.has_xdp = peer.kind == VETHPEER_TAKES,
	};
}

/* --- The family "netdev" ---------------------------------------------------------------------- */

static int take_doctor_link_features_attr(const struct nlattr *attr, void *user)
{
	struct doctor_nic *nic = user;

	if (mnl_attr_get_type(attr) == NETDEV_DEV_XDP_FEATURES)
		nic->xdp_features = (int)genl_number(attr);
	return MNL_CB_OK;
}

static int take_doctor_link_features(const struct nlmsghdr *m, void *user)
{
	struct doctor_nic *nic = user;

	nic->xdp_features = 0;
	return mnl_attr_parse(m, GENL_HDRLEN, take_doctor_link_features_attr, nic);
}

/* Linux 6.13 and later send both attributes. */
static int take_napi_attr(const struct nlattr *attr, void *user)
{
	struct doctor_nic *nic = user;

	switch (mnl_attr_get_type(attr)) {
	case NETDEV_NAPI_PID:
		nic->threaded = true;
		break;
	case NETDEV_NAPI_DEFER:
		nic->defer_hard_irqs = (int)genl_number(attr);
		break;
	case NETDEV_NAPI_FLUSH_TIMEOUT:
		nic->gro_flush_ns = (int64_t)genl_number(attr);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static int take_napi(const struct nlmsghdr *m, void *user)
{
	struct doctor_nic *nic = user;

	nic->threaded = false;
	return mnl_attr_parse(m, GENL_HDRLEN, take_napi_attr, nic);
}

static void gather_netdev(struct doctor_nic *nic)
{
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	struct genl_family family;
	struct nlmsghdr *question;
	int err;

	nic->xdp_features = -EOPNOTSUPP;
	if (genl_find(NETDEV_FAMILY, "", &family))
		return; /* before Linux 6.3 */
	question = genl_begin(buf, family.id, NETDEV_DEV_GET);
	mnl_attr_put_u32(question, NETDEV_DEV_IFINDEX, (uint32_t)nic->ifindex);
	err = genl_ask(NETLINK_GENERIC, question, take_doctor_link_features, nic);
	if (err)
		nic->xdp_features = err;
	question = genl_begin(buf, family.id, NETDEV_NAPI_GET);
	question->nlmsg_flags = NLM_F_DUMP;
	mnl_attr_put_u32(question, NETDEV_NAPI_IFINDEX, (uint32_t)nic->ifindex);
	/* A kernel before 6.8 lacks this command; then /sys has the values. */
	if (genl_ask(NETLINK_GENERIC, question, take_napi, nic))
		nic->threaded = -EXDEV;
}

void doctor_gather_netlink(struct doctor_nic *nic)
{
	struct linkinfo link;

	if (linkinfo_read(&link, nic->name) || !vlans_find(&link, nic->vlan))
		*nic->vlan = 0;
	nic->threaded = nic->defer_hard_irqs = -EXDEV;
	nic->gro_flush_ns = -EXDEV;
	gather_link(nic);
	gather_netdev(nic);
}

/* --- The XDP program -------------------------------------------------------------------------- */

void doctor_gather_program(struct doctor_nic *nic)
{
	static const enum doctor_program programs[] = {
		[FOUND_NOTHING] = DOCTOR_NO_PROGRAM,  [FOUND_OTHER] = DOCTOR_FOREIGN,
		[FOUND_OTHER_ABI] = DOCTOR_OTHER_ABI, [FOUND_MISFIT] = DOCTOR_OTHER_ABI,
		[FOUND_VOLLEY] = DOCTOR_VOLLEY,
	};
	LIBBPF_OPTS(bpf_xdp_query_opts, there);
	struct found found;
	int err = bpf_xdp_query(nic->ifindex, 0, &there);

	refusal_listen();
	nic->xdp_id = there.drv_prog_id ? there.drv_prog_id :
		      there.skb_prog_id ? there.skb_prog_id :
					  there.prog_id;
	nic->xdp_generic = !there.drv_prog_id && there.skb_prog_id;
	nic->xdp_program = err ? err : DOCTOR_NO_PROGRAM;
	if (err || !nic->xdp_id)
		return;
	err = found_look(&found, nic->ifindex);
	if (err) {
		nic->xdp_program = err;
		return;
	}
	nic->xdp_program = (int)programs[found.kind];
	if (found.kind == FOUND_OTHER_ABI && found_is_by_daemon(&found))
		nic->xdp_program = DOCTOR_EARLIER;
	nic->xdp_id = found.id ? found.id : nic->xdp_id;
	memcpy(nic->xdp_name, found.name, sizeof(nic->xdp_name));
	found_close(&found);
}
