/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares xdp/nsec3.h, built natively, with zone/nsec3_chain.h: names of all lengths, each of
 * their suffixes, salts of all lengths. The memory outside the message has other octets.
 */
#include "xdp/native.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "xdp/nsec3.h"
#include "zone/nsec3_chain.h"

#include "tests/lib/draw.h" /* last: its seed has the name of parameters above */

static struct volley_cpu cpu;

/* Labels of up to `label_max` octets, n octets in all, with the root's. */
static void random_name(uint8_t *name, unsigned int n, unsigned int label_max)
{
	unsigned int at = 0;

	while (n - at > 1) {
		unsigned int left = n - at - 2; /* without its length and the root */
		unsigned int label = 1 + draw(label_max);

		if (label > left)
			label = left;
		else if (label + 1 == left) /* else one octet would be left, which is no label */
			label = label > 1 ? label - 1 : label + 1;
		name[at++] = (uint8_t)label;
		while (label--)
			name[at++] = (uint8_t)draw(256);
	}
	name[at] = 0;
}

static uint64_t point_of(const struct nsec3_params *params, const uint8_t *name)
{
	struct nsec3_label hash;
	uint64_t point = 0;

	nsec3_hash(params, name, &hash);
	for (unsigned int i = 1; i <= 13; i++) {
		uint8_t c = hash.label[i];
		unsigned int digit = c >= 'a' ? c - 'a' + 10u : c - 48u;

		point = i < 13 ? point << 5 | digit : point << 4 | digit >> 1;
	}
	return point;
}

/* Each suffix of a name of n octets. */
static void check_name(unsigned int n, unsigned int salt_bytes)
{
	struct nsec3_params params = { .salt_bytes = (uint8_t)salt_bytes };
	uint8_t *name = (uint8_t *)&cpu.folded[1];
	unsigned int from = 0;

	memset(&cpu, 0xa5, sizeof(cpu));
	random_name(name, n, 1 + draw(63));
	for (unsigned int i = 0; i < salt_bytes; i++)
		params.salt[i] = (uint8_t)draw(256);
	cpu.name_bytes = n;
	cpu.nsec3_salt = 0;
	memcpy(&cpu.nsec3_salt, params.salt, salt_bytes);
	cpu.nsec3_salt_bytes = salt_bytes;
	for (;;) {
		assert_int_equal(nsec3_point(&cpu, from), 0);
		if (cpu.interval_point != point_of(&params, name + from))
			fail_msg("%u octets, %u of salt", n - from, salt_bytes);
		if (!name[from])
			break;
		from += name[from] + 1u;
	}
	assert_int_equal(cpu.samples[0], 0xa5a5a5a5a5a5a5a5); /* the memory behind the message */
	assert_int_equal(cpu.name_bytes, n);
}

static void all_lengths(void **state)
{
	(void)state;
	seed = 5;
	for (unsigned int n = 1; n <= 255; n++)
		for (unsigned int salt = 0; n != 2 && salt <= 8; salt++)
			check_name(n, salt);
}

static void what_is_refused(void **state)
{
	(void)state;
	memset(&cpu, 0, sizeof(cpu));
	cpu.name_bytes = 1;
	assert_int_equal(nsec3_point(&cpu, 0), 0);
	assert_int_equal(nsec3_point(&cpu, 1), 1);
	assert_int_equal(nsec3_point(&cpu, UINT32_MAX), 1);
	cpu.nsec3_salt_bytes = 9;
	assert_int_equal(nsec3_point(&cpu, 0), 1);
	cpu.nsec3_salt_bytes = UINT32_MAX;
	assert_int_equal(nsec3_point(&cpu, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_lengths),
		cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
