/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to the host's network for which the daemon has no capability, so it asks the broker.
 * Errors: those of the system call, or ERR_BROKER. Any thread, but a call waits while another
 * request is in work.
 */
#ifndef VOLLEY_BROKER_NETWORK_H
#define VOLLEY_BROKER_NETWORK_H

#include "link/vethpeer.h"
#include "port/privileged.h"
#include "port/xsk_config.h"

/* For port_set_helper(). bind: also ERR_PORT (broker/named.h). */
extern const struct port_helper network_helper;

/* xsk_socket_open() of port/xsk_rings.h. */
int network_open_xsk(int memory_fd, const struct xsk_socket_wish *wish)
	__attribute__((warn_unused_result));

/* neighbour_use() of link/neighbour.h. */
int network_use_neighbour(const char *ifname, uint8_t family, const uint8_t *address)
	__attribute__((warn_unused_result));

/*
 * vethpeer_look() of link/vethpeer.h; the broker is asked only if the other end is in another
 * network namespace. Control's thread.
 */
void network_look_at_peer(struct vethpeer *peer, const char *ifname, unsigned int ifindex);

#endif
