/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census/cache_census.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_S     64u
#define OCTAVE_BITS 5u /* 32 buckets for each power of two */

struct census *census_new(uint32_t n_zones)
{
	struct census *census = calloc(1, sizeof(*census));

	if (!census)
		return NULL;
	census->n_zones = n_zones;
	census->by_zone = calloc(n_zones, sizeof(*census->by_zone));
	if (census->by_zone)
		return census;
	free(census);
	return NULL;
}

void census_free(struct census *census)
{
	if (census)
		free(census->by_zone);
	free(census);
}

/* --- Spans ------------------------------------------------------------------------------------ */

static uint32_t span_of_census(uint32_t s)
{
	uint32_t octave;

	if (s < EXACT_S)
		return s;
	octave = 31u - (uint32_t)__builtin_clz(s); /* 6 to 31 */
	return EXACT_S + ((octave - 6) << OCTAVE_BITS) + (s >> (octave - OCTAVE_BITS)) - 32;
}

/* The shortest time of the bucket. */
static uint32_t span_s(uint32_t span)
{
	uint32_t octave = (span - EXACT_S) >> OCTAVE_BITS, part = (span - EXACT_S) % 32;

	return span < EXACT_S ? span : (32 + part) << (octave + 1);
}

static void add_span(struct census_spans *spans, uint32_t s)
{
	if (!spans->n || s < spans->least_s)
		spans->least_s = s;
	if (s > spans->most_s)
		spans->most_s = s;
	spans->n++;
	spans->by_span[span_of_census(s)]++;
}

uint32_t census_median_s(const struct census_spans *spans)
{
	uint64_t n = 0;
	uint32_t i;

	if (!spans->n)
		return 0;
	for (i = 0; i < CENSUS_SPANS; i++) {
		n += spans->by_span[i];
		if (2 * n >= spans->n)
			break;
	}
	return span_s(i);
}

/* --- Counts ----------------------------------------------------------------------------------- */

static void add_census(struct census_count *count, uint32_t bytes)
{
	count->entries++;
	count->bytes += bytes;
}

void census_add(struct census *census, const struct volley_entry *e, enum cache_verdict verdict,
		uint32_t now_s)
{
	add_census(&census->all, e->bytes);
	if (e->key.qtype) /* some shared answers are for any type */
		add_census(&census->by_type[ntohs(e->key.qtype)], e->bytes);
	add_census(&census->by_kind[answer_kind(e)], e->bytes);
	add_census(&census->by_variant[e->key.view][e->key.flags % CENSUS_VARIANTS], e->bytes);
	add_census(&census->by_zone[e->zone_slot < census->n_zones ? e->zone_slot : 0], e->bytes);
	census->n_stale += verdict == CACHE_STALE;
	census->n_expired += verdict == CACHE_EXPIRED;
	add_span(&census->age, now_s > e->born_s ? now_s - e->born_s : 0);
	if (e->expires_s != VOLLEY_NEVER && e->expires_s > now_s)
		add_span(&census->left, e->expires_s - now_s);
}

size_t census_largest(const struct census_count *counts, size_t n, uint32_t *out, size_t cap)
{
	size_t n_out = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = n_out;

		if (!counts[i].entries)
			continue;
		while (at && counts[out[at - 1]].bytes < counts[i].bytes)
			at--;
		if (at == cap)
			continue;
		n_out += n_out < cap;
		memmove(&out[at + 1], &out[at], (n_out - at - 1) * sizeof(*out));
		out[at] = (uint32_t)i;
	}
	return n_out;
}
