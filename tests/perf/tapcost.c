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
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "broker/maps.h"
#include "daemon/live.h"
#include "tests/lib/draw.h"
#include "tests/perf/hitcost.h"

#define FILL (2 * TAP_RINGS_BYTES / 256) /* hits that fill a ring */

enum target { REFLECT, OFF, AS_TOP, IN_256, IN_16, EACH, FULL, N_TARGETS };
static const char *const names[N_TARGETS] = { "reflect", "off",  "as top", "1 in 256",
					      "1 in 16", "each", "full" };
static uint32_t every[N_TARGETS] = { 0, 0, 0, 256, 16, 1, 1 };

struct bench {
	struct hitcost hit;
	struct tap *tap;
	struct tap_rings *rings;
	bool is_left; /* no reader; atomic */
};

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

static void measure(struct bench *b, enum target target, unsigned int round)
{
	__atomic_store_n(&b->is_left, target == FULL, __ATOMIC_RELAXED);
	b->hit.maps.memory.state->tap_until_s = VOLLEY_NEVER;
	b->hit.maps.memory.state->tap_every = every[target];
	hitcost_run(&b->hit, target == REFLECT, target == FULL ? FILL : b->hit.repeat / 8);
	b->hit.ns[target][round] = hitcost_run(&b->hit, target == REFLECT, b->hit.repeat);
	if (target == OFF)
		every[AS_TOP] = live_every(1e9 / b->hit.ns[OFF][round]);
	b->hit.maps.memory.state->tap_every = 0;
}

static double share(const struct bench *b, enum target target)
{
	double sum[2] = { 0 };

	for (unsigned int i = 0; i < b->hit.rounds; i++) {
		sum[0] += b->hit.ns[OFF][i];
		sum[1] += b->hit.ns[target][i];
	}
	return sum[0] / sum[1];
}

static void bench_family(struct bench *b)
{
	hitcost_open_front(&b->hit);
	for (unsigned int round = 0; round < b->hit.rounds; round++)
		for (int target = 0; target < N_TARGETS; target++)
			measure(b, (enum target)target, round);
	printf("%s, off above the reflector: %d ns\n", b->hit.ipv6 ? "IPv6" : "IPv4",
	       hitcost_above(&b->hit, OFF, REFLECT, 2));
	for (enum target target = AS_TOP; target < N_TARGETS; target++)
		printf("  %-8s above off: %d ns (%d to %d), %.3f of the hits\n", names[target],
		       hitcost_above(&b->hit, target, OFF, 2),
		       hitcost_above(&b->hit, target, OFF, 1),
		       hitcost_above(&b->hit, target, OFF, 3), share(b, target));
	front_bpf__destroy(b->hit.front);
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
			b->hit.repeat = n;
		else if (c == 'n')
			b->hit.rounds = n < HITCOST_ROUNDS_CAP ? n : HITCOST_ROUNDS_CAP;
	}
}

int main(int argc, char **argv)
{
	static struct bench b = { .hit = { .repeat = 200000, .rounds = 31 } };
	pthread_t thread;

	read_options(&b, argc, argv);
	hitcost_open(&b.hit);
	must(!tap_new(&b.tap), "memory");
	must(!maps_make_rings(&b.rings, bpfmaps_map_fd(&b.hit.maps, "volley_taps")), "rings");
	must(!pthread_create(&thread, NULL, drain, &b), "a thread");
	for (int family = 0; family < 2; family++) {
		b.hit.ipv6 = family;
		bench_family(&b);
	}
	return 0;
}
