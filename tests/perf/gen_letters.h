/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels that no query had before, made from the query's number. The number is mixed so that each
 * has a word of its own, and four bits of the word make a letter: no label comes twice in 2^32
 * queries.
 */
#ifndef VOLLEY_TESTS_PERF_GEN_LETTERS_H
#define VOLLEY_TESTS_PERF_GEN_LETTERS_H

#include <linux/types.h>

/* Another word for each number: each step can be undone. The constants are of hash-prospector
 * (Wellons). */
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
