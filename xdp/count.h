/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an answer is counted in a struct volley_answers, by driver and engines alike. Each answer
 * is counted once in each of its arrays, so the sum of each is the number of answers.
 */
#ifndef VOLLEY_XDP_COUNT_H
#define VOLLEY_XDP_COUNT_H

#include "xdp/abi.h"

/* Types up to this one have the place of their number. */
#define COUNT_TYPE_DIRECT 112u
/* Types 251 (IXFR) to 257 (CAA) have the places behind these, and all others share
 * VOLLEY_COUNT_OTHER_TYPE. */
#define COUNT_TYPE_HIGH   251u
#define COUNT_TYPE_HIGH_N 7u

/* The place of a type, in host order: less than VOLLEY_COUNT_TYPES. */
static inline __attribute__((always_inline)) __u32 volley_count_type(__u32 qtype)
{
	if (qtype < COUNT_TYPE_DIRECT)
		return qtype;
	if (qtype - COUNT_TYPE_HIGH < COUNT_TYPE_HIGH_N)
		return qtype - COUNT_TYPE_HIGH + COUNT_TYPE_DIRECT;
	return VOLLEY_COUNT_OTHER_TYPE;
}

_Static_assert(COUNT_TYPE_DIRECT + COUNT_TYPE_HIGH_N == VOLLEY_COUNT_OTHER_TYPE, "the last place");

#endif
