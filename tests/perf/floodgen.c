// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * floodgen [options] IF FRAMES SECONDS RATE
 *
 * Sends a flood from forged sources beside honest clients, made in the kernel (flood.bpf.c) as
 * xdpgen makes its queries. FRAMES is a file of struct flood_frame (flood.h): the flood's query,
 * then those of the honest clients. RATE is in queries per second, of both together. Prints one
 * JSON object: the queries and replies of each class of clients.
 *
 *   --cpu N            where it runs
 *   --honest-every N   one query in N is an honest one; 1 (the default): all are
 *   --net IP           the forged sources are in this IPv4 prefix,
 *   --bits N           of N bits (default: 198.51.100.0/24)
 *   --in-turn          each source once before any comes again; else by chance
 *
 * Runs only in a named network namespace, as xdpgen does.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/perf/flood.h"
#include "tests/perf/labonly.h"
#include "tests/perf/pace.h" /* before the skeleton, which has one */
#include "flood.skel.h"      /* after flood.h, whose struct it holds */

#define BATCH     256 /* as in xdpgen */
#define BURST     8
#define SETTLE_US 300000 /* for the last replies */
#define REPEAT    (1 << 30)

struct options {
	const char *ifname;
	const char *frames;
	double seconds;
	double rate;
	uint32_t net;
	uint32_t bits;
	uint32_t honest_every;
	int cpu;
	bool in_turn;
};

static const char *const class_names[FLOOD_CLASSES] = { "flood", "plain", "cookie" };
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

/* --- The run ---------------------------------------------------------------------------------- */

static int read_frames(struct flood_frame frames[FLOOD_FRAMES_CAP], uint32_t *n, const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f)
		return -errno;
	*n = (uint32_t)fread(frames, sizeof(*frames), FLOOD_FRAMES_CAP, f);
	fclose(f);
	for (uint32_t i = 0; i < *n; i++) {
		if (frames[i].bytes < 60 || frames[i].bytes > FLOOD_FRAME_BYTES)
			return -EMSGSIZE;
	}
	return *n < 2 ? -ENODATA : 0;
}

static int open_generator(struct flood_bpf **out, const struct options *o, uint32_t n)
{
	struct flood_bpf *flood = flood_bpf__open();
	int err;

	if (!flood)
		return -errno;
	flood->rodata->config.n_frames = n;
	flood->rodata->config.ifindex = if_nametoindex(o->ifname);
	flood->rodata->config.burst = BURST;
	flood->rodata->config.honest_every = o->honest_every;
	flood->rodata->config.mask = o->bits ? ~0u << (32 - o->bits) : 0;
	flood->rodata->config.net = o->net & flood->rodata->config.mask;
	flood->rodata->config.in_turn = o->in_turn;
	flood->rodata->config.ns_per_burst = (__u64)(1e9 / o->rate * BURST);
	err = flood_bpf__load(flood);
	if (err) {
		flood_bpf__destroy(flood);
		return err;
	}
	*out = flood;
	return 0;
}

static int fill(const struct flood_bpf *flood, const struct flood_frame *frames, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++)
		err = bpf_map_update_elem(bpf_map__fd(flood->maps.frames), &i, &frames[i], BPF_ANY);
	return err;
}

/* The alarm interrupts a test run. It repeats, in case one comes just before a run begins. */
static void set_alarm(double seconds)
{
	long long us = (long long)(seconds * 1e6) + 1;
	struct itimerval t = {
		.it_value = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 },
		.it_interval = { .tv_usec = 20000 },
	};

	setitimer(ITIMER_REAL, &t, NULL);
}

static int generate(const struct flood_bpf *flood, const struct options *o, double *seconds)
{
	static __u8 frame[FLOOD_FRAME_BYTES];
	double start = now_s();
	int err = 0;

	set_alarm(o->seconds);
	while (!err && !stopped && now_s() - start < o->seconds) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame),
			    .repeat = REPEAT, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
			    .batch_size = BATCH);

		err = bpf_prog_test_run_opts(bpf_program__fd(flood->progs.flood), &run);
		if (err == -EINTR)
			err = 0;
	}
	*seconds = now_s() - start;
	signal(SIGALRM, SIG_IGN);
	return err;
}

static int sum_counters(const struct flood_bpf *flood, struct flood_counters *sum)
{
	int n_cpus = libbpf_num_possible_cpus(), err;
	struct flood_counters *each;
	const __u32 zero = 0;

	each = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*each)) : NULL;
	if (!each)
		return -ENOMEM;
	memset(sum, 0, sizeof(*sum));
	err = bpf_map_lookup_elem(bpf_map__fd(flood->maps.counters), &zero, each);
	for (int i = 0; !err && i < n_cpus; i++) {
		for (size_t word = 0; word < sizeof(*sum) / sizeof(__u64); word++)
			((__u64 *)sum)[word] += ((const __u64 *)&each[i])[word];
	}
	free(each);
	return err;
}

