/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#ifndef VOLLEY_RPZ_POLICY_PREFIXES_H
#define VOLLEY_RPZ_POLICY_PREFIXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits/clients.h"
#include "zone/zone.h"

struct policy_prefixes;

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
