/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "bpf/found.h"
#include "bpf/refusal.h"
#include "doctor/gather.h"
#include "link/netdev.h"
#include "link/vethpeer.h"
#include "link/vlans.h"

/* --- rtnetlink -------------------------------------------------------------------------------- */

static void gather_link(struct doctor_nic *nic, const struct link *link)
{
	struct vethpeer peer;

	nic->is_up = link->is_up;
	nic->has_carrier = link->has_carrier;
	nic->mtu = (int)link->mtu;
	snprintf(nic->kind, sizeof(nic->kind), "%s", link->kind);
	if (link_is(link, "vlan") && link->parent)
		if_indextoname(link->parent, nic->lower);
	if (!vlans_find(link, nic->vlan))
		*nic->vlan = 0;
	nic->peer.mtu = -ENOENT;
	if (!link_is(link, "veth"))
		return;
	vethpeer_look(&peer, link->ifindex);
	nic->peer = (struct doctor_peer){
		.mtu = peer.mtu,
		.has_xdp = peer.kind == VETHPEER_TAKES,
	};
}

/* --- The family "netdev" ---------------------------------------------------------------------- */

/* Linux 6.13 and later send both attributes. */
static int take_napi_attr(const struct nlattr *attr, void *user)
{
	struct doctor_nic *nic = user;

	switch (mnl_attr_get_type(attr)) {
	case NETDEV_NAPI_PID:
		nic->threaded = true;
		break;
	case NETDEV_NAPI_DEFER:
		nic->defer_hard_irqs = (int)netlink_number(attr);
		break;
	case NETDEV_NAPI_FLUSH_TIMEOUT:
		nic->gro_flush_ns = (int64_t)netlink_number(attr);
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
	const unsigned int ifindex = (unsigned int)nic->ifindex;
	uint64_t features;
	int err = netdev_xdp_features(ifindex, &features);

	nic->xdp_features = err ? err == -ENOENT ? -EOPNOTSUPP : err : (int)features;
	/* A kernel before 6.8 lacks this command; then /sys has the values. */
	if (netdev_ask(NETDEV_NAPI_GET, ifindex, take_napi, nic))
		nic->threaded = -EXDEV;
}

void doctor_gather_netlink(struct doctor_nic *nic, const struct link *link)
{
	nic->threaded = nic->defer_hard_irqs = -EXDEV;
	nic->gro_flush_ns = -EXDEV;
	gather_link(nic, link);
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
