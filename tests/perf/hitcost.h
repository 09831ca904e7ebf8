/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a hit under several conditions, in ns per packet by BPF_PROG_TEST_RUN, for random
 * names and clients (front.bpf.c). Rounds measure the conditions in turn, so differences are taken
 * within a round. For programs that end at the first error.
 */
#ifndef VOLLEY_TESTS_PERF_HITCOST_H
#define VOLLEY_TESTS_PERF_HITCOST_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "tests/lib/bpfmaps.h"
#include "tests/perf/front.h"
#include "tests/perf/query.h"
#include "tests/perf/stock.h"
#include "front.skel.h"
#include "reflect.skel.h"

#define HITCOST_ROUNDS_CAP 201
#define HITCOST_CASES_CAP  8
#define HITCOST_ENTRIES    10000u
#define HITCOST_FRAME_CAP  2048

struct hitcost {
	struct bpfmaps maps;
	struct cache *cache;
	struct reflect_bpf *reflect;
	struct front_bpf *front;
	uint32_t repeat;
	unsigned int rounds; /* at most HITCOST_ROUNDS_CAP */
	bool ipv6;
	uint8_t frame[HITCOST_FRAME_CAP];
	size_t frame_bytes;
	uint32_t ns[HITCOST_CASES_CAP][HITCOST_ROUNDS_CAP];
};

static inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

/* Loads the programs, and fills the cache with answers. */
static inline void hitcost_open(struct hitcost *h)
{
	struct cache_sizes sizes;
	bool adopted;

	must(!cache_sizes_plan(&sizes, stock_budget(&stock_kinds[0], HITCOST_ENTRIES), 0), "sizes");
	must(!bpfmaps_open(&h->maps, &sizes), "the program");
	must(!cache_new(&h->cache, &h->maps.memory, &adopted), "the cache");
	stock_configure(cache_state(h->cache));
	must(!stock_fill(h->cache, &stock_kinds[0], HITCOST_ENTRIES), "answers");
	h->reflect = reflect_bpf__open_and_load();
	must(h->reflect != NULL, "the reflector");
}

static inline void hitcost_make_frame(struct hitcost *h)
{
	static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x53 };
	uint8_t name[256];
	struct perf_query q = { .ipv6 = h->ipv6, .qtype = 1, .name = name, .from_port = 12345 };

	stock_name(name, &stock_kinds[0], 0);
	memcpy(q.to_mac, mac, ETH_ALEN);
	memcpy(q.from_mac, mac, ETH_ALEN);
	if (h->ipv6)
		memcpy(q.to, (uint8_t[16]){ 0x20, 1, 0xd, 0xb8, [15] = 0x53 }, 16);
	else
		memcpy(q.to, (uint8_t[16]){ 192, 0, 2, 53 }, 16);
	q.from[0] = h->ipv6 ? 0x20 : 1;
	h->frame_bytes = query_frame(h->frame, FRONT_FRAME_MAX, &q);
}

/* Opens the program that asks, for the family h->ipv6. The caller ends with
 * front_bpf__destroy(h->front). */
static inline void hitcost_open_front(struct hitcost *h)
{
	int fds[FRONT_TARGETS];

	hitcost_make_frame(h);
	h->front = front_bpf__open();
	must(h->front != NULL, "front");
	h->front->rodata->config = (struct front_config){
		.frame_bytes = (uint32_t)h->frame_bytes,
		.name_offset = (uint32_t)query_dns_offset(h->ipv6) + 12,
		.tail_offset = (uint32_t)h->frame_bytes,
		.n = HITCOST_ENTRIES,
		.source_offset = h->ipv6 ? 22 : 26,
		.ipv6 = h->ipv6,
	};
	memcpy(h->front->data->frame, h->frame, h->frame_bytes);
	must(!front_bpf__load(h->front), "front");
	fds[0] = bpf_program__fd(h->front->progs.empty);
	fds[1] = bpf_program__fd(h->reflect->progs.reflect);
	fds[2] = h->maps.prog_fd;
	for (uint32_t i = 0; i < FRONT_TARGETS; i++)
		must(!bpf_map_update_elem(bpf_map__fd(h->front->maps.targets), &i, &fds[i],
					  BPF_ANY),
		     "targets");
}

/* ns of a packet; of the reflector's, or of the driver's program. */
static inline uint32_t hitcost_run(struct hitcost *h, bool reflects, uint32_t repeat)
{
	uint8_t out[HITCOST_FRAME_CAP];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = h->frame,
		    .data_size_in = (uint32_t)h->frame_bytes, .data_out = out,
		    .data_size_out = HITCOST_FRAME_CAP, .repeat = (int)repeat);
	const struct bpf_program *program = reflects ? h->front->progs.front_reflect :
						       h->front->progs.front_volley;

	h->front->bss->home = 0;
	must(!bpf_prog_test_run_opts(bpf_program__fd(program), &opts), "a test run");
	must(opts.retval == XDP_TX, "it was not answered");
	return opts.duration;
}

static inline int hitcost_compare(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* By how much one case is above another one: the quartile 1, 2 (the median) or 3 of the rounds. */
static inline int32_t hitcost_above(const struct hitcost *h, int which, int base,
				    unsigned int quarter)
{
	int32_t values[HITCOST_ROUNDS_CAP];

	for (unsigned int i = 0; i < h->rounds; i++)
		values[i] = (int32_t)h->ns[which][i] - (int32_t)h->ns[base][i];
	qsort(values, h->rounds, sizeof(values[0]), hitcost_compare);
	return values[h->rounds * quarter / 4];
}

#endif
