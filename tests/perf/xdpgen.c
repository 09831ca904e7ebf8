// SPDX-License-Identifier: GPL-2.0-only
/*
 * xdpgen [options] IF QUERIES SECONDS RATE
 * xdpgen [options] --draw N IF SECONDS RATE
 * xdpgen --count IF
 *
 * A query generator inside the kernel: a frame for each line of QUERIES (querylist.h), sent by test
 * runs on live frames, so that one CPU offers millions a second. Replies are counted and dropped in
 * XDP on the same interface; the program that was there comes back at the end. RATE is in queries
 * per second, 0 as fast as possible. Prints one JSON object.
 *
 *   --from-mac, --to-mac, --from, --to   addresses (default: those of scripts/lab.sh, IPv4)
 *   --no-edns                            queries without OPT, unless their line says otherwise
 *   --once                               the list from end to end, once; SECONDS is the limit
 *   --cpu N                              where it runs
 *   --draw N                             no list: each query's name is one of the N that fill.c
 *                                        puts into a cache, drawn at random, type A
 *   --count                              sends nothing: counts and drops replies until a signal,
 *                                        says "ready" on stderr when it does
 *
 * Runs only in a named network namespace (`ip netns`), such as scripts/lab.sh makes: load must never
 * go out of an interface of the host.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/perf/front.h"
#include "tests/perf/gen.h"
#include "tests/perf/querylist.h"
#include "gen.skel.h" /* after gen.h, whose struct it holds */

#define NETNS_DIR   "/run/netns"
#define BATCH       64    /* frames of a test run that the kernel sends at once: NAPI's budget */
#define BURST_RATE  40000 /* from here on queries are let go 32 at a time */
#define BURST       32
#define SETTLE_US   100000 /* for the last replies */
#define COUNT_US    100000
#define REPEAT      (1 << 30)
#define ONCE_MORE_S 0.5 /* to begin a test run anew takes some hundred ms: not often */

struct options {
	const char *ifname;
	const char *queries;
	double seconds;
	double rate;
	struct query query; /* all but the name */
	int cpu;
	uint32_t draw;
	bool only_count;
	bool once;
};

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

/* --- The queries --------------------------------------------------------------------------------- */

/* One's complement sum of what the UDP checksum covers, octets as in memory. */
static uint32_t udp_sum(const uint8_t *frame, bool ipv6)
{
	const uint8_t *udp = frame + query_udp_offset(ipv6);
	uint16_t check;

	memcpy(&check, udp + 6, sizeof(check));
	return (uint16_t)~check;
}

/* 1 when it was stored, 0 when the line is no query that fits. `base`: all but what the line says. */
static int store(struct gen_query *to, const struct query *base, const char *line)
{
	uint8_t wire[DNS_NAME_MAX];
	struct query q = *base;

	if (querylist_parse(&q, wire, line))
		return 0;
	to->bytes = (__u32)query_frame(to->frame, GEN_FRAME_BYTES, &q);
	to->sum = to->bytes ? udp_sum(to->frame, q.ipv6) : 0;
	return to->bytes > 0;
}

/* The one frame into which labels are drawn; the label's octets are 0 in its sum. */
static int make_template(const struct options *o, struct gen_query *to)
{
	size_t label_at = query_dns_offset(o->query.ipv6) + 12;

	if (!store(to, &o->query, "aaaaaaa.bench.test A"))
		return -EINVAL;
	to->sum += (uint16_t)~htons(
		(uint16_t)sum_fold(query_sum(to->frame + label_at, sizeof(uint64_t))));
	return 0;
}

static int read_queries(const struct options *o, struct gen_query *to, __u32 *n)
{
	FILE *f = fopen(o->queries, "r");
	char line[1200];

	if (!f)
		return -errno;
	*n = 0;
	while (*n < GEN_QUERIES_CAP && fgets(line, sizeof(line), f))
		*n += (__u32)store(&to[*n], &o->query, line);
	fclose(f);
	return *n ? 0 : -ENODATA;
}

