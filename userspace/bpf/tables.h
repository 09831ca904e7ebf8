/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables that control writes and the driver looks up: views of clients, service addresses, blocks.
 *
 * Which clients may read which view of the cache. The same list of prefixes becomes the engine's
 * table (limits/clients.h) and the driver's map volley_clients.
 *
 * 	server.allow ────┐                              ┌─► clients_new(): engine
 * 	                 ├─► struct clients_list, views ┤
 * 	recursion.allow ─┤                              └─► clients_list_without()
 * 	rrl.exempt ──────┘       clients that RPZ names ─┘  └─► clients_map_*(): driver
 *
 * Only the longest prefix decides. So each prefix also has the views of the prefixes around it.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_BPF_TABLES_H
#define VOLLEY_BPF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "limits/clients.h"
#include "xdp/abi.h"

struct clients_list {
	struct clients_prefix *prefixes; /* no prefix twice */
	size_t n; /* 0: all clients may ask for the zones, none may recurse */
};

/*
 * Makes the list of all prefixes in the configuration, with their views:
 *
 * 	VOLLEY_VIEW_PUBLIC     all prefixes
 * 	VOLLEY_VIEW_RECURSIVE  those in recursion.allow
 * 	VOLLEY_VIEW_PRIVATE    those in server.allow; without server.allow, none
 * 	VOLLEY_VIEW_ITERATIVE  if recursion.allow is set: all others that may ask for the zones
 * 	VOLLEY_CLIENT_EXEMPT   those in rrl.exempt
 *
 * If recursion.allow is set, one prefix covers all addresses. IPv6 prefixes, even ::/0, cover no
 * IPv4 clients. 0 or -ENOMEM.
 */
int clients_list_make(struct clients_list *list, const struct config *config)
	__attribute__((warn_unused_result));
void clients_list_fini(struct clients_list *list);
bool clients_list_equal(const struct clients_list *a, const struct clients_list *b);

/* If a policy zone names more prefixes than this, all clients are apart. */
#define CLIENTS_APART_MAX 2048u

/*
 * The list for the driver when an RPZ has rules for clients (rpz-client-ip). It is `list`, but
 * clients in the n prefixes `apart` have no VOLLEY_VIEW_RECURSIVE: a worker answers them and
 * applies the rules. If `all` is set, or n is more than CLIENTS_APART_MAX, no client has it. The
 * lists share no memory. 0 or -ENOMEM. O(n × list).
 */
int clients_list_without(struct clients_list *out, const struct clients_list *list,
			 const struct clients_prefix *apart, size_t n, bool all)
	__attribute__((warn_unused_result));

/*
 * The map changes to the new list in two steps, so that no client ever has a view that it does not
 * have both before and after:
 *
 * 	clients_map_restrict()  each prefix of either list: the views that it has in both
 * 	the engine's table is swapped, grace period
 * 	clients_map_extend()    the new list only
 *
 * Readers in the driver go on. 0, or -errno of the map: then some clients have fewer views than
 * they should, and the driver hands their queries up. fd -1 (no driver): 0.
 */
int clients_map_restrict(int fd, const struct clients_list *list)
	__attribute__((warn_unused_result));
int clients_map_extend(int fd, const struct clients_list *list) __attribute__((warn_unused_result));

/*
 * Service addresses: the configured addresses expanded to those that the host has, and the table by
 * which the driver recognizes them.
 */

/*
 * Changes the driver's table to `listen`. A wildcard means all unicast addresses that the host's
 * interfaces have now: with `lo` and its VIPs, without loopback and link-local addresses. Each link
 * may have the same link-local address, and the table knows no interfaces, so kernel sockets answer
 * for one of `listen`. Readers go on; an address that stays is never missing. *n_services: the
 * number of addresses. 0; -ENOSPC if there are more than VOLLEY_SERVICES, of which the driver
 * serves only that many; or -errno. Control's thread.
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

/*
 * The map that holds a table of blocks (limits/block_table.h), and its place in volley_blocks,
 * where the programs of all interfaces find it.
 *
 * Control's thread calls these; block_map_make() may be called from any thread.
 */

/* Makes a map of n_chunks zeroed chunks. The map's descriptor or -errno. Needs CAP_BPF. */
int block_map_make(uint32_t n_chunks) __attribute__((warn_unused_result));
/* *memory points to the chunks of such a map. Its descriptor, or -errno and it is closed. */
int block_map_open(int fd, uint32_t n_chunks, void **memory) __attribute__((warn_unused_result));
/* Unmaps and closes the map. A program that still reads it keeps the kernel's memory alive. */
void block_map_free(int fd, void *memory, uint32_t n_chunks);

/* Makes this table current. When it returns, no program reads the previous one. 0 or -errno. */
int block_map_put(int blocks_fd, int fd) __attribute__((warn_unused_result));

/* met[i]: the packets that matched list i in the programs, summed over all CPUs. 0 or -errno. */
int block_map_met(int blocked_fd, uint64_t met[VOLLEY_BLOCK_LISTS])
	__attribute__((warn_unused_result));

#endif
