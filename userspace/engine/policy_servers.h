/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for the name servers of a name: NAME.rpz-nsdname and LENGTH.ADDRESS.rpz-nsip
 * (draft-vixie-dnsop-dns-rpz-00, section 4). engine/policy.h is the chapter. Who knows the servers
 * tells of one after the other; the best rule so far is kept:
 *
 *	policy_may_better() ─ yes ─► a server's name or address becomes known ─► policy_add_server(), _address() ─► again
 *	                    └ no ──► *hit decides
 *
 * Which rule is the better one, the first of these first: that of the earlier list; rpz-nsdname
 * before rpz-nsip; of names the server that comes first in the canonical order; the longest prefix;
 * the lowest address.
 *
 * Any thread, while the policy lives.
 */
#ifndef VOLLEY_ENGINE_POLICY_SERVERS_H
#define VOLLEY_ENGINE_POLICY_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "zone/zone.h"

struct policy;

/* The best rule that is known for the name servers of one name. All zeros: none. */
struct policy_server_hit {
	const struct zone_node *node; /* NULL: none; lives as long as the policy */
	size_t list;
	bool by_address;
	unsigned int bits; /* of the prefix, as of a mapped address; for a name 0 */
	uint8_t server
		/* that met it: its name, or 16 octets of address, IPv4 mapped */
		[NAME_FOLDED_BYTES];
};

enum policy_servers_state {
	POLICY_SERVERS_KNOWN, /* *hit is the best rule, or none */
	POLICY_SERVERS_WAIT,  /* not all are known yet */
};

/* Finds the servers of a name, which is the at-th of a chain of aliases from 0, and what the first
 * n_lists lists say of them. */
struct policy_servers {
	enum policy_servers_state (*find)(void *user, unsigned int at, const uint8_t *folded,
					  size_t n_lists, struct policy_server_hit *hit);
	void *user;
};

/* Whether some list has rules for name servers. */
bool policy_names_servers(const struct policy *p);
/* The same of a list before it is in a policy. O(labels). */
bool policy_list_names_servers(const struct zone *list);

/* Of each policy another one, never 0: what points into a policy is of the one with the same
 * number. */
uint64_t policy_number(const struct policy *p);

/*
 * Whether the first n_lists lists can have a rule that would be better than *hit: by the name of a
 * server (family 0), or by an address of it (AF_INET, AF_INET6). O(n_lists).
 */
bool policy_may_better(const struct policy *p, size_t n_lists, uint8_t family,
		       const struct policy_server_hit *hit);

/* A server by its name (folded), or by an address of it in network order: *hit stays, or is the
 * better rule. O(n_lists × log rules). */
void policy_add_server(const struct policy *p, size_t n_lists, const uint8_t *folded,
		       struct policy_server_hit *hit);
void policy_add_server_address(const struct policy *p, size_t n_lists, uint8_t family,
			       const uint8_t *address, struct policy_server_hit *hit);

#endif
