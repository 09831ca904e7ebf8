/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * News of links and addresses, as a descriptor that becomes readable when something has changed.
 * What has changed is for the caller to look up: the news may be lost when there are many.
 */
#ifndef VOLLEY_CONTROL_ROUTE_H
#define VOLLEY_CONTROL_ROUTE_H

/* A non-blocking rtnetlink socket that listens to links and addresses, or -errno. */
int route_open(void);

/* Reads all that is there. */
void route_drain(int fd);

#endif
