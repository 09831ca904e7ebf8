/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for the name servers of a name: NAME.rpz-nsdname and LENGTH.ADDRESS.rpz-nsip
 * (draft-vixie-dnsop-dns-rpz-00, section 4). rpz/policy.h explains policies. The caller adds one
 * server after the other; the best rule so far is kept:
 *
 *	policy_may_better() ─ yes ─► find a server's name or address ─► policy_add_server(),
 *	                    │                                           or _address() ─► again
 *	                    └ no ──► *hit decides
 *
 * These points decide which rule is better, in this order: the earlier list; rpz-nsdname before
 * rpz-nsip; for names, the server that comes first in the canonical order; for addresses, the
 * longest prefix, then the lowest address.
 *
 * Any thread, while the policy lives.
 */
#ifndef VOLLEY_RPZ_POLICY_SERVERS_H
#define VOLLEY_RPZ_POLICY_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "zone/zone.h"

struct policy;

/* The best rule known so far for the name servers of one name. All zeros: none. */
struct policy_server_hit {
	const struct zone_node *node; /* NULL: none; lives as long as the policy */
	size_t list;
	bool by_address;
	unsigned int bits; /* of the prefix, as of a mapped address; 0 for a name */
	/* of the server: its name, or 16 octets of address, IPv4 mapped */
	uint8_t server[NAME_FOLDED_BYTES];
};

enum policy_servers_state {
	POLICY_SERVERS_KNOWN, /* *hit is the best rule, or none */
	POLICY_SERVERS_WAIT,  /* not all are known yet */
};

/* Finds the name servers of a name and the best rule that the first n_lists lists have for them.
 * The name is number `at` of a chain of aliases, from 0. */
struct policy_servers {
	enum policy_servers_state (*find)(void *user, unsigned int at, const uint8_t *folded,
					  size_t n_lists, struct policy_server_hit *hit);
	void *user;
};

/* True if a list has rules for name servers. */
bool policy_names_servers(const struct policy *p);
/* The same for a list before it is in a policy. O(labels). */
bool policy_list_names_servers(const struct zone *list);

/* A number of its own for each policy, never 0. A pointer into a policy belongs to the policy with
 * the same number. */
uint64_t policy_number(const struct policy *p);

/*
 * True if the first n_lists lists can have a rule that is better than *hit: for the name of a
 * server (family 0), or for an address of it (AF_INET, AF_INET6). O(n_lists).
 */
bool policy_may_better(const struct policy *p, size_t n_lists, uint8_t family,
		       const struct policy_server_hit *hit);

/* Adds a server by its name (folded), or by an address in network order. *hit stays, or becomes the
 * better rule. O(n_lists × log rules). */
void policy_add_server(const struct policy *p, size_t n_lists, const uint8_t *folded,
		       struct policy_server_hit *hit);
void policy_add_server_address(const struct policy *p, size_t n_lists, uint8_t family,
			       const uint8_t *address, struct policy_server_hit *hit);

#endif
