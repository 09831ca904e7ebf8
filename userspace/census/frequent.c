/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census/frequent.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"

#define SLOTS (2 * FREQUENT_COUNTERS) /* at least half are empty, so chains are short */
#define FREE  0u                      /* else the counter's number, from 1 on */
#define Z_95  1.96                    /* of the normal distribution */
#define FADED 1e-6                    /* a lower count is dropped */

struct frequent {
	uint16_t slots[SLOTS];
	struct frequent_counter counters[FREQUENT_COUNTERS]; /* the first n are in use */
	double counts[FREQUENT_COUNTERS];                    /* scratch, for the median */
	uint32_t n;
	double total;
	double squares; /* of the weights */
	double missing; /* a key's count is at most so much too low */
	uint8_t hash_key[SIPHASH_KEY_BYTES];
};

struct frequent *frequent_new(void)
{
	struct frequent *f = calloc(1, sizeof(*f));

	if (f && getrandom(f->hash_key, sizeof(f->hash_key), 0) == sizeof(f->hash_key))
		return f;
	free(f);
	return NULL;
}

void frequent_free(struct frequent *f)
{
	free(f);
}

void frequent_clear(struct frequent *f)
{
	memset(f->slots, 0, sizeof(f->slots));
	f->n = 0;
	f->total = f->squares = f->missing = 0;
}

/* The slot of the key, or the free one for it. There is always a free one. */
static uint32_t find_frequent(const struct frequent *f, uint64_t hash, const void *key,
			      size_t key_bytes)
{
	uint32_t at = (uint32_t)hash % SLOTS;

	for (; f->slots[at] != FREE; at = (at + 1) % SLOTS) {
		const struct frequent_counter *c = &f->counters[f->slots[at] - 1];

		if (c->hash == hash && c->key_bytes == key_bytes && !memcmp(c->key, key, key_bytes))
			break;
	}
	return at;
}

/* Subtracts `less` from all counters, and drops the counters that have at most that. */
static void keep_above(struct frequent *f, double less)
{
	uint32_t n = 0;

	memset(f->slots, 0, sizeof(f->slots));
	for (uint32_t i = 0; i < f->n; i++) {
		struct frequent_counter *c = &f->counters[i];

		if (c->count <= less)
			continue;
		c->count -= less;
		if (n != i)
			f->counters[n] = *c;
		c = &f->counters[n++];
		f->slots[find_frequent(f, c->hash, c->key, c->key_bytes)] = (uint16_t)n;
	}
	f->n = n;
}

static int compare_frequent(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void purge(struct frequent *f)
{
	double median;

	for (uint32_t i = 0; i < f->n; i++)
		f->counts[i] = f->counters[i].count;
	qsort(f->counts, f->n, sizeof(f->counts[0]), compare_frequent);
	median = f->counts[f->n / 2];
	f->missing += median;
	keep_above(f, median);
}

void frequent_add(struct frequent *f, const void *key, size_t key_bytes, double weight)
{
	uint64_t hash = siphash24(f->hash_key, key, key_bytes);
	uint32_t at = find_frequent(f, hash, key, key_bytes);
	struct frequent_counter *c;

	f->total += weight;
	f->squares += weight * weight;
	if (f->slots[at] == FREE && f->n == FREQUENT_COUNTERS) {
		purge(f);
		at = find_frequent(f, hash, key, key_bytes);
	}
	if (f->slots[at] != FREE) {
		f->counters[f->slots[at] - 1].count += weight;
		return;
	}
	c = &f->counters[f->n++];
	f->slots[at] = (uint16_t)f->n;
	c->hash = hash;
	c->count = weight;
	c->key_bytes = (uint8_t)key_bytes;
	memcpy(c->key, key, key_bytes);
}

void frequent_fade(struct frequent *f, double factor)
{
	bool is_done = false;

	for (uint32_t i = 0; i < f->n; i++) {
		f->counters[i].count *= factor;
		is_done |= f->counters[i].count < FADED;
	}
	f->total *= factor;
	f->squares *= factor * factor;
	f->missing *= factor;
	if (is_done)
		keep_above(f, FADED);
	if (!f->n)
		frequent_clear(f);
}

size_t frequent_top(const struct frequent *f, const struct frequent_counter **out, size_t cap)
{
	size_t n = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct frequent_counter *c = &f->counters[i];
		size_t at = n;

		while (at && out[at - 1]->count < c->count)
			at--;
		if (at == cap)
			continue;
		n += n < cap;
		memmove(&out[at + 1], &out[at], (n - at - 1) * sizeof(struct frequent_counter *));
		out[at] = c;
	}
	return n;
}

void frequent_bounds(const struct frequent *f, const void *key, size_t key_bytes, double *least,
		     double *most)
{
	uint64_t hash = siphash24(f->hash_key, key, key_bytes);
	uint16_t counter = f->slots[find_frequent(f, hash, key, key_bytes)];

	*least = counter == FREE ? 0 : f->counters[counter - 1].count;
	*most = *least + f->missing;
}

double frequent_total(const struct frequent *f)
{
	return f->total;
}

double frequent_samples(const struct frequent *f)
{
	return f->squares > 0 ? f->total * f->total / f->squares : 0;
}

double frequent_share_error(const struct frequent *f, const struct frequent_counter *counter)
{
	double n = frequent_samples(f), share, middle, half;

	if (n <= 0)
		return 1;
	share = fmin(counter->count / f->total, 1); /* rounding */
	middle = (share + Z_95 * Z_95 / (2 * n)) / (1 + Z_95 * Z_95 / n);
	half = Z_95 / (1 + Z_95 * Z_95 / n) *
	       sqrt(share * (1 - share) / n + Z_95 * Z_95 / (4 * n * n));
	return fmin(f->missing / f->total + fabs(middle - share) + half, 1);
}
