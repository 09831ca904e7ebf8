/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a policy that its sources share; rpz/policy.h explains them. */
#ifndef VOLLEY_RPZ_POLICY_RULES_H
#define VOLLEY_RPZ_POLICY_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits/clients.h"
#include "zone/zone.h"

struct policy_prefixes;

#define POLICY_NSIP    "rpz-nsip"
#define POLICY_NSDNAME "rpz-nsdname"

/* True if the list has a name at or below rpz-nsdname. */
bool policy_has_server_names(const struct zone *list);

/* A list and the tables that were made from it. */
struct policy_rules {
	const struct zone *zone;
	uint64_t *hits;
	int ede_code;
	struct policy_prefixes *clients;          /* rpz-client-ip; NULL: none */
	struct policy_prefixes *addresses;        /* rpz-ip; NULL: none */
	struct policy_prefixes *server_addresses; /* rpz-nsip; NULL: none */
	bool has_server_names;                    /* rpz-nsdname */
};

struct policy {
	const struct zone *local; /* may be NULL */
	uint32_t slot;
	uint32_t gen;
	bool has_clients;
	bool has_servers; /* a list has rules for name servers */
	uint64_t number;  /* policy_number() */
	size_t n_lists;
	struct policy_rules lists[];
};

enum policy_action {
	POLICY_ACTION_UNKNOWN,
	POLICY_ACTION_NXDOMAIN,
	POLICY_ACTION_NODATA,
	POLICY_ACTION_PASS,
	POLICY_ACTION_DROP,
	POLICY_ACTION_TCP_ONLY,
	POLICY_ACTION_ALIAS,
	POLICY_ACTION_DATA, /* the records of the rule */
};

/* The action of the rule at the node. Pure. */
enum policy_action policy_action(const struct zone *list, const struct zone_node *node);

/* The rule of `list` for NAME.ORIGIN. With `label` (not NULL, wire form): for NAME.LABEL.ORIGIN.
 * NULL: none. */
const struct zone_node *policy_name_node(const struct zone *list, const uint8_t *folded,
					 unsigned int n_bytes, const uint8_t *label);

/* The node of local data that answers for a name, itself or as a wildcard; NULL: none. */
const struct zone_node *policy_local_node(const struct policy *p, const uint8_t *folded,
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
bool policy_prefix_read(const uint8_t *name, const uint8_t *end, struct clients_prefix *out);

/*
 * Collects the rules of `list` below the label, for example "rpz-ip"; *out is NULL if there are
 * none. A rule that cannot be read or has an unknown action is left out. The list is borrowed. 0 or
 * -ENOMEM.
 */
int policy_prefixes_new(struct policy_prefixes **out, const struct zone *list, const char *label)
	__attribute__((warn_unused_result));
/* NULL is allowed. */
void policy_prefixes_free(struct policy_prefixes *t);

/*
 * The rule with the longest prefix that holds the address (4 or 16 octets, network order), or NULL.
 * *bits is the length of the prefix, as of a mapped address. An IPv4 address is in no IPv6 prefix
 * shorter than 96 bits. t may be NULL: an empty table. O(log rules).
 */
const struct zone_node *policy_prefixes_find(const struct policy_prefixes *t, uint8_t family,
					     const uint8_t *address, unsigned int *bits);

/* True if a prefix can hold an address of this family. t may be NULL: an empty table. */
bool policy_prefixes_has(const struct policy_prefixes *t, uint8_t family);

/* Copies at most cap prefixes; returns how many there are. t may be NULL: an empty table. */
size_t policy_prefixes_copy(const struct policy_prefixes *t, struct clients_prefix *out,
			    size_t cap);

#endif
