/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The median of what a benchmark has measured. */
#ifndef VOLLEY_TESTS_PERF_MEDIAN_H
#define VOLLEY_TESTS_PERF_MEDIAN_H

#include <stddef.h>
#include <stdlib.h>

static inline int median_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. 0 if n is 0. */
static inline double median(double *values, size_t n)
{
	if (!n)
		return 0;
	qsort(values, n, sizeof(*values), median_compare);
	return n & 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

#endif
