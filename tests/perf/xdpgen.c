// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xdpgen [options] IF QUERIES SECONDS RATE
 * xdpgen [options] --draw N IF SECONDS RATE
 * xdpgen [options] --fresh FIRST [--listed-every N] IF QUERIES SECONDS RATE
 * xdpgen [options] --random N/M [--first NUMBER] IF QUERIES SECONDS RATE
 * xdpgen --count IF
 *
 * A query generator inside the kernel: it sends a frame for each line of QUERIES (querylist.h) by
 * test runs on live frames, so one CPU sends millions a second. It counts and drops replies in XDP
 * on the same interface; at the end the former program is attached again. RATE is in queries per
 * second, 0: as fast as possible. Prints one JSON object.
 *
 *   --from-mac, --to-mac, --from, --to   addresses (default: those of scripts/lab.sh, IPv4)
 *   --no-edns                            queries without OPT, unless their line says otherwise
 *   --once                               the list from end to end, once; SECONDS is the limit
 *   --cpu N                              where it runs
 *   --draw N                             no list: each query's name is one of the N that fill.c
 *                                        puts into a cache, drawn at random, type A
 *   --fresh FIRST                        names that nobody has asked for, numbered from FIRST on,
 *                                        in the zone bench.test; every Nth query is of the list
 *   --random N/M                         of M queries of the list N get another first label, of
 *                                        eight letters from a to p, which no other query has. The
 *                                        list's first labels must have eight octets, too
 *   --first NUMBER                       of the first such label (0). A later run that begins
 *                                        behind the queries of the runs before it repeats no name
 *                                        of theirs
 *   --latency                            how long replies took: p50 and p99, above 67 ms wrong
 *   --burst N                            so many queries are let go at once (1, from 40,000 a
 *                                        second on 32)
 *   --echo                               counts what comes back without QR, too
 *   --count                              sends nothing: counts and drops replies until a signal,
 *                                        says "ready" on stderr when it does
 *
 * Runs only in a named network namespace (`ip netns`), for example of scripts/lab.sh: load must
 * never leave by an interface of the host.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <jansson.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/perf/front.h"
#include "tests/perf/gen.h"
#include "tests/perf/gen_result.h"
#include "tests/perf/labonly.h"
#include "tests/perf/pace.h" /* before the skeleton, which has one */
#include "tests/perf/querylist.h"
#include "tests/perf/xdpgen_options.h"
#include "gen.skel.h" /* after gen.h, whose struct it holds */

/* Frames of a test run at once, and pages in its pool: as in the ring of a card. */
#define BATCH       256
#define BURST_RATE  40000 /* from this rate on bursts have 32 queries */
#define BURST       32
#define SETTLE_US   100000 /* for the last replies */
#define COUNT_US    100000
#define REPEAT      (1 << 30)
#define ONCE_MORE_S 0.5 /* a new test run takes some hundred ms to begin, so rarely */

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	if (number != SIGALRM)
		stopped = 1;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- The queries ------------------------------------------------------------------------------ */

/* One's complement sum of all that the UDP checksum covers, octets as in memory. */
static uint32_t udp_sum(const uint8_t *frame, bool ipv6)
{
	const uint8_t *udp = frame + query_udp_offset(ipv6);
	uint16_t check;

	memcpy(&check, udp + 6, sizeof(check));
	return (uint16_t)~check;
}

/* 1: stored; 0: the line is not a query that fits. `base` has all that the line does not say. */
static int store(struct gen_query *to, const struct perf_query *base, const char *line)
{
	uint8_t wire[DNS_NAME_MAX];
	struct perf_query q = *base;

	if (querylist_parse(&q, wire, line))
		return 0;
	to->bytes = (__u32)query_frame(to->frame, GEN_FRAME_BYTES, &q);
	to->sum = to->bytes ? udp_sum(to->frame, q.ipv6) : 0;
	return to->bytes > 0;
}

/* Makes the frame into which labels are put; in its sum the label's octets are 0. */
static int make_template(const struct options *o, struct gen_query *to)
{
	size_t label_at = query_dns_offset(o->query.ipv6) + 12;

	if (!store(to, &o->query, "aaaaaaa.bench.test A"))
		return -EINVAL;
	to->sum += (uint16_t)~htons(
		(uint16_t)sum_fold(query_sum(to->frame + label_at, sizeof(uint64_t))));
	return 0;
}

