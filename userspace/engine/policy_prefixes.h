/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of a block list whose trigger is a prefix: LENGTH.ADDRESS.rpz-ip and the like
 * (draft-vixie-dnsop-dns-rpz-00, section 4). There is a table for each family; ::ffff:0:0/96 (RFC
 * 4291 section 2.5.5.2) is IPv4.
 *
 *	10.0.0.0/8 ── up ◄── 10.1.0.0/16 ── up ◄── 10.1.2.0/24     by the first address, the wider one first
 *	                                                           a look is a bisection, and then
 *	                                                           the way up
 *
 * 16 octets for each rule of IPv4, at most 2^26 - 1 of them; 32 of IPv6. Immutable; any thread
 * reads.
 */
#ifndef VOLLEY_ENGINE_POLICY_PREFIXES_H
#define VOLLEY_ENGINE_POLICY_PREFIXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clients.h"
#include "zone/zone.h"

struct policy_prefixes;

/*
 * Of the labels from `name` to before `end` (folded, as on the wire) the prefix: "24.0.2.0.192",
 * "48.zz.2.db8.2001". False: it is none, or has bits behind its length. views is 0. Pure.
 */
bool policy_prefix_read(const uint8_t *name, const uint8_t *end, struct clients_prefix *out);

/*
 * The rules of `list` below the label, "rpz-ip"; *out is NULL where there are none. Those that
 * cannot be read, or have an action that is not known, are left out. The list is borrowed. 0 or
 * -ENOMEM.
 */
int policy_prefixes_new(struct policy_prefixes **out, const struct zone *list, const char *label)
	__attribute__((warn_unused_result));
/* NULL is allowed. */
void policy_prefixes_free(struct policy_prefixes *t);

/*
 * The rule with the longest prefix that holds the address (4 or 16 octets, network order), or NULL;
 * its length to *bits, as of a mapped address. An IPv4 address is in no IPv6 prefix shorter than
 * the mapped ones. NULL is an empty table. O(log rules).
 */
const struct zone_node *policy_prefixes_find(const struct policy_prefixes *t, uint8_t family,
					     const uint8_t *address, unsigned int *bits);

/* Whether some prefix can hold an address of this family. NULL is an empty table. */
bool policy_prefixes_has(const struct policy_prefixes *t, uint8_t family);

/* Copies at most cap of the prefixes; how many there are. NULL is an empty table. */
size_t policy_prefixes_copy(const struct policy_prefixes *t, struct clients_prefix *out,
			    size_t cap);

#endif
