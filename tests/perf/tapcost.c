// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tapcost [--repeat N] [--rounds N]
 *
 * The cost of taps (xdp/tap.h) for a hit: ns per packet by BPF_PROG_TEST_RUN, for random names and
 * clients (front.bpf.c). Each round measures in turn: the reflector; taps off; with another thread
 * that reads the rings, as few hits as volleyctl top draws at this rate, one hit in 256, one in 16,
 * and each hit; each hit with full rings, as a killed daemon leaves them. It prints medians of the
 * differences within a round with their quartiles, and hits per second relative to taps off.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "broker/maps.h"
#include "cache/cache.h"
#include "daemon/live.h"
#include "tests/lib/bpfmaps.h"
#include "tests/lib/draw.h"
#include "tests/perf/front.h"
#include "tests/perf/query.h"
#include "tests/perf/stock.h"
#include "front.skel.h"
#include "reflect.skel.h"

#define ROUNDS_CAP 201
#define ENTRIES    10000u
#define FRAME_CAP  2048
#define FILL       (2 * TAP_RINGS_BYTES / 256) /* hits that fill a ring */

enum target { REFLECT, OFF, AS_TOP, IN_256, IN_16, EACH, FULL, N_TARGETS };
static const char *const names[N_TARGETS] = { "reflect", "off",  "as top", "1 in 256",
					      "1 in 16", "each", "full" };
static uint32_t every[N_TARGETS] = { 0, 0, 0, 256, 16, 1, 1 };

struct bench {
	struct bpfmaps maps;
	struct cache *cache;
	struct reflect_bpf *reflect;
	struct front_bpf *front;
	struct tap *tap;
	struct tap_rings *rings;
	uint32_t repeat;
	unsigned int rounds;
	bool ipv6;
	uint8_t frame[FRAME_CAP];
	size_t frame_bytes;
	uint32_t ns[N_TARGETS][ROUNDS_CAP];
	bool is_left; /* no reader; atomic */
};

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "tapcost: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reads the rings like the thread of tap/tap.c. */
static void *drain(void *arg)
{
	struct bench *b = arg;
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (;;) {
		if (!__atomic_load_n(&b->is_left, __ATOMIC_RELAXED))
			tap_rings_drain(b->rings, b->tap);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static void open_front(struct bench *b)
{
	static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x53 };
	uint8_t name[256];
	struct perf_query q = { .ipv6 = b->ipv6, .qtype = 1, .name = name, .from_port = 12345 };
	int fds[FRONT_TARGETS];

	stock_name(name, &stock_kinds[0], 0);
	memcpy(q.to_mac, mac, ETH_ALEN);
	memcpy(q.from_mac, mac, ETH_ALEN);
	if (b->ipv6)
		memcpy(q.to, (uint8_t[16]){ 0x20, 1, 0xd, 0xb8, [15] = 0x53 }, 16);
	else
		memcpy(q.to, (uint8_t[16]){ 192, 0, 2, 53 }, 16);
	q.from[0] = b->ipv6 ? 0x20 : 1;
	b->frame_bytes = query_frame(b->frame, FRONT_FRAME_MAX, &q);
	b->front = front_bpf__open();
	must(b->front != NULL, "front");
	b->front->rodata->config = (struct front_config){
		.frame_bytes = (uint32_t)b->frame_bytes,
		.name_offset = (uint32_t)query_dns_offset(b->ipv6) + 12,
		.tail_offset = (uint32_t)b->frame_bytes,
		.n = ENTRIES,
		.source_offset = b->ipv6 ? 22 : 26,
		.ipv6 = b->ipv6,
	};
	memcpy(b->front->data->frame, b->frame, b->frame_bytes);
	must(!front_bpf__load(b->front), "front");
	fds[0] = bpf_program__fd(b->front->progs.empty);
	fds[1] = bpf_program__fd(b->reflect->progs.reflect);
	fds[2] = b->maps.prog_fd;
	for (uint32_t i = 0; i < FRONT_TARGETS; i++)
		must(!bpf_map_update_elem(bpf_map__fd(b->front->maps.targets), &i, &fds[i],
					  BPF_ANY),
		     "targets");
}

static uint32_t run(struct bench *b, enum target target, uint32_t repeat)
{
	uint8_t out[FRAME_CAP];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = b->frame,
		    .data_size_in = (uint32_t)b->frame_bytes, .data_out = out,
		    .data_size_out = FRAME_CAP, .repeat = (int)repeat);
	const struct bpf_program *program = target == REFLECT ? b->front->progs.front_reflect :
								b->front->progs.front_volley;

	b->front->bss->home = 0;
	must(!bpf_prog_test_run_opts(bpf_program__fd(program), &opts), "a test run");
	must(opts.retval == XDP_TX, "it was not answered");
	return opts.duration;
}