/* Whether a random label can replace the frame's; prints a message if not. */
static bool is_replaceable(const struct options *o, const struct gen_query *q, const char *line)
{
	if (q->frame[query_dns_offset(o->query.ipv6) + 12] == GEN_LETTERS)
		return true;
	fprintf(stderr, "xdpgen: %.*s: the first label must have %d octets\n",
		(int)strcspn(line, " \t\n"), line, GEN_LETTERS);
	return false;
}

static int read_queries(const struct options *o, struct gen_query *to, __u32 *n)
{
	FILE *f = fopen(o->queries, "r");
	char line[1200];
	int err = 0;

	if (!f)
		return -errno;
	*n = 0;
	while (!err && *n < GEN_QUERIES_CAP - 1 && fgets(line, sizeof(line), f)) {
		if (!store(&to[*n], &o->query, line))
			continue;
		if (o->random_of && !is_replaceable(o, &to[*n], line))
			err = -EINVAL;
		++*n;
	}
	fclose(f);
	return err ? err : *n ? 0 : -ENODATA;
}

/* *n: queries of the list. With --fresh the frame for other names comes before them. */
static int make_queries(const struct options *o, struct gen_query *to, __u32 *n)
{
	int err = 0;

	*n = 1;
	if (o->only_count)
		return 0;
	if (o->draw || o->fresh)
		err = make_template(o, to);
	return err || o->draw ? err : read_queries(o, to + o->fresh, n);
}

/* --- The run ---------------------------------------------------------------------------------- */

static int open_generator(struct gen_bpf **out, const struct options *o, __u32 n)
{
	struct gen_bpf *gen = gen_bpf__open();
	int err;

	if (!gen)
		return -errno;
	gen->rodata->config.n_queries = n;
	gen->rodata->config.once = o->once;
	gen->rodata->config.fresh = o->fresh;
	gen->rodata->config.fresh_first = o->fresh_first;
	gen->rodata->config.listed_every = o->listed_every;
	gen->rodata->config.random_n = o->random_n;
	gen->rodata->config.random_of = o->random_of;
	gen->rodata->config.random_first = o->random_first;
	gen->rodata->config.latency = o->latency;
	gen->rodata->config.echo = o->echo;
	gen->rodata->config.ifindex = if_nametoindex(o->ifname);
	gen->rodata->config.udp_offset = (__u32)query_udp_offset(o->query.ipv6);
	gen->rodata->config.draw = o->draw;
	gen->rodata->config.name_offset = (__u32)query_dns_offset(o->query.ipv6) + 12;
	gen->rodata->config.burst = o->burst;
	if (!o->burst)
		gen->rodata->config.burst = !o->rate || o->rate >= BURST_RATE ? BURST : 1;
	if (o->rate > 0)
		gen->rodata->config.ns_per_burst =
			(__u64)(1e9 / o->rate * gen->rodata->config.burst);
	err = gen_bpf__load(gen);
	if (err) {
		gen_bpf__destroy(gen);
		return err;
	}
	*out = gen;
	return 0;
}

static int fill(const struct gen_bpf *gen, const struct gen_query *queries, __u32 n)
{
	size_t bytes = (size_t)GEN_QUERIES_CAP * sizeof(*queries);
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			 bpf_map__fd(gen->maps.queries), 0);

	if (map == MAP_FAILED)
		return -errno;
	memcpy(map, queries, (n + 1) * sizeof(*queries));
	munmap(map, bytes);
	return 0;
}

static struct timeval to_timeval(double seconds)
{
	long long us = (long long)(seconds * 1e6) + 1; /* 0 would set no alarm */

