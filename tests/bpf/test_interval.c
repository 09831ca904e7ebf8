/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares xdp/interval.h, built natively, with the search of userspace
 * (shield/interval_regions.h): in regions of few and many points, at, before and after each point;
 * with points that are added later; with damaged heads.
 */
#include "xdp/native.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "xdp/abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct volley_names_line);
} volley_names SEC(".maps");

#include "xdp/interval.h"

#include "shield/interval_regions.h"
#include "tests/lib/draw.h" /* last: its seed has the name of parameters above */

#define LINES      512u
#define AT         3u
#define ID         9u
#define POINTS_MAX 400u
#define PER_LEAF   5u

static struct volley_names_line lines[LINES];
static struct volley_cpu cpu;
static uint64_t points[POINTS_MAX];

static struct volley_intervals_head *head(void)
{
	return (void *)&lines[AT];
}

/* Points with the same first octets, so that many lie next to each other. */
static void draw_points(unsigned int n)
{
	uint64_t point = (uint64_t)draw(200) << 56 | draw(1000);

	for (unsigned int i = 0; i < n; i++) {
		point += draw(3) ? 1 + draw(3) : (uint64_t)draw(1000) << 40;
		points[i] = point;
	}
}

static uint32_t lay_leaves(unsigned int n, uint32_t at)
{
	for (unsigned int i = 0; i < n; i++)
		lines[at + i / PER_LEAF].words[i % PER_LEAF] = points[i];
	return (n + PER_LEAF - 1) / PER_LEAF;
}

/* Writes a region as in the drawing of xdp/intervals.h. */
static void lay(unsigned int n)
{
	uint32_t counts[VOLLEY_INTERVALS_LEVELS] = { (n + PER_LEAF - 1) / PER_LEAF }, at = AT + 1;
	unsigned int n_levels = 1, span = 1;

	memset(lines, 0, sizeof(lines));
	for (; counts[n_levels - 1] > 1; n_levels++)
		counts[n_levels] = (counts[n_levels - 1] + 8) / 9;
	*head() = (struct volley_intervals_head){ .id = ID,
						  .n_levels = n_levels,
						  .kind = VOLLEY_INTERVALS_NSEC };
	for (unsigned int up = 0; up < n_levels; up++, at += counts[up - 1])
		head()->level_at[n_levels - 1 - up] = at;
	assert_true(at <= LINES);
	lay_leaves(n, head()->level_at[n_levels - 1]);
	for (unsigned int up = 1; up < n_levels; up++, span *= 9)
		for (unsigned int child = 0; child < counts[up] * 9; child++)
			if (child % 9)
				lines[head()->level_at[n_levels - 1 - up] + child / 9]
					.words[child % 9 - 1] =
					child < counts[up - 1] ? points[child * span * PER_LEAF] :
								 VOLLEY_INTERVALS_MARK;
}

/* The driver's result for a name of one label of 8 octets, which are its point. */
static int look(uint64_t point, uint32_t at, uint32_t id)
{
	uint8_t *name = (uint8_t *)&cpu.folded[1];

	memset(cpu.folded, 0, sizeof(cpu.folded));
	cpu.name_bytes = 10;
	cpu.unknown_at = 0;
	name[0] = 8;
	for (unsigned int i = 0; i < 8; i++)
		name[1 + i] = (uint8_t)(point >> (56 - 8 * i));
	cpu.interval = 0;
	return interval_look(&cpu, at, id);
}

static void check(uint64_t point)
{
	uint64_t start = 0;
	int is_uncertain = intervals_find(lines, LINES, AT, ID, point, &start),
	    said = look(point, AT, ID);

	if ((said >= 0) != (is_uncertain != 0) || (said < 0 && cpu.interval != start))
		fail_msg("point %016lx: driver %d, %016llx; userspace %d, %016lx", point, said,
			 cpu.interval, is_uncertain, start);
}

