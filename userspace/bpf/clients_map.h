/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which clients may read which view of the cache. The same list of prefixes becomes the engine's
 * table (limits/clients.h) and the driver's map volley_clients.
 *
 * 	server.allow ────┐                              ┌─► clients_new(): engine
 * 	                 ├─► struct clients_list, views ┤
 * 	recursion.allow ─┤                              └─► clients_list_without()
 * 	rrl.exempt ──────┘       clients that policies name ──┘  └─► clients_map_*(): driver
 *
 * Only the longest prefix decides. So each prefix also has the views of the prefixes around it.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_BPF_CLIENTS_MAP_H
#define VOLLEY_BPF_CLIENTS_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "limits/clients.h"

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

/* If a policy names more prefixes than this, all clients are apart. */
#define CLIENTS_APART_MAX 2048u

/*
 * The list for the driver when a policy has rules for clients (rpz-client-ip). It is `list`, but
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

#endif
