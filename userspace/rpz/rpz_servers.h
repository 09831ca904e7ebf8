/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for the name servers of a name: NAME.rpz-nsdname and LENGTH.ADDRESS.rpz-nsip
 * (draft-vixie-dnsop-dns-rpz-00, section 4). rpz/rpz.h explains the rules. The caller adds one
 * server after the other; the best rule so far is kept:
 *
 *	rpz_may_better() ─ yes ─► find a server's name or address ─► rpz_add_server(),
 *	                    │                                           or _address() ─► again
 *	                    └ no ──► *hit decides
 *
 * These points decide which rule is better, in this order: the earlier list; rpz-nsdname before
 * rpz-nsip; for names, the server that comes first in the canonical order; for addresses, the
 * longest prefix, then the lowest address.
 *
 * Any thread, while the rule set lives.
 */
#ifndef VOLLEY_RPZ_RPZ_SERVERS_H
#define VOLLEY_RPZ_RPZ_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "zone/zone.h"

struct rpz;

/* The best rule known so far for the name servers of one name. All zeros: none. */
struct rpz_server_hit {
	const struct zone_node *node; /* NULL: none; lives as long as the rule set */
	size_t list;
	bool by_address;
	unsigned int bits; /* of the prefix, as of a mapped address; 0 for a name */
	/* of the server: its name, or 16 octets of address, IPv4 mapped */
	uint8_t server[NAME_FOLDED_BYTES];
};

enum rpz_servers_state {
	RPZ_SERVERS_KNOWN, /* *hit is the best rule, or none */
	RPZ_SERVERS_WAIT,  /* not all are known yet */
};

/* Finds the name servers of a name and the best rule that the first n_lists lists have for them.
 * The name is number `at` of a chain of aliases, from 0. */
struct rpz_servers {
	enum rpz_servers_state (*find)(void *user, unsigned int at, const uint8_t *folded,
				       size_t n_lists, struct rpz_server_hit *hit);
	void *user;
};

/* True if a list has rules for name servers. */
bool rpz_names_servers(const struct rpz *p);
/* The same for a list before it is in a rule set. O(labels). */
bool rpz_list_names_servers(const struct zone *list);

/* A number of its own for each rule set, never 0. A pointer into a rule set belongs to the one with
 * the same number. */
uint64_t rpz_number(const struct rpz *p);

/*
 * True if the first n_lists lists can have a rule that is better than *hit: for the name of a
 * server (family 0), or for an address of it (AF_INET, AF_INET6). O(n_lists).
 */
bool rpz_may_better(const struct rpz *p, size_t n_lists, uint8_t family,
		    const struct rpz_server_hit *hit);

/* Adds a server by its name (folded), or by an address in network order. *hit stays, or becomes the
 * better rule. O(n_lists × log rules). */
void rpz_add_server(const struct rpz *p, size_t n_lists, const uint8_t *folded,
		    struct rpz_server_hit *hit);
void rpz_add_server_address(const struct rpz *p, size_t n_lists, uint8_t family,
			    const uint8_t *address, struct rpz_server_hit *hit);

#endif