static void driver_finds_what_userspace_does(void **state)
{
	static const unsigned int counts[] = { 0, 1, 5, 6, 44, 45, 46, 100, 399, 400 };

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		unsigned int n = counts[round % (sizeof(counts) / sizeof(counts[0]))];

		draw_points(n);
		lay(n ? n : 1);
		for (unsigned int i = 0; i < n; i++) {
			check(points[i] - 1);
			check(points[i]);
			check(points[i] + 1);
		}
		check(0);
		check(1);
		check(~0ull);
	}
}

/* The largest point of the region below, or none. */
static void driver_finds_the_point_below(void **state)
{
	(void)state;
	draw_points(200);
	lay(200);
	for (unsigned int i = 1; i < 200; i++) {
		assert_true(look(points[i], AT, ID) >= 0);
		if (points[i] - points[i - 1] < 2)
			continue;
		assert_int_equal(look(points[i] - 1, AT, ID), -1);
		/* A leaf's separator is its first point: a name just below it lies in the leaf
		 * before. */
		assert_true(cpu.interval == points[i - 1]);
	}
}

static void only_the_region_with_this_id(void **state)
{
	(void)state;
	draw_points(6);
	lay(6);
	assert_int_equal(look(points[3] + 1, AT, ID),
			 points[3] + 1 == points[4] ? VOLLEY_UP_MAYBE : -1);
	assert_int_equal(look(points[5] + 1, AT, ID), -1);
	assert_true(look(points[5] + 1, AT, ID + 1) >= 0);
	assert_true(look(points[5] + 1, AT, 0) >= 0);
	assert_true(look(points[5] + 1, LINES, ID) >= 0);
	head()->id = 0;
	assert_true(look(points[5] + 1, AT, ID) >= 0);
	assert_true(look(points[5] + 1, AT, 0) >= 0);
	head()->id = ID;
	head()->kind = VOLLEY_INTERVALS_NONE;
	assert_true(look(points[5] + 1, AT, ID) >= 0);
}

/* Another salt gives another point; a salt that is too long for the driver gives none. */
static void salt_is_of_the_region(void **state)
{
	uint64_t plain;

	(void)state;
	draw_points(6);
	lay(6);
	head()->kind = VOLLEY_INTERVALS_NSEC3;
	assert_int_equal(look(1ull << 56, AT, ID), -1);
	plain = cpu.interval_point;
	head()->salt[0] = 1;
	head()->salt_bytes = 1;
	assert_int_equal(look(1ull << 56, AT, ID), -1);
	assert_true(cpu.interval_point != plain);
	head()->salt_bytes = VOLLEY_INTERVALS_SALT + 1;
	assert_true(look(1ull << 56, AT, ID) >= 0);
}

/* A new point, a mark, or another region after the look-up: its result is no longer valid. */
static void found_again(void **state)
{
	(void)state;
	draw_points(6);
	lay(6);
	for (unsigned int way = 0; way < 3; way++) {
		uint64_t point = points[5] + 10;
		__u64 *word;

		lay(6);
		assert_int_equal(look(point, AT, ID), -1);
		assert_int_equal(interval_again(&cpu, AT, ID), -1);
		word = &lines[cpu.interval_leaf].words[way == 2 ? 7 : 5];
		*word = way == 0 ? point : way == 1 ? point - 1 : VOLLEY_INTERVALS_MARK;
		assert_int_equal(interval_again(&cpu, AT, ID), VOLLEY_UP_MAYBE);
	}
	lay(6);
	assert_int_equal(look(points[5] + 10, AT, ID), -1);
	assert_int_equal(interval_again(&cpu, AT, ID), -1);
	head()->id = ID + 1;
	assert_int_equal(interval_again(&cpu, AT, ID), VOLLEY_UP_MAYBE);
	assert_int_equal(interval_again(&cpu, LINES, ID), VOLLEY_UP_MAYBE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(driver_finds_what_userspace_does),
		cmocka_unit_test(driver_finds_the_point_below),
		cmocka_unit_test(only_the_region_with_this_id),
		cmocka_unit_test(salt_is_of_the_region),
		cmocka_unit_test(found_again),
	};

	native_maps[0] = (struct native_map){ &volley_names, lines, sizeof(lines[0]), LINES, 0 };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
