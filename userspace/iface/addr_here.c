/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/addr_here.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link/netlink.h"

enum route { ROUTE_ELSEWHERE, ROUTE_UNKNOWN, ROUTE_OF_ADDRESS, ROUTE_BY_HAND };

static int take_route(const struct nlmsghdr *m, void *user)
{
	const struct rtmsg *head = mnl_nlmsg_get_payload(m);
	enum route *route = user;

	if (head->rtm_type != RTN_LOCAL)
		*route = ROUTE_ELSEWHERE;
	else
		*route = head->rtm_protocol == RTPROT_KERNEL ? ROUTE_OF_ADDRESS : ROUTE_BY_HAND;
	return MNL_CB_OK;
}

/* The kernel makes a local route for each address of an interface; an operator may add others. */
static enum route find_route(const struct port_addr *addr)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	const uint8_t bytes = addr->family == AF_INET ? 4 : 16;
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct rtmsg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));
	enum route route = ROUTE_UNKNOWN;
	int err;

	question->nlmsg_type = RTM_GETROUTE;
	head->rtm_family = addr->family;
	head->rtm_dst_len = (uint8_t)(8 * bytes);
	mnl_attr_put(question, RTA_DST, bytes, addr->bytes);
	if (addr->scope_id)
		mnl_attr_put_u32(question, RTA_OIF, addr->scope_id);
	err = netlink_ask(NETLINK_ROUTE, question, take_route, &route);
	return err == -ENETUNREACH || err == -EHOSTUNREACH ? ROUTE_ELSEWHERE : route;
}

static int try_bind(const struct port_addr *addr)
{
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(addr, &ss);
	int fd = socket(addr->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = bind(fd, (struct sockaddr *)&ss, len) ? -errno : 0;
	close(fd);
	return err;
}

/*
 * The two questions complete each other. With ip_nonlocal_bind (sysctl) a socket can be bound to
 * any address. An address of IPv6 that is tentative has its route already, and an address of IPv6
 * that only a route by hand leads to cannot be bound.
 */
int addr_here(const struct port_addr *addr)
{
	struct port_addr any_port = *addr;
	int err;

	any_port.port = 0;
	err = try_bind(&any_port);
	if (err == -EAFNOSUPPORT)
		return 0;
	if (port_addr_is_wildcard(addr))
		return 1;
	if (err == -EADDRNOTAVAIL)
		return find_route(addr) == ROUTE_BY_HAND;
	return err ? err : find_route(addr) != ROUTE_ELSEWHERE;
}
