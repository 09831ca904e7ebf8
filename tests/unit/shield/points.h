/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sorted set of points: what a region of intervals should hold. */
#ifndef VOLLEY_TESTS_UNIT_SHIELD_POINTS_H
#define VOLLEY_TESTS_UNIT_SHIELD_POINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/lib/draw.h"
#include "tests/lib/must.h"

#define POINTS_MAX 20000u

struct points {
	uint64_t at[POINTS_MAX]; /* ascending */
	size_t n;
};

static inline uint64_t draw_point(void)
{
	return (uint64_t)draw(1u << 31) << 33 | (uint64_t)draw(1u << 31) << 2 | draw(4);
}

static inline size_t count_below(const struct points *p, uint64_t point)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->at[mid] < point)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static inline uint64_t start_of(const struct points *p, uint64_t point)
{
	size_t n = count_below(p, point);

	return n ? p->at[n - 1] : 0;
}

static inline bool has(const struct points *p, uint64_t point)
{
	size_t n = count_below(p, point);

	return n < p->n && p->at[n] == point;
}

static inline void insert(struct points *p, uint64_t point)
{
	size_t n = count_below(p, point);

	if (has(p, point))
		return;
	MUST(p->n < POINTS_MAX);
	memmove(&p->at[n + 1], &p->at[n], (p->n - n) * sizeof(p->at[0]));
	p->at[n] = point;
	p->n++;
}

static inline void take_out(struct points *p, uint64_t point)
{
	size_t n = count_below(p, point);

	MUST(has(p, point));
	memmove(&p->at[n], &p->at[n + 1], (p->n - n - 1) * sizeof(p->at[0]));
	p->n--;
}

#endif
