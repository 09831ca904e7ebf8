/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most frequent keys of a fast stream: Misra-Gries with purges of half of the counters at once
 * (Anderson and others, IMC 2017). A key costs one look into a hash table.
 *
 *      key ─► counter of its own ─► all FREQUENT_COUNTERS in use: the median is subtracted
 *                                   from all, and counters that are not above it are freed
 *
 * So no count is too high, and none is too low by more than 2/FREQUENT_COUNTERS of all. Counts fade
 * by a factor, so that the last seconds count most.
 *
 * One thread at a time.
 */
#ifndef VOLLEY_CENSUS_FREQUENT_H
#define VOLLEY_CENSUS_FREQUENT_H

#include <stddef.h>
#include <stdint.h>

#define FREQUENT_COUNTERS  4096u
#define FREQUENT_KEY_BYTES 255u

struct frequent_counter {
	uint64_t hash;
	double count; /* at most the true count */
	uint8_t key_bytes;
	uint8_t key[FREQUENT_KEY_BYTES];
};

struct frequent;

/* 1.1 MiB. NULL: no memory, or no random numbers for its hash. */
struct frequent *frequent_new(void);
void frequent_free(struct frequent *f); /* NULL is allowed */

/* Adds a key of at most FREQUENT_KEY_BYTES octets. weight, above 0: how many keys it stands for. */
void frequent_add(struct frequent *f, const void *key, size_t key_bytes, double weight);
/* Multiplies all counts by `factor`, above 0 and at most 1. */
void frequent_fade(struct frequent *f, double factor);
/* Makes it as new. */
void frequent_clear(struct frequent *f);

/* Gives the `cap` highest counts, highest first; valid until a change. Returns their number. */
size_t frequent_top(const struct frequent *f, const struct frequent_counter **out, size_t cap);

/* The bounds of a key's count. Without a counter for it, *least is 0. *most is the true count of a
 * key that has had a counter from its first time on. */
void frequent_bounds(const struct frequent *f, const void *key, size_t key_bytes, double *least,
		     double *most);

double frequent_total(const struct frequent *f); /* the weights of all keys */
/* The number of equally weighted samples that would give a share the same error. */
double frequent_samples(const struct frequent *f);

/*
 * The half width of the 95 % confidence interval around a counter's share. It covers the error of
 * purges, and of samples with the weights that were added (Wilson's interval, which also holds for
 * few samples).
 */
double frequent_share_error(const struct frequent *f, const struct frequent_counter *counter);

#endif
