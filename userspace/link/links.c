/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/links.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link/netlink.h"

static int open_ethtool(struct mnl_socket **out)
{
	struct netlink_family family;
	int err = netlink_find_family(ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME, &family);

	if (!err && !family.group)
		err = -ENOENT;
	if (!err)
		err = netlink_open(out, NETLINK_GENERIC, SOCK_NONBLOCK, 0);
	if (!err && mnl_socket_setsockopt(*out, NETLINK_ADD_MEMBERSHIP, &family.group,
					  sizeof(family.group)) < 0)
		err = -errno;
	return err;
}

static int watch_links(const struct links *links, const struct mnl_socket *nl)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(links->fd, EPOLL_CTL_ADD, mnl_socket_get_fd(nl), &event) ? -errno : 0;
}

static void close_links_socket(struct mnl_socket **nl)
{
	if (*nl)
		mnl_socket_close(*nl);
	*nl = NULL;
}

int links_open(struct links *links)
{
	int err;

	*links = (struct links){ .fd = epoll_create1(EPOLL_CLOEXEC) };
	err = links->fd < 0 ? -errno : 0;
	if (!err)
		err = netlink_open(&links->route, NETLINK_ROUTE, SOCK_NONBLOCK,
				   RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
	if (!err)
		err = watch_links(links, links->route);
	if (!err && open_ethtool(&links->ethtool))
		close_links_socket(&links->ethtool);
	if (!err && links->ethtool)
		err = watch_links(links, links->ethtool);
	if (err)
		links_close(links);
	return err;
}

static void drain_links(const struct mnl_socket *nl)
{
	char buffer[8192];

	/* ENOBUFS: news was lost; ENOSPC: it exceeds the buffer. Both mean a change. */
	while (nl && (mnl_socket_recvfrom(nl, buffer, sizeof(buffer)) >= 0 || errno == ENOBUFS ||
		      errno == ENOSPC || errno == EINTR))
		;
}

void links_drain(const struct links *links)
{
	drain_links(links->route);
	drain_links(links->ethtool);
}

void links_close(struct links *links)
{
	close_links_socket(&links->ethtool);
	close_links_socket(&links->route);
	if (links->fd >= 0)
		close(links->fd);
	links->fd = -1;
}
