/* SPDX-License-Identifier: GPL-2.0-only */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "doctor/look.h"
#include "doctor/netlink.h"
#include "bpf/found.h"
#include "bpf/object.h"

/* Of Linux 6.3's linux/netdev.h, and of 6.13's where said; the installed headers may be older. */
#define NETDEV_FAMILY             "netdev"
#define NETDEV_DEV_GET            1
#define NETDEV_DEV_IFINDEX        1
#define NETDEV_DEV_XDP_FEATURES   3
#define NETDEV_NAPI_GET           11
#define NETDEV_NAPI_IFINDEX       1
#define NETDEV_NAPI_PID           4
#define NETDEV_NAPI_DEFER         5 /* 6.13 */
#define NETDEV_NAPI_FLUSH_TIMEOUT 6 /* 6.13 */

/* --- rtnetlink ----------------------------------------------------------------------------------- */

struct link {
	char kind[16];
	uint32_t lower;
	bool has_lower;
	uint32_t netnsid;
	bool has_netnsid;
	int mtu;
	bool has_xdp;
	bool is_there;
};

static void take_link(void *user, const struct nlmsghdr *m)
{
	const size_t head = sizeof(struct ifinfomsg);
	const struct nlattr *info = doctor_attr(m, head, IFLA_LINKINFO);
	const struct nlattr *lower = doctor_attr(m, head, IFLA_LINK);
	const struct nlattr *netnsid = doctor_attr(m, head, IFLA_LINK_NETNSID);
	const struct nlattr *xdp = doctor_attr(m, head, IFLA_XDP);
	struct link *link = user;

	doctor_attr_text(doctor_attr_within(info, IFLA_INFO_KIND), link->kind, sizeof(link->kind));
	link->has_lower = lower != NULL;
	link->lower = (uint32_t)doctor_attr_number(lower);
	link->has_netnsid = netnsid != NULL;
	link->netnsid = (uint32_t)doctor_attr_number(netnsid);
	link->mtu = (int)doctor_attr_number(doctor_attr(m, head, IFLA_MTU));
	link->has_xdp = doctor_attr_number(doctor_attr_within(xdp, IFLA_XDP_ATTACHED)) != 0;
	link->is_there = true;
}

/* NETNSID NULL: of this network namespace. */
static int get_link(uint32_t ifindex, const uint32_t *netnsid, struct link *link)
{
	struct ifinfomsg head = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex };
	struct doctor_question q;
	int err;

	*link = (struct link){ .kind = "" };
	doctor_question_start(&q, RTM_GETLINK, 0, &head, sizeof(head));
	if (netnsid)
		doctor_question_add(&q, IFLA_TARGET_NETNSID, netnsid, sizeof(*netnsid));
	err = doctor_ask(NETLINK_ROUTE, &q, take_link, link);
	return err ? err : link->is_there ? 0 : -ENODEV;
}

static void look_at_link(struct doctor_nic *nic)
{
	struct link link, peer;
	int err = get_link((uint32_t)nic->ifindex, NULL, &link);

	nic->peer.mtu = -ENOENT;
	if (err)
		return;
	memcpy(nic->kind, link.kind, sizeof(nic->kind));
	if (!strcmp(link.kind, "vlan") && link.has_lower && !link.has_netnsid)
		if_indextoname(link.lower, nic->lower);
	if (strcmp(link.kind, "veth") || !link.has_lower)
		return;
	err = get_link(link.lower, link.has_netnsid ? &link.netnsid : NULL, &peer);
	nic->peer = (struct doctor_peer){ .mtu = err ? err : peer.mtu, .has_xdp = peer.has_xdp };
}

/* --- The family "netdev" ------------------------------------------------------------------------- */

static void take_family(void *user, const struct nlmsghdr *m)
{
	*(int *)user = (int)doctor_attr_number(
		doctor_attr(m, sizeof(struct genlmsghdr), CTRL_ATTR_FAMILY_ID));
}

/* Its number, or -EOPNOTSUPP before Linux 6.3. */
static int find_family(void)
{
	struct genlmsghdr head = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	struct doctor_question q;
	int id = 0, err;

	doctor_question_start(&q, GENL_ID_CTRL, 0, &head, sizeof(head));
	doctor_question_add(&q, CTRL_ATTR_FAMILY_NAME, NETDEV_FAMILY, sizeof(NETDEV_FAMILY));
	err = doctor_ask(NETLINK_GENERIC, &q, take_family, &id);
	return !err && id ? id : -EOPNOTSUPP;
}

static void take_features(void *user, const struct nlmsghdr *m)
{
	struct doctor_nic *nic = user;

	nic->xdp_features = (int)doctor_attr_number(
		doctor_attr(m, sizeof(struct genlmsghdr), NETDEV_DEV_XDP_FEATURES));
}

static void take_napi(void *user, const struct nlmsghdr *m)
{
	const size_t head = sizeof(struct genlmsghdr);
	const struct nlattr *defer = doctor_attr(m, head, NETDEV_NAPI_DEFER);
	struct doctor_nic *nic = user;

	nic->threaded = doctor_attr(m, head, NETDEV_NAPI_PID) != NULL;
	if (!defer)
		return;
	nic->defer_hard_irqs = (int)doctor_attr_number(defer);
	nic->gro_flush_ns =
		(int64_t)doctor_attr_number(doctor_attr(m, head, NETDEV_NAPI_FLUSH_TIMEOUT));
}

static void look_at_netdev(struct doctor_nic *nic)
{
	struct genlmsghdr head = { .cmd = NETDEV_DEV_GET, .version = 1 };
	uint32_t ifindex = (uint32_t)nic->ifindex;
	int family = find_family(), err;
	struct doctor_question q;

	nic->xdp_features = -EOPNOTSUPP;
	if (family < 0)
		return;
	doctor_question_start(&q, (uint16_t)family, 0, &head, sizeof(head));
	doctor_question_add(&q, NETDEV_DEV_IFINDEX, &ifindex, sizeof(ifindex));
	err = doctor_ask(NETLINK_GENERIC, &q, take_features, nic);
	if (err)
		nic->xdp_features = err;
	head.cmd = NETDEV_NAPI_GET;
	doctor_question_start(&q, (uint16_t)family, NLM_F_DUMP, &head, sizeof(head));
	doctor_question_add(&q, NETDEV_NAPI_IFINDEX, &ifindex, sizeof(ifindex));
	/* A kernel before 6.8 has no such command: /sys tells then. */
	if (doctor_ask(NETLINK_GENERIC, &q, take_napi, nic))
		nic->threaded = -EXDEV;
}

void doctor_look_netlink(struct doctor_nic *nic)
{
	nic->threaded = nic->defer_hard_irqs = -EXDEV;
	nic->gro_flush_ns = -EXDEV;
	look_at_link(nic);
	look_at_netdev(nic);
}

/* --- The XDP program ----------------------------------------------------------------------------- */

void doctor_look_program(struct doctor_nic *nic)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, there);
	struct found found;
	int err = bpf_xdp_query(nic->ifindex, 0, &there);

	object_quiet();
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
	nic->xdp_program = found.kind == FOUND_VOLLEY    ? DOCTOR_VOLLEY :
			   found.kind == FOUND_OTHER_ABI ? DOCTOR_OTHER_ABI :
			   found.kind == FOUND_OTHER     ? DOCTOR_FOREIGN :
							   DOCTOR_NO_PROGRAM;
	nic->xdp_id = found.id ? found.id : nic->xdp_id;
	memcpy(nic->xdp_name, found.name, sizeof(nic->xdp_name));
	found_close(&found);
}
