/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a policy that its sources share; rpz/policy.h explains them. */
#ifndef VOLLEY_RPZ_POLICY_RULES_H
#define VOLLEY_RPZ_POLICY_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
