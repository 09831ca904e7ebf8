/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most frequent keys of a stream, in bounded memory: Space-Saving (Metwally, Agrawal, El
 * Abbadi, ICDT 2005). A key without a counter takes over the smallest one, and the count of that
 * one becomes its error. So no count is too low, none is too high by more than its error, and a key
 * with more than 1/SKETCH_COUNTERS of all always has a counter. HeavyKeeper would be more exact on
 * average, but gives no bound for each key.
 *
 * sketch_fade() halves all counts, so that recent keys count most.
 */
#ifndef VOLLEY_CENSUS_SKETCH_H
#define VOLLEY_CENSUS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define SKETCH_COUNTERS  1024u
#define SKETCH_KEY_BYTES 256u

struct sketch_counter {
	double count; /* at least the true count */
	double error; /* the count may be too high by this */
	uint32_t key_bytes;
	uint8_t key[SKETCH_KEY_BYTES];
};

struct sketch;

/* NULL: no memory, or no random numbers for its hash. */
struct sketch *sketch_new(void);
void sketch_free(struct sketch *sketch); /* NULL is allowed */

/* Adds a key of at most SKETCH_KEY_BYTES octets. weight, above 0: how many keys it stands for. */
void sketch_add(struct sketch *sketch, const void *key, size_t key_bytes, double weight);

void sketch_fade(struct sketch *sketch);

/* The bounds of a key's count. Without a counter for it, *most is 0 or the smallest count. */
void sketch_bounds(const struct sketch *sketch, const void *key, size_t key_bytes, double *least,
		   double *most);

/* Gives the `cap` highest counts, highest first; valid until a change. Returns their number. */
size_t sketch_top(const struct sketch *sketch, const struct sketch_counter **out, size_t cap);

/* The sum of the weights of all keys. */
double sketch_total(const struct sketch *sketch);

/* The number of equally weighted samples that would give a share the same error. */
double sketch_samples(const struct sketch *sketch);

/*
 * The half width of the 95 % confidence interval of the true share of a counter's key. It covers
 * the counter's error, and the error of samples with the weights that were added (normal
 * approximation).
 */
double sketch_share_error(const struct sketch *sketch, const struct sketch_counter *counter);

#endif
