/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may read which view of the cache, from the configuration to both who answer: the same list of
 * prefixes is the engine's table (engine/clients.h) and the driver's map volley_clients.
 *
 * 	server.allow ────┐                              ┌─► clients_new(): engine
 * 	                 ├─► struct clients_list, views ┤
 * 	recursion.allow ─┤                              └─► clients_list_without() ─► clients_map_*(): driver
 * 	rrl.exempt ──────┘                                            ▲ clients that policies name
 *
 * The longest prefix decides alone, so each has the views of those around it, too.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_BPF_CLIENTS_MAP_H
#define VOLLEY_BPF_CLIENTS_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "engine/clients.h"

struct clients_list {
	struct clients_prefix *prefixes; /* none twice */
	size_t n;                        /* 0: everyone may ask for the zones, nobody recurses */
};

/*
 * The views of every prefix that the configuration gives: of all clients VOLLEY_VIEW_PUBLIC, of
 * those in recursion.allow VOLLEY_VIEW_RECURSIVE, of those in server.allow VOLLEY_VIEW_PRIVATE;
 * that one nobody has where everyone may ask. Where some clients may recurse, all others that may
 * ask for the zones have VOLLEY_VIEW_ITERATIVE, so there is a prefix for all addresses. Those in
 * rrl.exempt have VOLLEY_CLIENT_EXEMPT beside them. IPv6 prefixes hold no IPv4 clients, ::/0
 * neither. 0 or -ENOMEM.
 */
int clients_list_make(struct clients_list *list, const struct config *config)
	__attribute__((warn_unused_result));
void clients_list_fini(struct clients_list *list);
bool clients_list_equal(const struct clients_list *a, const struct clients_list *b);

/* With more clients that are apart, all are. */
#define CLIENTS_APART_MAX 2048u

/*
 * The list for the driver where a policy has rules for clients (rpz-client-ip): as `list`, but
 * clients in one of the n prefixes `apart` have no VOLLEY_VIEW_RECURSIVE, so that a worker applies
 * the rules; nobody has it where `all`, or n is more than CLIENTS_APART_MAX. The lists may share
 * nothing. 0 or -ENOMEM. O(n × list).
 */
int clients_list_without(struct clients_list *out, const struct clients_list *list,
			 const struct clients_prefix *apart, size_t n, bool all)
	__attribute__((warn_unused_result));

/*
 * The map goes from what it holds to the list in two steps, so that no client ever has a view there
 * that it has not both before and after:
 *
 * 	clients_map_restrict()  each prefix of either: what it has in both
 * 	the engine's table is swapped, grace period
 * 	clients_map_extend()    the list, and nothing else
 *
 * Readers in the driver go on. 0, or -errno of the map; then some clients have fewer views than
 * they should, and what is for them is handed up. fd -1 (no driver): 0.
 */
int clients_map_restrict(int fd, const struct clients_list *list)
	__attribute__((warn_unused_result));
int clients_map_extend(int fd, const struct clients_list *list) __attribute__((warn_unused_result));

#endif
