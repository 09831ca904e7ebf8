/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/metrics_report.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static void put_metrics_process(struct metrics_text *out, const char *name, const char *help,
				uint64_t value)
{
	metrics_text_standard(out, METRICS_GAUGE, name, help);
	metrics_text_sample(out, value, NULL);
}

static void put_cpu(struct metrics_text *out)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts))
		return;
	metrics_text_standard(out, METRICS_COUNTER, "process_cpu_seconds_total",
			      "processor time of the user and of the system");
	metrics_text_decimal(out, (uint64_t)ts.tv_sec * CLOCK_NS_PER_S + (uint64_t)ts.tv_nsec);
}

static void put_memory(struct metrics_text *out)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long size, resident;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return;
	if (fscanf(f, "%lu %lu", &size, &resident) == 2) {
		put_metrics_process(out, "process_resident_memory_bytes",
				    "resident memory, with the cache's maps as far as touched",
				    resident * page_bytes);
		put_metrics_process(out, "process_virtual_memory_bytes", "virtual memory",
				    size * page_bytes);
	}
	fclose(f);
}

/* Counts the entries except "." and ".." and the descriptor that reads them. */
static void put_open_fds(struct metrics_text *out)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (!dir)
		return;
	while (readdir(dir))
		n++;
	closedir(dir);
	put_metrics_process(out, "process_open_fds", "file descriptors that are open",
			    n > 3 ? n - 3 : 0);
}

static void put_max_fds(struct metrics_text *out)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit))
		put_metrics_process(out, "process_max_fds", "file descriptors that may be open",
				    limit.rlim_cur);
}

/* Field 22 of /proc/self/stat, in ticks since boot. Field 2, in parentheses, may have any text. */
static bool read_start(uint64_t *ticks)
{
	FILE *f = fopen("/proc/self/stat", "re");
	char text[1024], *at;
	size_t n;

	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%" SCNu64, ticks) == 1;
}

static void put_start(struct metrics_text *out)
{
	const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec boot, wall;
	uint64_t ticks, boot_ns, wall_ns;

	if (!read_start(&ticks) || clock_gettime(CLOCK_BOOTTIME, &boot) ||
	    clock_gettime(CLOCK_REALTIME, &wall))
		return;
	boot_ns = (uint64_t)boot.tv_sec * CLOCK_NS_PER_S + (uint64_t)boot.tv_nsec;
	wall_ns = (uint64_t)wall.tv_sec * CLOCK_NS_PER_S + (uint64_t)wall.tv_nsec;
	/* Rounded to a second, so that it is the same at each scrape. */
	put_metrics_process(
		out, "process_start_time_seconds", "when it was started, in seconds since 1970",
		(wall_ns - (boot_ns - ticks * (CLOCK_NS_PER_S / hz)) + CLOCK_NS_PER_S / 2) /
			CLOCK_NS_PER_S);
}

void metrics_process(struct metrics_text *out)
{
	put_cpu(out);
	put_memory(out);
	put_open_fds(out);
	put_max_fds(out);
	put_start(out);
}
