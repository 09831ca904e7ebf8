/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/links.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/genl.h"

static int open_route(void)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
	int err;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int open_ethtool(void)
{
	struct genl_family family;
	int fd = genl_open(), err;

	if (fd < 0)
		return fd;
	err = genl_find(fd, ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME, &family);
	if (!err && !family.group)
		err = -ENOENT;
	if (!err && setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &family.group,
			       sizeof(family.group)))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int watch(const struct links *links, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(links->fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int links_open(struct links *links)
{
	int err;

	links->fd = epoll_create1(EPOLL_CLOEXEC);
	links->ethtool_fd = -1;
	links->route_fd = open_route();
	err = links->fd < 0 ? -errno : links->route_fd < 0 ? links->route_fd : 0;
	if (!err)
		links->ethtool_fd = open_ethtool();
	if (!err)
		err = watch(links, links->route_fd);
	if (!err && links->ethtool_fd >= 0)
		err = watch(links, links->ethtool_fd);
	if (err)
		links_close(links);
	return err;
}

static void drain(int fd)
{
	char buffer[8192];

	/* ENOBUFS: news was lost, which is news as well. */
	while (fd >= 0 && (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) >= 0 ||
			   errno == ENOBUFS || errno == EINTR))
		;
}

void links_drain(const struct links *links)
{
	drain(links->route_fd);
	drain(links->ethtool_fd);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void links_close(struct links *links)
{
	close_fd(&links->ethtool_fd);
	close_fd(&links->route_fd);
	close_fd(&links->fd);
}
