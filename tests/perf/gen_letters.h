/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels that no earlier query had, made from the query's number. A bijection maps the number to a
 * word, and four bits of the word make a letter: so no label repeats in 2^32 queries.
 */
#ifndef VOLLEY_TESTS_PERF_GEN_LETTERS_H
#define VOLLEY_TESTS_PERF_GEN_LETTERS_H

#include <linux/types.h>

/* A bijection: each step can be undone. The constants are from hash-prospector (Wellons). */
static inline __attribute__((always_inline)) __u32 gen_mix(__u32 number)
{
	number = (number ^ number >> 16) * 0x21f0aaadu;
	number = (number ^ number >> 15) * 0xd35a2d97u;
	return number ^ number >> 15;
}

/* Four bits of the word for each letter, from a to p. */
static inline __attribute__((always_inline)) __u64 gen_letters(__u32 number)
{
	__u64 word = gen_mix(number);

	word = (word | word << 16) & 0x0000ffff0000ffffull;
	word = (word | word << 8) & 0x00ff00ff00ff00ffull;
	word = (word | word << 4) & 0x0f0f0f0f0f0f0f0full;
	return word + 0x6161616161616161ull;
}

#endif