static int make_queries(const struct options *o, struct gen_query *to, __u32 *n)
{
	*n = 1;
	if (o->only_count)
		return 0;
	return o->draw ? make_template(o, to) : read_queries(o, to, n);
}

/* --- The run ------------------------------------------------------------------------------------- */

static int open_generator(struct gen_bpf **out, const struct options *o, __u32 n)
{
	struct gen_bpf *gen = gen_bpf__open();
	int err;

	if (!gen)
		return -errno;
	gen->rodata->config.n_queries = n;
	gen->rodata->config.once = o->once;
	gen->rodata->config.ifindex = if_nametoindex(o->ifname);
	gen->rodata->config.udp_offset = (__u32)query_udp_offset(o->query.ipv6);
	gen->rodata->config.draw = o->draw;
	gen->rodata->config.name_offset = (__u32)query_dns_offset(o->query.ipv6) + 12;
	gen->rodata->config.burst = o->rate >= BURST_RATE ? BURST : 1;
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
	memcpy(map, queries, n * sizeof(*queries));
	munmap(map, bytes);
	return 0;
}

static struct timeval to_timeval(double seconds)
{
	long long us = (long long)(seconds * 1e6) + 1; /* 0 would be no alarm */

	return (struct timeval){ .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
}

/*
 * The alarm interrupts a test run that would go on; it repeats, should one come just before. With
 * --once it comes when the list should be through, and then now and then to see whether it is.
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

/* Until a signal; the last replies have come by then. */
static int count(double *seconds)
{
	double start = now_s();

	fprintf(stderr, "ready\n");
	while (!stopped)
		usleep(COUNT_US); /* a signal ends it early; one just before costs this long */
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
	usleep(SETTLE_US);
	return err;
}

static int sum_counters(const struct gen_bpf *gen, struct gen_counters *sum)
{
	int n_cpus = libbpf_num_possible_cpus(), err;
	struct gen_counters *each;
	const __u32 zero = 0;

	each = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*each)) : NULL;
	if (!each)
		return -ENOMEM;
	memset(sum, 0, sizeof(*sum));
	err = bpf_map_lookup_elem(bpf_map__fd(gen->maps.counters), &zero, each);
	for (int i = 0; !err && i < n_cpus; i++) {
		for (size_t word = 0; word < sizeof(*sum) / sizeof(__u64); word++)
			((__u64 *)sum)[word] += ((const __u64 *)&each[i])[word];
	}
	free(each);
	return err;
}

static void print_result(const struct options *o, const struct gen_counters *c, double seconds)
{
	json_t *rcodes = json_array();
	json_t *all;

	for (int i = 0; i < 16; i++)
		json_array_append_new(rcodes, json_integer((json_int_t)c->rcodes[i]));
	all = json_pack("{s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:o}", "rate", o->rate,
			"seconds", seconds, "sent", (json_int_t)c->sent, "late",
			(json_int_t)c->late, "replies", (json_int_t)c->replies, "reply_bytes",
			(json_int_t)c->reply_bytes, "truncated", (json_int_t)c->truncated,
			"sent_per_s", (double)c->sent / seconds, "replies_per_s",
			(double)c->replies / seconds, "rcodes", rcodes);
	json_dumpf(all, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(all);
}

static int run(const struct options *o, const struct gen_bpf *gen)
{
	int ifindex = (int)gen->rodata->config.ifindex, old_fd = -1, err;
	__u32 old_id = 0;
	struct gen_counters sum;
	double seconds;

	if (!bpf_xdp_query_id(ifindex, XDP_FLAGS_DRV_MODE, &old_id) && old_id)
		old_fd = bpf_prog_get_fd_by_id(old_id);
	err = bpf_xdp_attach(ifindex, bpf_program__fd(gen->progs.sink), XDP_FLAGS_DRV_MODE, NULL);
	if (err)
		return err;
	err = o->only_count ? count(&seconds) : generate(gen, o, &seconds);
	if (!err)
		err = sum_counters(gen, &sum);
	bpf_xdp_attach(ifindex, old_fd, XDP_FLAGS_DRV_MODE, NULL); /* -1: none */
	if (!err)
		print_result(o, &sum, seconds);
	return err;
}

/* --- Options ------------------------------------------------------------------------------------- */

/* Is this a namespace that somebody has made and named? What cannot be told is none. */
static bool in_named_netns(void)
{
	DIR *names = opendir(NETNS_DIR);
	struct stat mine, named;
	struct dirent *entry;
	bool found = false;

	if (names && !stat("/proc/self/ns/net", &mine)) {
		while (!found && (entry = readdir(names)))
			found = !fstatat(dirfd(names), entry->d_name, &named, 0) &&
				named.st_ino == mine.st_ino && named.st_dev == mine.st_dev;
	}
	if (names)
		closedir(names);
	return found;
}

static int parse_mac(uint8_t mac[ETH_ALEN], const char *text)
{
	int n = sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0], &mac[1], &mac[2],
		       &mac[3], &mac[4], &mac[5]);

	return n == ETH_ALEN ? 0 : -EINVAL;
}

