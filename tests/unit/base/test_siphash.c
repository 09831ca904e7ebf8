/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/siphash.h"

/* From the reference implementation (vectors_sip64): key 00..0f, message 00 01 02 ... of the given
 * length. Length 15 is the worked example of the paper's appendix A. */
static const struct {
	size_t n_bytes;
	uint64_t hash;
} vectors[] = {
	{ 0, 0x726fdb47dd0e0e31 }, { 1, 0x74f839c593dc67fd },  { 2, 0x0d6c8009d9a94f5a },
	{ 3, 0x85676696d7fb7e2d }, { 4, 0xcf2794e0277187b7 },  { 5, 0x18765564cd99a68d },
	{ 6, 0xcbc9466e58fee3ce }, { 7, 0xab0200f58b01d137 },  { 8, 0x93f5f5799a932462 },
	{ 9, 0x9e0082df0ba9e4b0 }, { 15, 0xa129ca6149be45e5 }, { 63, 0x958a324ceb064572 },
};

static void test_vectors(void **state)
{
	uint8_t key[SIPHASH_KEY_BYTES], message[64];

	(void)state;
	for (uint8_t i = 0; i < sizeof(message); i++)
		message[i] = i;
	for (uint8_t i = 0; i < sizeof(key); i++)
		key[i] = i;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		assert_int_equal(siphash24(key, message, vectors[i].n_bytes), vectors[i].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
	};

	return cmocka_run_group_tests_name("siphash", tests, NULL, NULL);
}
