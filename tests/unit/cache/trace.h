/* SPDX-License-Identifier: GPL-2.0-only */
/* Names as they are asked, and the cache to compare with: an exact LRU of so many entries. */
#ifndef VOLLEY_TESTS_CACHE_TRACE_H
#define VOLLEY_TESTS_CACHE_TRACE_H

#include <math.h>

#include "world.h"

/* Zipf over n_names: rank r with weight 1/r^exponent. */
struct zipf {
	double *sums;
	uint32_t n_names;
};

static inline void zipf_open(struct zipf *z, uint32_t n_names, double exponent)
{
	double sum = 0;

	z->n_names = n_names;
	z->sums = malloc(n_names * sizeof(*z->sums));
	MUST(z->sums);
	for (uint32_t i = 0; i < n_names; i++)
		z->sums[i] = sum += pow(i + 1, -exponent);
}

static inline void zipf_close(struct zipf *z)
{
	free(z->sums);
}

/* 0 to n_names - 1. */
static inline uint32_t zipf_draw(const struct zipf *z, uint64_t *seed)
{
	double at = (double)(next_random(seed) >> 11) * 0x1p-53 * z->sums[z->n_names - 1];
	uint32_t low = 0, high = z->n_names - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (z->sums[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A ring of names, the newest behind `head`; n_names itself is the head. */
struct lru {
	uint32_t *next, *prev;
	uint32_t head, n, cap;
};

static inline void lru_open(struct lru *l, uint32_t n_names, uint32_t cap)
{
	*l = (struct lru){ .head = n_names, .cap = cap };
	l->next = malloc((n_names + 1) * sizeof(*l->next));
	l->prev = malloc((n_names + 1) * sizeof(*l->prev));
	MUST(l->next && l->prev);
	memset(l->next, 0xff, (n_names + 1) * sizeof(*l->next)); /* ~0: not in it */
	l->next[n_names] = l->prev[n_names] = n_names;
}

static inline void lru_close(struct lru *l)
{
	free(l->next);
	free(l->prev);
}

static inline void lru_unlink(struct lru *l, uint32_t name)
{
	l->next[l->prev[name]] = l->next[name];
	l->prev[l->next[name]] = l->prev[name];
	l->next[name] = UINT32_MAX;
}

/* True on a hit. Afterwards the name is in it, as the newest. */
static inline bool lru_ask(struct lru *l, uint32_t name)
{
	bool hit = l->next[name] != UINT32_MAX;

	if (hit)
		lru_unlink(l, name);
	else if (l->n == l->cap)
		lru_unlink(l, l->prev[l->head]);
	else
		l->n++;
	l->next[name] = l->next[l->head];
	l->prev[name] = l->head;
	l->prev[l->next[name]] = name;
	l->next[l->head] = name;
	return hit;
}

#endif
