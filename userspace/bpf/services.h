/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Service addresses: the configured addresses expanded to those that the host has, and the table by
 * which the driver recognizes them. */
#ifndef VOLLEY_BPF_SERVICES_H
#define VOLLEY_BPF_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "xdp/abi.h"

/*
 * Changes the driver's table to `listen`. A wildcard means all unicast addresses that the host's
 * interfaces have now: with `lo` and its VIPs, without loopback and link-local addresses. Each link
 * may have the same link-local address, and the table knows no interfaces, so kernel sockets answer
 * for one of `listen`. Readers
 * go on; an address that stays is never missing. *n_services: the number of addresses. 0; -ENOSPC
 * if there are more than VOLLEY_SERVICES, of which the driver serves only that many; or -errno.
 * Control's thread.
 */
int services_update(struct volley_state *state, const struct config_addr *listen, uint32_t n,
		    uint32_t *n_services) __attribute__((warn_unused_result));

/*
 * Changes the table's ends of tunnels (VOLLEY_TUNNEL_END): if `are_wanted`, each such address of
 * the host and each service address, else none. They take no places from services. 0, -ENOSPC if
 * there are more than VOLLEY_TUNNEL_ENDS, or -errno. Control's thread.
 */
int services_update_ends(struct volley_state *state, const struct config_addr *listen, uint32_t n,
			 bool are_wanted) __attribute__((warn_unused_result));

/* Removes all services and ends of tunnels. */
void services_clear(struct volley_state *state);

#endif
