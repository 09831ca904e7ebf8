/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hitratio [NAMES [PERCENT]]: prints a table of the hit ratios of the answer cache and of an exact
 * LRU with the same budget, for names by Zipf's law (10,000,000). The budget is 1 and 10 % of the
 * names, or PERCENT. It also prints the ratios with a flood: ten queries for each one, for names
 * that never repeat. One thread and no clock: the figures are the same on every machine.
 * docs/benchmarks-tables.md explains them.
 */
#include <stdio.h>

#include "tests/unit/cache/replay.h"

#define FLOODS 10u

/* In units of queries, as many as the budget has entries. */
#define BEFORE  16u /* until the cache is warm */
#define COUNTED 4u

static struct replay_ratios run(const struct replay_plan *like, bool warm, enum replay_flood kind,
				uint32_t floods)
{
	struct replay_plan plan = *like;

	plan.n_before = warm ? plan.n_before : 0;
	plan.kind = kind;
	plan.floods = floods;
	return replay(&plan);
}

/* "0.8070 -0.12": the ratio with the flood, and its change in points. */
static void print_flood(struct replay_ratios calm, struct replay_ratios flooded)
{
	printf(" %.4f %+6.2f |", flooded.ours, 100 * (flooded.ours - calm.ours));
}

static void print_floods(const struct replay_plan *plan, bool warm, struct replay_ratios calm)
{
	print_flood(calm, run(plan, warm, REPLAY_DENIALS, FLOODS));
	print_flood(calm, run(plan, warm, REPLAY_POSITIVE, FLOODS));
	fflush(stdout);
}

static void print_row(const struct replay_plan *plan, uint32_t percent)
{
	struct replay_ratios warm = run(plan, true, REPLAY_DENIALS, 0);
	struct replay_ratios cold = run(plan, false, REPLAY_DENIALS, 0);

	printf("| %.1f | %4u %% | %5.1f | %.4f | %.4f | %.3f |", plan->exponent, percent,
	       (double)plan->bytes / 1e6, warm.ours, warm.lru, warm.ours / warm.lru);
	print_floods(plan, true, warm);
	printf(" %.4f |", cold.ours);
	print_floods(plan, false, cold);
	putchar('\n');
}

int main(int argc, char **argv)
{
	uint32_t percents[] = { 1, 10 };
	int n_percents = argc > 2 ? 1 : 2;
	static const double exponents[] = { 0.8, 1.0, 1.2 };
	uint32_t n_names = argc > 1 ? (uint32_t)atoi(argv[1]) : 10000000;
	uint64_t all_bytes = replay_all_bytes(n_names);

	printf("|     | cache  |   MB | ours   |  LRU   | ratio | warm: denials  | positive       "
	       "| "
	       "cold   | denials        | positive       |\n");
	puts("| --: | -----: | ---: | -----: | -----: | ----: | -------------: | -------------: | "
	     "-----: | -------------: | -------------: |");
	if (argc > 2)
		percents[0] = (uint32_t)atoi(argv[2]);
	for (int p = 0; p < n_percents; p++) {
		uint64_t held = (uint64_t)n_names * percents[p] / 100;

		for (int x = 0; x < 3; x++)
			print_row(&(struct replay_plan){ .bytes = all_bytes / 100 * percents[p],
							 .n_names = n_names,
							 .exponent = exponents[x],
							 .n_before = BEFORE * held,
							 .n_counted = COUNTED * held },
				  percents[p]);
	}
	return 0;
}
