/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A histogram of durations with fixed buckets, from 10 microseconds to 5 seconds. One thread
 * writes, and any thread reads whole values, without locked instructions. */
#ifndef VOLLEY_BASE_HISTOGRAM_H
#define VOLLEY_BASE_HISTOGRAM_H

#include <stdint.h>

/* Upper bounds: B(nanoseconds, the same in seconds as text). The last bucket has no bound. */
#define HISTOGRAM_BOUNDS(B)  \
	B(10000, "1e-05")    \
	B(25000, "2.5e-05")  \
	B(50000, "5e-05")    \
	B(100000, "0.0001")  \
	B(250000, "0.00025") \
	B(500000, "0.0005")  \
	B(1000000, "0.001")  \
	B(2500000, "0.0025") \
	B(5000000, "0.005")  \
	B(10000000, "0.01")  \
	B(25000000, "0.025") \
	B(50000000, "0.05")  \
	B(100000000, "0.1")  \
	B(250000000, "0.25") \
	B(500000000, "0.5")  \
	B(1000000000, "1")   \
	B(2500000000, "2.5") \
	B(5000000000, "5")

#define HISTOGRAM_ONE(ns, text) +1
#define HISTOGRAM_N             (HISTOGRAM_BOUNDS(HISTOGRAM_ONE) + 1)

struct histogram {
	uint64_t n[HISTOGRAM_N]; /* in this bucket alone */
	uint64_t sum_ns;
};

/* Adds n durations of ns nanoseconds each. Only the one writer. */
static inline void histogram_add(struct histogram *h, uint64_t ns, uint64_t n)
{
#define HISTOGRAM_NS(bound_ns, text) bound_ns,
	static const uint64_t bounds_ns[] = { HISTOGRAM_BOUNDS(HISTOGRAM_NS) };
#undef HISTOGRAM_NS
	unsigned int i = 0;

	while (i < HISTOGRAM_N - 1 && ns > bounds_ns[i])
		i++;
	__atomic_store_n(&h->n[i], h->n[i] + n, __ATOMIC_RELAXED);
	__atomic_store_n(&h->sum_ns, h->sum_ns + n * ns, __ATOMIC_RELAXED);
}

/* Adds the contents of h to *sum. Any thread. */
static inline void histogram_read(const struct histogram *h, struct histogram *sum)
{
	for (unsigned int i = 0; i < HISTOGRAM_N; i++)
		sum->n[i] += __atomic_load_n(&h->n[i], __ATOMIC_RELAXED);
	sum->sum_ns += __atomic_load_n(&h->sum_ns, __ATOMIC_RELAXED);
}

#endif
