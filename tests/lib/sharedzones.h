/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zones of which many names share answers (xdp/shared.h), put into a cache and a filter of names
 * for benchmarks.
 *
 *      wilds.test   a wildcard at the apex                        one entry for each type
 *      nsec1.test   n names and their NSEC, for queries with DO   n entries, one for each interval
 *      nsec3.test   n names and their NSEC3, without salt and     n + 1 entries
 *                   iterations
 *
 * An engine answers one query in each zone, so keys and bodies are those of volleyd. The entry that
 * it publishes for one interval is then published for all others: the size is right, but the
 * records are those of the first interval. Signatures have the size of ECDSA P-256, and no
 * validator would accept them.
 */
#ifndef VOLLEY_TESTS_LIB_SHAREDZONES_H
#define VOLLEY_TESTS_LIB_SHAREDZONES_H

#include <stdint.h>

#include "cache/cache.h"
#include "shield/name_filter.h"

enum sharedzone { SHAREDZONE_WILD, SHAREDZONE_NSEC, SHAREDZONE_NSEC3, N_SHAREDZONES };

#define SHAREDZONE_APEX_BYTES  12u
#define SHAREDZONE_LABEL_BYTES 8u /* with the length */

extern const uint8_t sharedzone_apexes[N_SHAREDZONES][SHAREDZONE_APEX_BYTES];

/* The label of a name, as it lies in memory: each number gives another label. */
typedef __u64 sharedzone_label_fn(__u32 number);

/*
 * The names of the signed zones are numbers 0 to n - 1; `asked` is another number, which no
 * measured query has. names_begin() has been called. 0 or a negative error.
 */
int sharedzones_publish(struct cache *cache, struct names *names, sharedzone_label_fn *label,
			uint32_t n, uint32_t asked);

/* The octets of cache that this needs, with a quarter to spare; the lines of volley_names that the
 * intervals need. Pure. */
uint64_t sharedzones_cache_bytes(uint32_t n);
uint32_t sharedzones_lines(uint32_t n);

#endif
