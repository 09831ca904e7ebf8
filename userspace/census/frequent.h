/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most frequent keys of a fast stream: Misra-Gries with purges of half of the counters at once
 * (Anderson and others, IMC 2017). A key costs one look into a hash table, where census/sketch.h
 * looks through all of its counters.
 *
 *      key ─► counter of its own ─► FREQUENT_COUNTERS are in use: the median is subtracted from all; counters below it are freed
 *
 * So no count is too high, and none is lower than the truth by more than frequent_missing(), which
 * is at most 2 / FREQUENT_COUNTERS of all. Counts fade by a factor, so that the last seconds count
 * most.
 *
 * Not for several threads at once.
 */
#ifndef VOLLEY_CENSUS_FREQUENT_H
#define VOLLEY_CENSUS_FREQUENT_H

#include <stddef.h>
#include <stdint.h>

#define FREQUENT_COUNTERS  4096u
#define FREQUENT_KEY_BYTES 255u

struct frequent_counter {
	uint64_t hash;
	double count; /* at most the truth */
	uint8_t key_bytes;
	uint8_t key[FREQUENT_KEY_BYTES];
};

struct frequent;

/* 1.1 MiB. NULL: no memory, or no random numbers for its hash. */
struct frequent *frequent_new(void);
void frequent_free(struct frequent *f); /* NULL is allowed */

/* A key of at most FREQUENT_KEY_BYTES octets; weight is how many it stands for, above 0. */
void frequent_add(struct frequent *f, const void *key, size_t key_bytes, double weight);
/* Multiplies all counts by `factor`, above 0 and at most 1. */
void frequent_fade(struct frequent *f, double factor);
/* As if new. */
void frequent_clear(struct frequent *f);

/* The `cap` highest counts, highest first; how many. They live until the next call of another
 * kind. */
size_t frequent_top(const struct frequent *f, const struct frequent_counter **out, size_t cap);

double frequent_total(const struct frequent *f);   /* of all keys */
double frequent_missing(const struct frequent *f); /* by which any count may be too low */
/* As how many samples of one weight the keys count for a share's error. */
double frequent_samples(const struct frequent *f);

/*
 * The half width of the interval around a counter's share in which the true share lies, 95 times of
 * 100: of purges, and of samples with the weights that were added (Wilson's interval, which holds
 * for few samples, too).
 */
double frequent_share_error(const struct frequent *f, const struct frequent_counter *counter);

#endif
