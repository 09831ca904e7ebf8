/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as they are asked, and the cache to compare with: an exact LRU of so many octets. */
#ifndef VOLLEY_TESTS_CACHE_TRACE_H
#define VOLLEY_TESTS_CACHE_TRACE_H

#include <math.h>

#include "world.h"

/* Zipf over n_names: rank r with weight 1/r^exponent. */
#define ZIPF_GUIDES 65536u
struct zipf {
	double *sums;
	uint32_t *guides; /* for each part of the whole weight the first rank that may be in it */
	uint32_t n_names;
};

static inline void zipf_open(struct zipf *z, uint32_t n_names, double exponent)
{
	double sum = 0;
	uint32_t rank = 0;

	z->n_names = n_names;
	z->sums = malloc(n_names * sizeof(*z->sums));
	z->guides = malloc((ZIPF_GUIDES + 1) * sizeof(*z->guides));
	MUST(z->sums && z->guides);
	for (uint32_t i = 0; i < n_names; i++)
		z->sums[i] = sum += pow(i + 1, -exponent);
	for (uint32_t i = 0; i < ZIPF_GUIDES; i++) {
		while (rank < n_names - 1 && z->sums[rank] < sum / ZIPF_GUIDES * i)
			rank++;
		z->guides[i] = rank;
	}
	z->guides[ZIPF_GUIDES] = n_names - 1;
}

static inline void zipf_close(struct zipf *z)
{
	free(z->sums);
	free(z->guides);
}

/* 0 to n_names - 1. */
static inline uint32_t zipf_draw(const struct zipf *z, uint64_t *seed)
{
	double share = (double)(next_random(seed) >> 11) * 0x1p-53;
	double at = share * z->sums[z->n_names - 1];
	uint32_t guide = (uint32_t)(share * ZIPF_GUIDES);
	uint32_t low = z->guides[guide], high = z->guides[guide + 1];

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
	uint32_t head, n;
	uint64_t bytes, cap_bytes;
	uint32_t (*bytes_of)(uint64_t name); /* what a name's entry takes */
};

static inline void lru_open(struct lru *l, uint32_t n_names, uint64_t cap_bytes,
			    uint32_t (*bytes_of)(uint64_t name))
{
	*l = (struct lru){ .head = n_names, .cap_bytes = cap_bytes, .bytes_of = bytes_of };
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
	l->bytes -= l->bytes_of(name);
	l->n--;
}

/* True on a hit. Afterwards the name is in it, as the newest. */
static inline bool lru_ask(struct lru *l, uint32_t name)
{
	bool hit = l->next[name] != UINT32_MAX;

	if (hit)
		lru_unlink(l, name);
	while (l->bytes + l->bytes_of(name) > l->cap_bytes)
		lru_unlink(l, l->prev[l->head]);
	l->n++;
	l->bytes += l->bytes_of(name);
	l->next[name] = l->next[l->head];
	l->prev[name] = l->head;
	l->prev[l->next[name]] = name;
	l->next[l->head] = name;
	return hit;
}

#endif
