/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of xdpcost. */
#ifndef VOLLEY_TESTS_PERF_XDPCOST_OPTIONS_H
#define VOLLEY_TESTS_PERF_XDPCOST_OPTIONS_H

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_CAP  101
#define ENTRIES_CAP 16

struct options {
	uint32_t entries[ENTRIES_CAP];
	unsigned int n_entries;
	unsigned int n_kinds; /* the first of stock_kinds */
	unsigned int n_tails; /* the first of enum tail */
	uint64_t cache_bytes; /* 0: as much as they need */
	uint32_t repeat;
	unsigned int rounds;
	int cpu;
	const char *json;
};

/* clang-format off */
#define OPTIONS_INIT {                                                                       \
	.entries = { 1000, 1000000, 4000000 }, .n_entries = 3, .n_kinds = UINT32_MAX,        \
	.n_tails = UINT32_MAX, .repeat = 20000, .rounds = 51, .cpu = 1 }
/* clang-format on */

static inline int parse_entries(struct options *o, char *text)
{
	o->n_entries = 0;
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		if (o->n_entries == ENTRIES_CAP || strtoul(word, NULL, 10) == 0)
			return -EINVAL;
		o->entries[o->n_entries++] = (uint32_t)strtoul(word, NULL, 10);
	}
	return o->n_entries ? 0 : -EINVAL;
}

static inline int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "entries", required_argument, NULL, 'e' },
		{ "kinds", required_argument, NULL, 'k' },
		{ "tails", required_argument, NULL, 't' },
		{ "mib", required_argument, NULL, 'm' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "rounds", required_argument, NULL, 'n' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", required_argument, NULL, 'j' },
		{ 0 },
	};
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'e':
			err = parse_entries(o, optarg);
			break;
		case 'k':
			o->n_kinds = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 't':
			o->n_tails = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'm':
			o->cache_bytes = strtoull(optarg, NULL, 10) << 20;
			break;
		case 'r':
			o->repeat = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'n':
			o->rounds = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'c':
			o->cpu = atoi(optarg);
			break;
		case 'j':
			o->json = optarg;
			break;
		default:
			err = -EINVAL;
		}
	}
	if (!o->repeat || !o->rounds || o->rounds > ROUNDS_CAP || o->repeat > 1u << 30)
		err = -EINVAL;
	return optind == argc ? err : -EINVAL;
}

#endif
