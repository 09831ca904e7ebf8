/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of a run of xdpgen: the counters of gen.bpf.c, over all processors, and quantiles of
 * its histogram of latencies, which has a bucket for each number of ticks. A latency is the time
 * from the sending of the query's burst to its reply in XDP on the client's interface.
 */
#ifndef VOLLEY_TESTS_PERF_GEN_RESULT_H
#define VOLLEY_TESTS_PERF_GEN_RESULT_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/perf/gen.h"

static inline int result_sum_counters(int map_fd, struct gen_counters *sum)
{
	int n_cpus = libbpf_num_possible_cpus(), err;
	struct gen_counters *each;
	const __u32 zero = 0;

	each = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*each)) : NULL;
	if (!each)
		return -ENOMEM;
	memset(sum, 0, sizeof(*sum));
	err = bpf_map_lookup_elem(map_fd, &zero, each);
	for (int i = 0; !err && i < n_cpus; i++) {
		for (size_t word = 0; word < sizeof(*sum) / sizeof(__u64); word++)
			((__u64 *)sum)[word] += ((const __u64 *)&each[i])[word];
	}
	free(each);
	return err;
}

/*
 * Replies per second count only replies that came while queries were sent: queries in a queue at
 * the end are answered later. 0 or -errno, as all functions here.
 */
static inline int result_put_counters(json_t *to, int map_fd, double seconds, __u64 n_in_time)
{
	struct gen_counters c;
	int err = result_sum_counters(map_fd, &c);
	const struct {
		const char *name;
		__u64 n;
	} numbers[] = {
		{ "sent", c.sent },
		{ "late", c.late },
		{ "replies", c.replies },
		{ "reply_bytes", c.reply_bytes },
		{ "truncated", c.truncated },
		{ "listed_sent", c.listed_sent },
		{ "listed_replies", c.listed_replies },
	};
	json_t *rcodes = json_array();

	json_object_set_new(to, "seconds", json_real(seconds));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(to, numbers[i].name, json_integer((json_int_t)numbers[i].n));
	json_object_set_new(to, "sent_per_s", json_real((double)c.sent / seconds));
	json_object_set_new(to, "replies_per_s", json_real((double)n_in_time / seconds));
	for (int i = 0; i < 16; i++)
		json_array_append_new(rcodes, json_integer((json_int_t)c.rcodes[i]));
	json_object_set_new(to, "rcodes", rcodes);
	return err;
}

/* The middle of the bucket that has the quantile `share`; 0 without replies. */
static inline double result_quantile_us(const __u64 *of_ticks, __u64 total, double share)
{
	__u64 seen = 0;

	for (__u32 i = 0; total && i < GEN_TICKS; i++) {
		seen += of_ticks[i];
		if ((double)seen >= share * (double)total)
			return (i + 0.5) * (1 << GEN_TICK_SHIFT) / 1e3;
	}
	return 0;
}

/* Reads the histogram of all processors; *total is the sum of all buckets. */
static inline int result_read_latency(int map_fd, __u64 *of_ticks, __u64 *total)
{
	int n_cpus = libbpf_num_possible_cpus(), err = 0;
	__u64 *each = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*each)) : NULL;

	*total = 0;
	if (!each)
		return -ENOMEM;
	for (__u32 i = 0; !err && i < GEN_TICKS; i++) {
		err = bpf_map_lookup_elem(map_fd, &i, each);
		for (int cpu = 0; !err && cpu < n_cpus; cpu++)
			of_ticks[i] += each[cpu];
		*total += of_ticks[i];
	}
	free(each);
	return err;
}

/* p50_us and p99_us. */
static inline int result_put_latency(json_t *to, int map_fd)
{
	__u64 *of_ticks = calloc(GEN_TICKS, sizeof(*of_ticks)), total;
	int err = of_ticks ? result_read_latency(map_fd, of_ticks, &total) : -ENOMEM;

	if (!err) {
		json_object_set_new(to, "p50_us",
				    json_real(result_quantile_us(of_ticks, total, 0.5)));
		json_object_set_new(to, "p99_us",
				    json_real(result_quantile_us(of_ticks, total, 0.99)));
	}
	free(of_ticks);
	return err;
}

#endif
