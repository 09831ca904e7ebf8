// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/* The benchmarks' generator makes no label twice: each label leads back to its number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/perf/gen_letters.h"

#define STRIDE 4099 /* a prime: the numbers cover all 32 bits and have all endings */

/* Divides modulo 2^32 by an odd number, by Newton's method. */
static uint32_t divided(uint32_t product, uint32_t odd)
{
	uint32_t inverse = odd; /* correct in 3 bits; each step doubles them */

	for (int i = 0; i < 4; i++)
		inverse *= 2 - odd * inverse;
	return product * inverse;
}

static uint32_t unmixed(uint32_t word)
{
	word = divided(word ^ word >> 15 ^ word >> 30, 0xd35a2d97u);
	word = divided(word ^ word >> 15 ^ word >> 30, 0x21f0aaadu);
	return word ^ word >> 16;
}

static void test_each_number_has_a_word_of_its_own(void **state)
{
	(void)state;
	for (uint64_t number = 0; number <= UINT32_MAX; number += STRIDE)
		assert_int_equal(unmixed(gen_mix((uint32_t)number)), number);
}

/* The lowest four bits are the letter that is first in memory. */
static void test_letters_tell_the_whole_word(void **state)
{
	(void)state;
	for (uint64_t number = 0; number <= UINT32_MAX; number += STRIDE) {
		uint64_t letters = gen_letters((uint32_t)number);
		uint32_t word = 0;

		for (int i = 0; i < 8; i++) {
			uint32_t letter = (uint32_t)(letters >> 8 * i & 0xff);

			assert_in_range(letter, 'a', 'p');
			word |= (letter - 'a') << 4 * i;
		}
		assert_int_equal(word, gen_mix((uint32_t)number));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_number_has_a_word_of_its_own),
		cmocka_unit_test(test_letters_tell_the_whole_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
