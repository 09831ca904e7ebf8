/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of one writer, which other threads read: no locked instruction, whole values. */
#ifndef VOLLEY_RESOLVER_COUNT_H
#define VOLLEY_RESOLVER_COUNT_H

#include <stdint.h>

static inline void count_n(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void count(uint64_t *counter)
{
	count_n(counter, 1);
}

#endif