static int parse_address(uint8_t address[16], bool *ipv6, const char *text)
{
	*ipv6 = strchr(text, ':') != NULL;
	return inet_pton(*ipv6 ? AF_INET6 : AF_INET, text, address) == 1 ? 0 : -EINVAL;
}

static int parse_draw(uint32_t *draw, const char *text)
{
	*draw = (uint32_t)strtoul(text, NULL, 10);
	return *draw && *draw <= FRONT_NUMBERS ? 0 : -EINVAL;
}

static int parse_positional(struct options *o, char **argv, int n)
{
	int i = 0, wanted = o->only_count ? 1 : o->draw ? 3 : 4;

	if (n != wanted)
		return -EINVAL;
	o->ifname = argv[i++];
	if (o->only_count)
		return if_nametoindex(o->ifname) ? 0 : -EINVAL;
	if (!o->draw)
		o->queries = argv[i++];
	o->seconds = atof(argv[i++]);
	o->rate = atof(argv[i]);
	return o->seconds > 0 && o->rate >= 0 && if_nametoindex(o->ifname) ? 0 : -EINVAL;
}

static int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "from-mac", required_argument, NULL, 'M' },
		{ "to-mac", required_argument, NULL, 'm' },
		{ "from", required_argument, NULL, 'F' },
		{ "to", required_argument, NULL, 't' },
		{ "no-edns", no_argument, NULL, 'e' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "draw", required_argument, NULL, 'd' },
		{ "once", no_argument, NULL, 'o' },
		{ "count", no_argument, NULL, 'C' },
		{ 0 },
	};
	bool from_ipv6 = false;
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'M')
			err = parse_mac(o->query.from_mac, optarg);
		else if (c == 'm')
			err = parse_mac(o->query.to_mac, optarg);
		else if (c == 'F')
			err = parse_address(o->query.from, &from_ipv6, optarg);
		else if (c == 't')
			err = parse_address(o->query.to, &o->query.ipv6, optarg);
		else if (c == 'e')
			o->query.edns = false;
		else if (c == 'c')
			o->cpu = atoi(optarg);
		else if (c == 'd')
			err = parse_draw(&o->draw, optarg);
		else if (c == 'o')
			o->once = true;
		else if (c == 'C')
			o->only_count = true;
		else
			err = -EINVAL;
	}
	if (!err && from_ipv6 != o->query.ipv6)
		err = -EINVAL;
	return err ? err : parse_positional(o, argv + optind, argc - optind);
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

	if (!queries || parse_options(&o, argc, argv)) {
		fprintf(stderr,
			"usage: xdpgen [--from-mac MAC] [--to-mac MAC] [--from IP] [--to IP] "
			"[--no-edns] [--once] [--cpu N] IF QUERIES SECONDS RATE\n"
			"       xdpgen [...] --draw N IF SECONDS RATE\n"
			"       xdpgen --count IF\n");
		return 2;
	}
	if (!in_named_netns()) {
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
