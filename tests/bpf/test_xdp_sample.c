/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hits that the XDP program notes: each one, if so configured, else one of 256 at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <sched.h>
#include <unistd.h>

#include "base/page.h"
#include "tests/lib/must.h"
#include "tests/lib/xdpworld.h"

#define N_RUNS 60000u

static uint8_t dns[PKT_FRAME_MAX];

struct asked {
	uint8_t frame[PKT_FRAME_MAX];
	size_t n;
	uint64_t hash;
};

static void make(struct xdp_world *w, struct asked *a, const char *text, bool is_cached)
{
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = name, .qtype = 1 };
	struct entry e = { .name = name, .full_bytes = 30, .short_bytes = 30 };

	pkt_name(name, text);
	a->n = pkt_build(a->frame, &pkt_ipv4, dns, pkt_ask(dns, &ask));
	if (is_cached)
		a->hash = xdp_world_put(w, &e)->hash;
}

/* Not by xdp_world_run(), which checks every counter each time. */
static void run(const struct xdp_world *w, const struct asked *a)
{
	static uint8_t out[PKT_FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = a->frame, .data_size_in = (__u32)a->n,
		    .data_out = out, .data_size_out = sizeof(out));

	assert_int_equal(bpf_prog_test_run_opts(w->maps.prog_fd, &opts), 0);
}

/* The samples of this CPU. */
static void look(const struct xdp_world *w, struct volley_cpu *cpu)
{
	int n_cpus = libbpf_num_possible_cpus();
	struct volley_cpu *cpus = calloc((size_t)n_cpus, sizeof(*cpus));
	const __u32 zero = 0;

	assert_non_null(cpus);
	assert_int_equal(bpf_map_lookup_elem(bpfmaps_map_fd(&w->maps, "volley_cpu"), &zero, cpus),
			 0);
	*cpu = cpus[sched_getcpu()];
	free(cpus);
}

/* A test run uses the CPU of the caller, so all samples are in one CPU's ring. */
static void stay(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)sched_getcpu(), &cpus);
	MUST(!sched_setaffinity(0, sizeof(cpus), &cpus));
}

/* Runs until the gap that was drawn before is over. */
static void use_up_gap(const struct xdp_world *w, const struct asked *a, struct volley_cpu *cpu)
{
	for (uint32_t i = 0; i <= VOLLEY_SAMPLE_GAP; i++)
		run(w, a);
	look(w, cpu);
}

static void test_every_hit(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct asked hit, other, miss;
	struct volley_cpu before, after;

	stay();
	make(w, &hit, "www.example", true);
	make(w, &other, "other.example", true);
	make(w, &miss, "miss.example", false);
	w->maps.link->finer = VOLLEY_SAMPLE_FINEST;
	use_up_gap(w, &hit, &before);
	for (int i = 0; i < 5; i++) {
		run(w, &hit);
		run(w, &miss);
	}
	run(w, &other);
	look(w, &after);
	assert_int_equal(after.n_samples - before.n_samples, 6);
	for (uint32_t i = 1; i <= 6; i++)
		assert_int_equal(after.samples[(after.n_samples - i) % VOLLEY_SAMPLES],
				 i == 1 ? other.hash : hit.hash);
}

/* Three of four queries are for one name, in a fixed order; the samples agree within 5 standard
 * deviations. */
static void test_drawn(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_cpu before, after;
	struct asked often, seldom;
	uint32_t n, n_often = 0;

	stay();
	make(w, &often, "often.example", true);
	make(w, &seldom, "seldom.example", true);
	w->maps.link->finer = 0;
	use_up_gap(w, &often, &before);
	for (uint32_t i = 0; i < N_RUNS; i++)
		run(w, i % 4 ? &often : &seldom);
	look(w, &after);
	n = after.n_samples - before.n_samples;
	assert_in_range(n, N_RUNS / 257 - 60, N_RUNS / 257 + 60);
	n = n < VOLLEY_SAMPLES ? n : VOLLEY_SAMPLES;
	for (uint32_t i = 1; i <= n; i++)
		n_often += after.samples[(after.n_samples - i) % VOLLEY_SAMPLES] == often.hash;
	assert_in_range(n_often, n * 60 / 100, n * 90 / 100);
}

/* One ring of the smallest size for all processors, which nobody reads. */
static int put_rings(const struct xdp_world *w)
{
	int ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (__u32)page_bytes(), NULL);
	int taps = bpfmaps_map_fd(&w->maps, "volley_taps");

	assert_true(ring >= 0);
	for (__u32 slot = 0; slot < VOLLEY_TAP_RINGS; slot++)
		assert_int_equal(bpf_map_update_elem(taps, &slot, &ring, BPF_ANY), 0);
	return ring;
}

/* How many of n hits the full ring has lost. */
static uint64_t taps_lost(const struct xdp_world *w, const struct asked *a, size_t n)
{
	struct volley_cpu before, after;

	assert_int_equal(bpfmaps_counters(&w->maps, &before), 0);
	for (size_t i = 0; i < n; i++)
		run(w, a);
	assert_int_equal(bpfmaps_counters(&w->maps, &after), 0);
	return after.taps_lost - before.taps_lost;
}

/* After the last heartbeat of a daemon that was killed, no hit is reported to its rings. */
static void test_taps_end_with_the_daemon(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_state *s = w->maps.memory.state;
	const size_t n = page_bytes() / 40; /* twice as many as the ring has room for */
	struct asked a;
	int ring = put_rings(w);

	make(w, &a, "tap.example", true);
	s->tap_until_s = VOLLEY_NEVER;
	assert_int_equal(taps_lost(w, &a, n), 0); /* taps are off */
	s->tap_every = 1;
	assert_in_range(taps_lost(w, &a, n), n / 2, n - 1);
	assert_int_equal(taps_lost(w, &a, n), n);
	s->tap_until_s = 1;
	assert_int_equal(taps_lost(w, &a, n), 0);
	s->tap_every = 0;
	close(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_hit),
		cmocka_unit_test(test_drawn),
		cmocka_unit_test(test_taps_end_with_the_daemon),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
