// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fill IF N: attaches the XDP program to IF, an interface of a lab, with a cache for N answers,
 * fills it (stock.h) and exits. The program goes on answering from the cache without a daemon.
 * Prints one JSON object: the cache's sizes.
 */
#include <jansson.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "broker/program.h"
#include "tests/perf/stock.h"

static const struct stock_kind *const kind = &stock_kinds[0];

static int attach(struct program **program, struct object_maps *maps, const char *ifname,
		  uint32_t n)
{
	static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x53 };
	struct program_want want = { .ifname = ifname,
				     .native_only = true,
				     .driver_answers = true };
	char sentence[512] = "";
	int err = cache_sizes_plan(&want.sizes, stock_budget(kind, n), 0);

	if (!err)
		err = program_open(program, maps, &want, sentence, sizeof(sentence));
	if (err) {
		fprintf(stderr, "fill: %s\n", *sentence ? sentence : err_text(err));
		return err;
	}
	program_set_mac(*program, mac);
	return 0;
}

static void print_stats(struct cache *cache)
{
	struct cache_stats stats;
	json_t *all;

	cache_stats_read(cache, &stats);
	all = json_pack("{s:I, s:I, s:I}", "entries", (json_int_t)stats.n_entries, "used_bytes",
			(json_int_t)stats.used_bytes, "maps_bytes",
			(json_int_t)stats.sizes.total_bytes);
	json_dumpf(all, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(all);
}

static int fill(const struct object_maps *maps, uint32_t n)
{
	struct cache *cache = NULL;
	bool adopted;
	int err = cache_new(&cache, &maps->memory, &adopted);

	if (!err) {
		stock_configure(cache_state(cache));
		err = stock_fill(cache, kind, n);
	}
	if (err)
		fprintf(stderr, "fill: %s\n", err_text(err));
	else
		print_stats(cache);
	cache_free(cache);
	return err;
}

int main(int argc, char **argv)
{
	uint32_t n = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	struct program *program = NULL;
	struct object_maps maps = { 0 };
	int err;

	if (!n || n > FRONT_NUMBERS) {
		fprintf(stderr, "usage: fill IF N\n");
		return 2;
	}
	rcu_register_thread();
	err = attach(&program, &maps, argv[1], n);
	if (!err)
		err = fill(&maps, n);
	program_close(program, !err);
	object_maps_close(&maps);
	rcu_unregister_thread();
	return err ? 1 : 0;
}