static void measure(struct bench *b, enum target target, unsigned int round)
{
	__atomic_store_n(&b->is_left, target == FULL, __ATOMIC_RELAXED);
	b->maps.memory.state->tap_until_s = VOLLEY_NEVER;
	b->maps.memory.state->tap_every = every[target];
	run(b, target, target == FULL ? FILL : b->repeat / 8);
	b->ns[target][round] = run(b, target, b->repeat);
	if (target == OFF)
		every[AS_TOP] = live_every(1e9 / b->ns[OFF][round]);
	b->maps.memory.state->tap_every = 0;
}

static int compare(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* quarter: 1, 2 (the median) or 3. */
static int32_t above(const struct bench *b, enum target target, enum target base,
		     unsigned int quarter)
{
	int32_t values[ROUNDS_CAP];

	for (unsigned int i = 0; i < b->rounds; i++)
		values[i] = (int32_t)b->ns[target][i] - (int32_t)b->ns[base][i];
	qsort(values, b->rounds, sizeof(values[0]), compare);
	return values[b->rounds * quarter / 4];
}

static double share(const struct bench *b, enum target target)
{
	double sum[2] = { 0 };

	for (unsigned int i = 0; i < b->rounds; i++) {
		sum[0] += b->ns[OFF][i];
		sum[1] += b->ns[target][i];
	}
	return sum[0] / sum[1];
}

static void bench_family(struct bench *b)
{
	open_front(b);
	for (unsigned int round = 0; round < b->rounds; round++)
		for (int target = 0; target < N_TARGETS; target++)
			measure(b, (enum target)target, round);
	printf("%s, off above the reflector: %d ns\n", b->ipv6 ? "IPv6" : "IPv4",
	       above(b, OFF, REFLECT, 2));
	for (enum target target = AS_TOP; target < N_TARGETS; target++)
		printf("  %-8s above off: %d ns (%d to %d), %.3f of the hits\n", names[target],
		       above(b, target, OFF, 2), above(b, target, OFF, 1), above(b, target, OFF, 3),
		       share(b, target));
	front_bpf__destroy(b->front);
}

static void read_options(struct bench *b, int argc, char **argv)
{
	static const struct option options[] = { { "repeat", required_argument, NULL, 'r' },
						 { "rounds", required_argument, NULL, 'n' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint32_t n = optarg ? (uint32_t)atoi(optarg) : 0;

		must(n > 0, "a number is wanted");
		if (c == 'r')
			b->repeat = n;
		else if (c == 'n')
			b->rounds = n < ROUNDS_CAP ? n : ROUNDS_CAP;
	}
}

int main(int argc, char **argv)
{
	static struct bench b = { .repeat = 200000, .rounds = 31 };
	pthread_t thread;
	struct cache_sizes sizes;
	bool adopted;

	read_options(&b, argc, argv);
	must(!cache_sizes_plan(&sizes, stock_budget(&stock_kinds[0], ENTRIES), 0), "sizes");
	must(!bpfmaps_open(&b.maps, &sizes), "the program");
	must(!cache_new(&b.cache, &b.maps.memory, &adopted), "the cache");
	stock_configure(cache_state(b.cache));
	must(!stock_fill(b.cache, &stock_kinds[0], ENTRIES), "answers");
	b.reflect = reflect_bpf__open_and_load();
	must(b.reflect != NULL, "the reflector");
	must(!tap_new(&b.tap), "memory");
	must(!maps_make_rings(&b.rings, bpfmaps_map_fd(&b.maps, "volley_taps")), "rings");
	must(!pthread_create(&thread, NULL, drain, &b), "a thread");
	for (int family = 0; family < 2; family++) {
		b.ipv6 = family;
		bench_family(&b);
	}
	return 0;
}
