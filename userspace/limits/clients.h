/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps a client's address to the views of the cache that it may read (VOLLEY_VIEW_*). The views say
 * what it may ask for. The driver has the same prefixes in a map of its own, volley_clients.
 *
 * Prefixes nest. The table holds ranges in order that do not overlap, so a look-up is a binary
 * search.
 *
 *	prefixes        |------------ /8 -------------|
 *	                      |-- /16 --|
 *	ranges     | 0  | 1   | 2       | 1           | 0 ...
 */
#ifndef VOLLEY_LIMITS_CLIENTS_H
#define VOLLEY_LIMITS_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Views as bits: 1 << VOLLEY_VIEW_*. */
#define CLIENTS_VIEW(view) (1u << (view))

struct clients_prefix {
	uint8_t family;      /* AF_INET or AF_INET6 */
	uint8_t bits;        /* at most 32 or 128; address bits behind them do not count */
	uint8_t address[16]; /* network order; AF_INET uses the first 4 octets */
	uint32_t views;      /* all of them: clients_new() adds none of a prefix around it */
};

struct clients;

/*
 * A table of n prefixes, in any order. The longest prefix that holds an address decides alone;
 * equal prefixes have the views of all of them. Read-only afterwards, by any thread. -ENOMEM;
 * -EINVAL: a family or length that does not exist.
 */
int clients_new(struct clients **out, const struct clients_prefix *prefixes, size_t n)
	__attribute__((warn_unused_result));

/* The same, but the views of a prefix are added to those of all prefixes within it. */
int clients_new_joined(struct clients **out, const struct clients_prefix *prefixes, size_t n)
	__attribute__((warn_unused_result));

/* NULL is allowed. */
void clients_free(struct clients *c);

/*
 * The views that the client with this address (4 or 16 octets, network order) may read. If no
 * prefix holds it: bit VOLLEY_VIEW_PUBLIC alone. ::ffff:0:0/96 is IPv4 (RFC 4291 section 2.5.5.2).
 */
uint32_t clients_views(const struct clients *c, uint8_t family, const uint8_t *address);

/*
 * True if a prefix has VOLLEY_VIEW_PRIVATE. Then only clients with that view may ask for our zones,
 * and answers from these zones are private.
 */
bool clients_restrict_zones(const struct clients *c);

#endif
