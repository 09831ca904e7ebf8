/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Service addresses: what is listened on, expanded to the addresses that the host has, and the
 * table of them by which the driver knows what is ours.
 */
#ifndef VOLLEY_BPF_SERVICES_H
#define VOLLEY_BPF_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "xdp/abi.h"

/*
 * Makes the driver's table say `listen`: an address as it is, a wildcard as all unicast addresses
 * that the host's interfaces have now (`lo` and its VIPs included, loopback and link-local ones
 * not). Readers go on meanwhile; an address that stays is never missing. *n_services is their
 * number. 0, -ENOSPC when they are more than VOLLEY_SERVICES (the driver serves so many of them),
 * or -errno. Control's thread.
 */
int services_update(struct volley_state *state, const struct config_addr *listen, uint32_t n,
		    uint32_t *n_services) __attribute__((warn_unused_result));

/*
 * Makes the table say where tunnels may end (VOLLEY_TUNNEL_END): if `are_wanted`, at each such
 * address of the host and at each service address, else nowhere. They take no places from services.
 * 0, -ENOSPC when they are more than VOLLEY_TUNNEL_ENDS, or -errno. Control's thread.
 */
int services_update_ends(struct volley_state *state, const struct config_addr *listen, uint32_t n,
			 bool are_wanted) __attribute__((warn_unused_result));

/* Nothing is ours any more. */
void services_clear(struct volley_state *state);

#endif
