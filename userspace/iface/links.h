/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * News of links, addresses and queues, as one descriptor that becomes readable when something has
 * changed. What has changed is for the caller to look up: news may be lost when there are many.
 *
 *      rtnetlink   a link comes, goes, is renamed, up, down, has another MAC or MTU; addresses
 *      ethtool     ethtool -L and its like (a kernel from 5.6 on; else a look once a second sees it)
 */
#ifndef VOLLEY_IFACE_LINKS_H
#define VOLLEY_IFACE_LINKS_H

struct mnl_socket;

struct links {
	int fd; /* readable when there is news; -1: not open */
	struct mnl_socket *route;
	struct mnl_socket *ethtool; /* NULL: this kernel does not tell */
};

/* Listens in the network namespace that the caller is in. 0 or -errno: nothing is open then. */
int links_open(struct links *links) __attribute__((warn_unused_result));

/* Reads all that is there. */
void links_drain(const struct links *links);

/* Also of one that is not open. */
void links_close(struct links *links);

#endif