	return (struct timeval){ .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
}

/*
 * The alarm interrupts a test run. It repeats, in case one comes just before a run begins. With
 * --once it comes when the list should be finished, and then repeatedly until it is.
 */
static void set_alarm(const struct options *o, __u32 n)
{
	double due_s = o->rate > 0 ? n / o->rate + COUNT_US * 1e-6 : ONCE_MORE_S;
	struct itimerval t = {
		.it_value = to_timeval(o->once ? due_s : o->seconds),
		.it_interval = to_timeval(o->once ? ONCE_MORE_S : 0.02),
	};

	setitimer(ITIMER_REAL, &t, NULL);
}

/* Counts until a signal; the last replies have come by then. */
static int count(double *seconds)
{
	double start = now_s();

	fprintf(stderr, "ready\n");
	while (!stopped)
		usleep(COUNT_US); /* a signal ends it early, unless it comes just before */
	*seconds = now_s() - start;
	return 0;
}

static bool is_through(const struct gen_bpf *gen)
{
	return gen->rodata->config.once && gen->bss->seq >= gen->rodata->config.n_queries;
}

static int generate(const struct gen_bpf *gen, const struct options *o, double *seconds)
{
	static __u8 frame[sizeof(((struct gen_query *)0)->frame)];
	double start = now_s();
	int err = 0;

	set_alarm(o, gen->rodata->config.n_queries);
	while (!err && !stopped && now_s() - start < o->seconds && !is_through(gen)) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame),
			    .repeat = REPEAT, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
			    .batch_size = BATCH);

		err = bpf_prog_test_run_opts(bpf_program__fd(gen->progs.gen), &run);
		if (err == -EINTR)
			err = 0;
	}
	*seconds = now_s() - start;
	signal(SIGALRM, SIG_IGN);
	return err;
}

static int print_result(const struct options *o, const struct gen_bpf *gen, double seconds,
			__u64 n_in_time)
{
	json_t *all = json_object();
	int err;

	json_object_set_new(all, "rate", json_real(o->rate));
	json_object_set_new(all, "burst", json_integer(gen->rodata->config.burst));
	err = result_put_counters(all, bpf_map__fd(gen->maps.counters), seconds, n_in_time);
	if (!err && o->latency)
		err = result_put_latency(all, bpf_map__fd(gen->maps.latencies));
	if (!err && !json_dumpf(all, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER))
		putchar('\n');
	json_decref(all);
	return err;
}

static int run(const struct options *o, const struct gen_bpf *gen)
{
	int ifindex = (int)gen->rodata->config.ifindex, old_fd = -1, err;
	struct gen_counters in_time = { 0 };
	__u32 old_id = 0;
	double seconds;

	if (!bpf_xdp_query_id(ifindex, XDP_FLAGS_DRV_MODE, &old_id) && old_id)
		old_fd = bpf_prog_get_fd_by_id(old_id);
	err = bpf_xdp_attach(ifindex, bpf_program__fd(gen->progs.sink), XDP_FLAGS_DRV_MODE, NULL);
	if (err)
		return err;
	err = o->only_count ? count(&seconds) : generate(gen, o, &seconds);
	if (!err)
		err = result_sum_counters(bpf_map__fd(gen->maps.counters), &in_time);
	if (!o->only_count)
		usleep(SETTLE_US);
	bpf_xdp_attach(ifindex, old_fd, XDP_FLAGS_DRV_MODE, NULL); /* -1: none */
	return err ? err : print_result(o, gen, seconds, in_time.replies);
}

/* --- The program ------------------------------------------------------------------------------ */

static void prepare_process(int cpu)
{
	struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART: it interrupts */
	cpu_set_t cpus;

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		perror("xdpgen: sched_setaffinity");
}

int main(int argc, char **argv)
{
	struct options o = { .query = { .to_mac = { 2, 0, 0, 0, 0, 0x53 },
					.from_mac = { 2, 0, 0, 0, 0, 1 },
					.to = { 192, 0, 2, 53 },
					.from = { 192, 0, 2, 1 },
					.edns = true } };
	struct gen_query *queries = calloc(GEN_QUERIES_CAP, sizeof(*queries));
	struct gen_bpf *gen = NULL;
	__u32 n = 0;
	int err;

	if (!queries || options_parse(&o, argc, argv)) {
		fputs(options_usage, stderr);
		return 2;
	}
	if (!labonly_is_lab()) {
		fprintf(stderr,
			"xdpgen: load goes only to a named network namespace: scripts/lab.sh\n");
		return 2;
	}
	prepare_process(o.cpu);
	err = make_queries(&o, queries, &n);
	if (!err)
		err = open_generator(&gen, &o, n);
	if (!err)
		err = fill(gen, queries, n);
	if (!err)
		err = run(&o, gen);
	gen_bpf__destroy(gen);
	free(queries);
	if (err)
		fprintf(stderr, "xdpgen: %s: %s\n", o.ifname, strerror(-err));
	return err ? 1 : 0;
}
