/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a rule set that its sources share; rpz/rpz.h explains them. */
#ifndef VOLLEY_RPZ_RPZ_RULES_H
#define VOLLEY_RPZ_RPZ_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits/clients.h"
#include "zone/zone.h"

struct rpz_prefixes;

#define RPZ_NSIP    "rpz-nsip"
#define RPZ_NSDNAME "rpz-nsdname"

/* True if the list has a name at or below rpz-nsdname. */
bool rpz_has_server_names(const struct zone *list);

/* A list and the tables that were made from it. */
struct rpz_rules {
	const struct zone *zone;
	uint64_t *hits;
	int ede_code;
	struct rpz_prefixes *clients;          /* rpz-client-ip; NULL: none */
	struct rpz_prefixes *addresses;        /* rpz-ip; NULL: none */
	struct rpz_prefixes *server_addresses; /* rpz-nsip; NULL: none */
	bool has_server_names;                 /* rpz-nsdname */
};

struct rpz {
	const struct zone *local; /* may be NULL */
	uint32_t slot;
	uint32_t gen;
	bool has_clients;
	bool has_servers; /* a list has rules for name servers */
	uint64_t number;  /* rpz_number() */
	size_t n_lists;
	struct rpz_rules lists[];
};

enum rpz_action {
	RPZ_ACTION_UNKNOWN,
	RPZ_ACTION_NXDOMAIN,
	RPZ_ACTION_NODATA,
	RPZ_ACTION_PASS,
	RPZ_ACTION_DROP,
	RPZ_ACTION_TCP_ONLY,
	RPZ_ACTION_ALIAS,
	RPZ_ACTION_DATA, /* the records of the rule */
};

/* The action of the rule at the node. Pure. */
enum rpz_action rpz_action(const struct zone *list, const struct zone_node *node);

/* The rule of `list` for NAME.ORIGIN. With `label` (not NULL, wire form): for NAME.LABEL.ORIGIN.
 * NULL: none. */
const struct zone_node *rpz_name_node(const struct zone *list, const uint8_t *folded,
				      unsigned int n_bytes, const uint8_t *label);

/* The node of local data that answers for a name, itself or as a wildcard; NULL: none. */
const struct zone_node *rpz_local_node(const struct rpz *p, const uint8_t *folded,
				       unsigned int n_bytes);

/*
 * The rules of a block list whose trigger is a prefix: LENGTH.ADDRESS.rpz-ip and similar
 * (draft-vixie-dnsop-dns-rpz-00, section 4). There is a table for each family; ::ffff:0:0/96 (RFC
 * 4291 section 2.5.5.2) is IPv4.
 *
 *	10.0.0.0/8 ◄── up ── 10.1.0.0/16 ◄── up ── 10.1.2.0/24
 *
 * The prefixes are sorted by their first address; of two with the same one the wider comes first. A
 * lookup is a bisection; then it follows `up` to the first prefix that holds the address.
 *
 * 16 octets for each IPv4 rule, at most 2^26 - 1 of them; 32 for each IPv6 rule. Immutable; any
 * thread reads.
 */

/*
 * Reads the prefix in the labels from `name` to before `end` (folded wire form): "24.0.2.0.192",
 * "48.zz.2.db8.2001". False: there is none, or it has bits after its length. views is 0. Pure.
 */
bool rpz_prefix_read(const uint8_t *name, const uint8_t *end, struct clients_prefix *out);

/*
 * Collects the rules of `list` below the label, for example "rpz-ip"; *out is NULL if there are
 * none. A rule that cannot be read or has an unknown action is left out. The list is borrowed. 0 or
 * -ENOMEM.
 */
int rpz_prefixes_new(struct rpz_prefixes **out, const struct zone *list, const char *label)
	__attribute__((warn_unused_result));
/* NULL is allowed. */
void rpz_prefixes_free(struct rpz_prefixes *t);

/*
 * The rule with the longest prefix that holds the address (4 or 16 octets, network order), or NULL.
 * *bits is the length of the prefix, as of a mapped address. An IPv4 address is in no IPv6 prefix
 * shorter than 96 bits. t may be NULL: an empty table. O(log rules).
 */
const struct zone_node *rpz_prefixes_find(const struct rpz_prefixes *t, uint8_t family,
					  const uint8_t *address, unsigned int *bits);

/* True if a prefix can hold an address of this family. t may be NULL: an empty table. */
bool rpz_prefixes_has(const struct rpz_prefixes *t, uint8_t family);

/* Copies at most cap prefixes; returns how many there are. t may be NULL: an empty table. */
size_t rpz_prefixes_copy(const struct rpz_prefixes *t, struct clients_prefix *out, size_t cap);

#endif
