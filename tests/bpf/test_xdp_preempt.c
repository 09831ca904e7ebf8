// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of the XDP program that preempt each other on one CPU, as they may on a PREEMPT_RT kernel:
 *
 *   CPU 0   asker  asker  asker     SCHED_OTHER, one after the other, each as fast as it can
 *             ▲ preempted by
 *           asker                   wakes every 50 us; SCHED_FIFO on a PREEMPT_RT kernel
 *
 * Each asker has its own question, and knows the octets of the answer. With rooms (realtime is set)
 * no answer may differ, and the counters must be exact. Without rooms the same holds on an ordinary
 * kernel; on a real-time kernel the test only counts and prints wrong answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/kernel.h"
#include "tests/lib/must.h"
#include "tests/lib/xdpworld.h"

#define N_ASKERS  4
#define SECONDS   3
#define PERIOD_NS 50000

static struct asker {
	pthread_t thread;
	bool is_urgent;
	int prog_fd;
	uint8_t frame[PKT_FRAME_MAX], want[PKT_FRAME_MAX];
	size_t n, want_bytes;
	uint64_t until_ns;
	uint64_t n_asked, n_wrong, n_passed;
} askers[N_ASKERS];

static const char *const names[N_ASKERS] = { "a.example", "a.longer.name.of.five.example",
					     "the.third.example", "x.y.z.example" };

static int ask(const struct asker *a, uint8_t *out, size_t *n)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = a->frame, .data_size_in = (__u32)a->n,
		    .data_out = out, .data_size_out = PKT_FRAME_MAX);

	MUST(!bpf_prog_test_run_opts(a->prog_fd, &run));
	*n = run.data_size_out;
	return (int)run.retval;
}

static void prepare(struct xdp_world *w, struct asker *a, int number)
{
	static uint8_t dns[PKT_FRAME_MAX];
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask q = { .name = name, .qtype = 1, .id = (uint16_t)(number + 1) };
	struct entry e = { .name = name };

	*a = (struct asker){ .is_urgent = !number, .prog_fd = w->maps.prog_fd };
	e.full_bytes = e.short_bytes = (uint16_t)(30 + 20 * number);
	pkt_name(name, names[number]);
	a->n = pkt_build(a->frame, number % 2 ? &pkt_ipv6 : &pkt_ipv4, dns, pkt_ask(dns, &q));
	xdp_world_put(w, &e);
	assert_int_equal(ask(a, a->want, &a->want_bytes), XDP_TX);
}

static void ask_once(struct asker *a, uint8_t *out)
{
	size_t n;
	int action = ask(a, out, &n);

	a->n_asked++;
	if (action == XDP_PASS && n == a->n && !memcmp(out, a->frame, n))
		a->n_passed++;
	else if (action != XDP_TX || n != a->want_bytes || memcmp(out, a->want, n) != 0)
		a->n_wrong++;
}

static void *ask_on(void *arg)
{
	struct timespec period = { .tv_nsec = PERIOD_NS };
	struct asker *a = arg;
	uint8_t *out = malloc(PKT_FRAME_MAX);

	MUST(out);
	while (clock_ns() < a->until_ns) {
		ask_once(a, out);
		if (a->is_urgent)
			nanosleep(&period, NULL);
	}
	free(out);
	return NULL;
}

/* Starts all on the first CPU that we may use. An ordinary kernel lets no thread preempt a run, so
 * there the urgent one runs like the others: no test is real-time without need. */
static void start(struct asker *a)
{
	struct sched_param urgent = { .sched_priority = 50 };
	pthread_attr_t attr;
	cpu_set_t cpus, one;
	size_t cpu = 0;

	MUST(!sched_getaffinity(0, sizeof(cpus), &cpus));
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	MUST(!pthread_attr_init(&attr) && !pthread_attr_setaffinity_np(&attr, sizeof(one), &one));
	MUST(!pthread_create(&a->thread, &attr, ask_on, a));
	if (a->is_urgent && kernel_is_realtime())
		(void)pthread_setschedparam(a->thread, SCHED_FIFO, &urgent);
	pthread_attr_destroy(&attr);
}

/* The sum of all askers in the first one. */
static void ask_all(struct xdp_world *w, struct volley_cpu *before, struct volley_cpu *after)
{
	uint64_t until_ns;
	int i;

	for (i = 0; i < N_ASKERS; i++)
		prepare(w, &askers[i], i);
	assert_int_equal(bpfmaps_counters(&w->maps, before), 0);
	until_ns = clock_ns() + SECONDS * CLOCK_NS_PER_S;
	for (i = 0; i < N_ASKERS; i++) {
		askers[i].until_ns = until_ns;
		start(&askers[i]);
	}
	for (i = 0; i < N_ASKERS; i++) {
		MUST(!pthread_join(askers[i].thread, NULL));
		if (i) {
			askers[0].n_asked += askers[i].n_asked;
			askers[0].n_wrong += askers[i].n_wrong;
			askers[0].n_passed += askers[i].n_passed;
		}
	}
	assert_int_equal(bpfmaps_counters(&w->maps, after), 0);
}

static void run(struct xdp_world *w, bool has_rooms)
{
	struct volley_cpu before, after;
	const struct asker *sum = &askers[0];
	uint64_t n_counted, n_hits;

	w->maps.memory.state->realtime = has_rooms;
	ask_all(w, &before, &after);
	n_counted = after.received - before.received;
	n_hits = after.reasons[VOLLEY_HIT_FULL] - before.reasons[VOLLEY_HIT_FULL];
	print_message(
		"%s: %llu queries, %llu answered wrong, %llu found no room; counted %llu, answered "
		"%llu\n",
		has_rooms ? "with rooms" : "without", (unsigned long long)sum->n_asked,
		(unsigned long long)sum->n_wrong, (unsigned long long)sum->n_passed,
		(unsigned long long)n_counted, (unsigned long long)n_hits);
	if (!has_rooms && kernel_is_realtime())
		return;
	assert_int_equal(sum->n_wrong, 0);
	assert_int_equal(n_counted, sum->n_asked - sum->n_passed);
	assert_int_equal(n_hits, n_counted);
}

static void test_without_rooms(void **state)
{
	run(xdp_world_take(state), false);
}

static void test_with_rooms(void **state)
{
	run(xdp_world_take(state), true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_rooms),
		cmocka_unit_test(test_with_rooms),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
