/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts cache entries by type, kind of answer, zone, variant and age. One thread at a time. */
#ifndef VOLLEY_CENSUS_CACHE_CENSUS_H
#define VOLLEY_CENSUS_CACHE_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "census/answer_kind.h"

#define CENSUS_TYPES    65536u
#define CENSUS_VARIANTS 4u /* of DO and CD */

struct census_count {
	uint64_t entries;
	uint64_t bytes; /* of the store, with the header of each entry */
};

/* Times in buckets: exact below 64 s, then 32 for each power of two, so at most 1/32 too low. */
#define CENSUS_SPANS (64u + 32u * 26u)

struct census_spans {
	uint64_t n;
	uint64_t by_span[CENSUS_SPANS];
	uint32_t least_s, most_s;
};

struct census {
	struct census_count all;
	struct census_count by_type[CENSUS_TYPES];
	struct census_count by_kind[N_ANSWER_KINDS];
	struct census_count by_variant[VOLLEY_N_VIEWS][CENSUS_VARIANTS]; /* VOLLEY_KEY_* */
	struct census_count *by_zone;                                    /* n_zones, by slot */
	uint32_t n_zones;
	uint64_t n_stale;   /* of an old generation of their zone */
	uint64_t n_expired; /* dead, too */
	struct census_spans age;
	struct census_spans left; /* of entries that will expire */
};

/* NULL: no memory. n_zones: the slots of the cache. */
struct census *census_new(uint32_t n_zones);
void census_free(struct census *census); /* NULL is allowed */

/* Counts an entry; `verdict` is its cache_entry_verdict(). */
void census_add(struct census *census, const struct volley_entry *entry, enum cache_verdict verdict,
		uint32_t now_s);

/* The median time; 0 if there are none. */
uint32_t census_median_s(const struct census_spans *spans);

/*
 * Writes the indexes of the `cap` largest counts by bytes to `out`, largest first. Returns their
 * number. Counts without entries are left out.
 */
size_t census_largest(const struct census_count *counts, size_t n, uint32_t *out, size_t cap);

#endif
