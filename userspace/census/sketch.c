/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census/sketch.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"

#define Z_95 1.96 /* of the normal distribution */

#define FADED 1e-100 /* a lower total is cleared: `squares` would become 0 long before it */

struct sketch {
	/* apart from the counters, since every search reads all */
	uint64_t hashes[SKETCH_COUNTERS];
	double counts[SKETCH_COUNTERS];
	struct sketch_counter counters[SKETCH_COUNTERS];
	uint32_t n;
	double total;
	double squares; /* of the weights */
	uint8_t hash_key[SIPHASH_KEY_BYTES];
};

struct sketch *sketch_new(void)
{
	struct sketch *s = calloc(1, sizeof(*s));

	if (s && getrandom(s->hash_key, sizeof(s->hash_key), 0) == sizeof(s->hash_key))
		return s;
	free(s);
	return NULL;
}

void sketch_free(struct sketch *s)
{
	free(s);
}

/* *at: the place of the key, else the next free place, else the place of the smallest count. */
static bool find_sketch(const struct sketch *s, uint64_t hash, const void *key, size_t key_bytes,
			uint32_t *at)
{
	uint32_t least = 0;

	for (*at = 0; *at < s->n; ++*at) {
		if (s->hashes[*at] == hash && s->counters[*at].key_bytes == key_bytes &&
		    !memcmp(s->counters[*at].key, key, key_bytes))
			return true;
		if (s->counts[*at] < s->counts[least])
			least = *at;
	}
	if (*at == SKETCH_COUNTERS)
		*at = least;
	return false;
}

static void take_over(struct sketch *s, uint32_t i, uint64_t hash, const void *key,
		      size_t key_bytes)
{
	if (i == s->n)
		s->counts[s->n++] = 0;
	s->hashes[i] = hash;
	s->counters[i].error = s->counts[i];
	s->counters[i].key_bytes = (uint32_t)key_bytes;
	memcpy(s->counters[i].key, key, key_bytes);
}

void sketch_add(struct sketch *s, const void *key, size_t key_bytes, double weight)
{
	uint64_t hash = siphash24(s->hash_key, key, key_bytes);
	uint32_t i;

	if (!find_sketch(s, hash, key, key_bytes, &i))
		take_over(s, i, hash, key, key_bytes);
	s->counts[i] += weight;
	s->counters[i].count = s->counts[i];
	s->total += weight;
	s->squares += weight * weight;
}

void sketch_fade(struct sketch *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		s->counts[i] /= 2;
		s->counters[i].count = s->counts[i];
		s->counters[i].error /= 2;
	}
	s->total /= 2;
	s->squares /= 4;
	if (s->total >= FADED)
		return;
	s->n = 0;
	s->total = s->squares = 0;
}

void sketch_bounds(const struct sketch *s, const void *key, size_t key_bytes, double *least,
		   double *most)
{
	uint32_t i;

	if (find_sketch(s, siphash24(s->hash_key, key, key_bytes), key, key_bytes, &i)) {
		*least = s->counts[i] - s->counters[i].error;
		*most = s->counts[i];
	} else {
		*least = 0;
		*most = i < s->n ? s->counts[i] : 0;
	}
}

size_t sketch_top(const struct sketch *s, const struct sketch_counter **out, size_t cap)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sketch_counter *c = &s->counters[i];
		size_t at = n;

		while (at && out[at - 1]->count < c->count)
			at--;
		if (at == cap)
			continue;
		n += n < cap;
		memmove(&out[at + 1], &out[at], (n - at - 1) * sizeof(struct sketch_counter *));
		out[at] = c;
	}
	return n;
}

double sketch_total(const struct sketch *s)
{
	return s->total;
}

double sketch_samples(const struct sketch *s)
{
	return s->squares > 0 ? s->total * s->total / s->squares : 0;
}

double sketch_share_error(const struct sketch *s, const struct sketch_counter *counter)
{
	double share;

	if (s->squares <= 0)
		return 1;
	share = fmin(counter->count / s->total, 1); /* rounding */
	return counter->error / s->total + Z_95 * sqrt(share * (1 - share) / sketch_samples(s));
}