static json_t *json_of(const struct flood_sums *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "sent",
			 (json_int_t)s->sent, "sent_dns_octets", (json_int_t)s->sent_dns_octets,
			 "sent_ip_octets", (json_int_t)s->sent_ip_octets, "replies",
			 (json_int_t)s->replies, "dns_octets", (json_int_t)s->dns_octets,
			 "ip_octets", (json_int_t)s->ip_octets, "whole", (json_int_t)s->whole,
			 "truncated", (json_int_t)s->truncated, "badcookie",
			 (json_int_t)s->badcookie);
}

static int print_result(const struct flood_bpf *flood, double seconds)
{
	struct flood_counters c;
	json_t *all = json_object();
	int err = sum_counters(flood, &c);

	json_object_set_new(all, "seconds", json_real(seconds));
	json_object_set_new(all, "late", json_integer((json_int_t)c.late));
	for (int i = 0; i < FLOOD_CLASSES; i++)
		json_object_set_new(all, class_names[i], json_of(&c.classes[i]));
	if (!err && !json_dumpf(all, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER))
		putchar('\n');
	json_decref(all);
	return err;
}

static int run(const struct options *o, const struct flood_bpf *flood)
{
	int ifindex = (int)flood->rodata->config.ifindex, old_fd = -1, err;
	__u32 old_id = 0;
	double seconds;

	if (!bpf_xdp_query_id(ifindex, XDP_FLAGS_DRV_MODE, &old_id) && old_id)
		old_fd = bpf_prog_get_fd_by_id(old_id);
	err = bpf_xdp_attach(ifindex, bpf_program__fd(flood->progs.receive), XDP_FLAGS_DRV_MODE,
			     NULL);
	if (err)
		return err;
	err = generate(flood, o, &seconds);
	usleep(SETTLE_US);
	bpf_xdp_attach(ifindex, old_fd, XDP_FLAGS_DRV_MODE, NULL); /* -1: none */
	return err ? err : print_result(flood, seconds);
}

/* --- Options ---------------------------------------------------------------------------------- */

static int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "honest-every", required_argument, NULL, 'h' },
		{ "net", required_argument, NULL, 'n' },
		{ "bits", required_argument, NULL, 'b' },
		{ "in-turn", no_argument, NULL, 't' },
		{ 0 },
	};
	struct in_addr net;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'c')
			o->cpu = atoi(optarg);
		else if (c == 'h')
			o->honest_every = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'b')
			o->bits = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 't')
			o->in_turn = true;
		else if (c != 'n' || inet_pton(AF_INET, optarg, &net) != 1)
			return -EINVAL;
		else
			o->net = ntohl(net.s_addr);
	}
	if (argc - optind != 4)
		return -EINVAL;
	o->ifname = argv[optind];
	o->frames = argv[optind + 1];
	o->seconds = atof(argv[optind + 2]);
	o->rate = atof(argv[optind + 3]);
	return o->seconds > 0 && o->rate > 0 && o->honest_every && o->bits <= 32 &&
			       if_nametoindex(o->ifname) ?
		       0 :
		       -EINVAL;
}

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
		perror("floodgen: sched_setaffinity");
}

int main(int argc, char **argv)
{
	static struct flood_frame frames[FLOOD_FRAMES_CAP];
	struct options o = { .net = 0xc6336400, .bits = 24, .honest_every = 1 };
	struct flood_bpf *flood = NULL;
	uint32_t n = 0;
	int err;

	if (parse_options(&o, argc, argv)) {
		fprintf(stderr,
			"usage: floodgen [--cpu N] [--honest-every N] [--net IP] [--bits N] "
			"[--in-turn] IF FRAMES SECONDS RATE\n");
		return 2;
	}
	if (!labonly_is_lab()) {
		fprintf(stderr,
			"floodgen: load goes only to a named network namespace: scripts/lab.sh\n");
		return 2;
	}
	prepare_process(o.cpu);
	err = read_frames(frames, &n, o.frames);
	if (!err)
		err = open_generator(&flood, &o, n);
	if (!err)
		err = fill(flood, frames, n);
	if (!err)
		err = run(&o, flood);
	flood_bpf__destroy(flood);
	if (err)
		fprintf(stderr, "floodgen: %s: %s\n", o.ifname, strerror(-err));
	return err ? 1 : 0;
}
