/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most frequent keys of a stream, in bounded memory: Space-Saving (Metwally, Agrawal, El
 * Abbadi, ICDT 2005). A key without a counter takes over the smallest one, with what that has
 * counted as its error. So no count is too low, none is higher than the truth by more than its
 * error, and a key with more than 1/SKETCH_COUNTERS of all is always there. HeavyKeeper would be
 * nearer on average, but gives no such bound for each key.
 *
 * Counts fade, so that recent keys count most: each sketch_fade() halves them.
 */
#ifndef VOLLEY_CENSUS_SKETCH_H
#define VOLLEY_CENSUS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define SKETCH_COUNTERS  1024u
#define SKETCH_KEY_BYTES 256u

struct sketch_counter {
	double count; /* at least the truth */
	double error; /* by which it may be too high */
	uint32_t key_bytes;
	uint8_t key[SKETCH_KEY_BYTES];
};

struct sketch;

/* NULL: no memory, or no random numbers for its hash. */
struct sketch *sketch_new(void);
void sketch_free(struct sketch *sketch); /* NULL is allowed */

/* A key of at most SKETCH_KEY_BYTES; weight is how many it stands for, above 0. */
void sketch_add(struct sketch *sketch, const void *key, size_t key_bytes, double weight);

void sketch_fade(struct sketch *sketch);

/* Between which counts a key's lies: *most is 0, or the smallest count of all, for a key without a
 * counter. */
void sketch_bounds(const struct sketch *sketch, const void *key, size_t key_bytes, double *least,
		   double *most);

/* The `cap` highest counts, highest first; how many. They live until the next call of another
 * kind. */
size_t sketch_top(const struct sketch *sketch, const struct sketch_counter **out, size_t cap);

/* Of all keys. */
double sketch_total(const struct sketch *sketch);

/* As how many samples of one weight the keys that were added count for a share's error. */
double sketch_samples(const struct sketch *sketch);

/*
 * The half width of the interval in which the true share of a counter's key lies, 95 times of 100:
 * of its error, and of drawing samples with the weights that were added (normal approximation).
 */
double sketch_share_error(const struct sketch *sketch, const struct sketch_counter *counter);

#endif
