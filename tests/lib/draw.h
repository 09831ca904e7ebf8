/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pseudo-random numbers from a seed that the test sets, so a failure can be repeated. */
#ifndef VOLLEY_TESTS_LIB_DRAW_H
#define VOLLEY_TESTS_LIB_DRAW_H

#include <stdint.h>

static uint64_t seed;

/* A number from 0 to below - 1. The generator of Knuth's MMIX; its high bits are the better
 * ones. */
static inline unsigned draw(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

#endif
