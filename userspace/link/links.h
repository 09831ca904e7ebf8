/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One descriptor that becomes readable when links, addresses or queues have changed. The caller
 * must look up what has changed, because the kernel may lose notifications when there are many.
 *
 *      rtnetlink   a link comes, goes, is renamed, goes up or down, gets another MAC address or
 *                  MTU; addresses
 *      ethtool     ethtool -L and similar (Linux 5.6; before, a look once a second notices it)
 */
#ifndef VOLLEY_LINK_LINKS_H
#define VOLLEY_LINK_LINKS_H

struct mnl_socket;

struct links {
	int fd; /* readable after a change; -1: not open */
	struct mnl_socket *route;
	struct mnl_socket *ethtool; /* NULL: this kernel does not notify */
};

/* Listens in the caller's network namespace. 0, or -errno and nothing is open. */
int links_open(struct links *links) __attribute__((warn_unused_result));

/* Reads and discards all notifications. */
void links_drain(const struct links *links);

/* Does nothing if it is not open. */
void links_close(struct links *links);

#endif
