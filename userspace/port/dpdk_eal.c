/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts DPDK's global state. The process gets one more thread and is otherwise unchanged. */
#include <errno.h>
#include <libgen.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "base/err.h"
#include "base/log.h"
#include "port/dpdk.h"

#define ARGS_CAP  96
#define WORD_CAP  64
#define LOG_BYTES 512

static bool is_open;

/* --- Log -------------------------------------------------------------------------------------- */

/* DPDK's levels are those of syslog plus one. Its notices are for debugging. */
static enum log_level our_level(int theirs)
{
	if (theirs > 0 && (uint32_t)theirs <= RTE_LOG_ERR)
		return LOG_LEVEL_WARN;
	return theirs > 0 && (uint32_t)theirs <= RTE_LOG_WARNING ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
}

/* rte_log() flushes the stream, so a call has the text of one rte_log() at most. */
static ssize_t write_log(void *cookie, const char *bytes, size_t n)
{
	char line[LOG_BYTES];
	size_t len = n < sizeof(line) ? n : sizeof(line) - 1;

	(void)cookie;
	memcpy(line, bytes, len);
	while (len && line[len - 1] == '\n')
		len--;
	line[len] = 0;
	if (len)
		log_line(our_level(rte_log_cur_msg_loglevel()), "DPDK: %s", line);
	return (ssize_t)n;
}

static void redirect_log(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_log });

	if (!stream)
		return;
	setvbuf(stream, NULL, _IOLBF, LOG_BYTES);
	rte_openlog_stream(stream);
}

/* --- Words for the EAL ------------------------------------------------------------------------ */

struct args {
	char *words[ARGS_CAP];
	char room[ARGS_CAP][WORD_CAP];
	int n;
};

static void add_dpdk_eal(struct args *args, const char *word)
{
	/* rte_eal_init() promises to change only the order of the words, not the words. */
	if (args->n < ARGS_CAP - 1)
		args->words[args->n++] = (char *)(uintptr_t)word;
}

__attribute__((format(printf, 2, 3))) static void add_made(struct args *args, const char *format,
							   ...)
{
	va_list list;

	if (args->n >= ARGS_CAP - 1)
		return;
	va_start(list, format);
	vsnprintf(args->room[args->n], WORD_CAP, format, list);
	va_end(list);
	add_dpdk_eal(args, args->room[args->n]);
}

static unsigned int first_cpu(const cpu_set_t *cpus)
{
	unsigned int cpu = 0;

	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, cpus))
		cpu++;
	return cpu;
}

/* With one core the EAL creates no worker threads: volleyd has its own (rte_thread_register()). */
static void make_dpdk_eal_args(struct args *args, const struct dpdk_eal *eal, const cpu_set_t *cpus)
{
	add_dpdk_eal(args, "volleyd");
	add_made(args, "--file-prefix=volley-%d", (int)getpid());
	add_made(args, "--lcores=0@%u", first_cpu(cpus));
	add_dpdk_eal(args, "--no-telemetry");
	if (eal->huge_pages) {
		add_dpdk_eal(args, "--in-memory");
	} else {
		add_dpdk_eal(args, "--no-huge");
		add_dpdk_eal(args, "--no-shconf");
	}
	if (eal->memory_mib)
		add_made(args, "-m%u", eal->memory_mib);
	if (!eal->n_devices)
		add_dpdk_eal(args, "--no-pci");
	for (unsigned int i = 0; i < eal->n_devices; i++) {
		add_dpdk_eal(args, "-a");
		add_dpdk_eal(args, eal->devices[i]);
	}
	for (unsigned int i = 0; i < eal->n_options; i++)
		add_dpdk_eal(args, eal->options[i]);
}

/* --- Start and end ---------------------------------------------------------------------------- */

/* The EAL creates its folder even if it shares no files. */
static void remove_folder(void)
{
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
	if (*folder && !rmdir(folder))
		(void)rmdir(dirname(folder));
}

int dpdk_eal_open(const struct dpdk_eal *eal, char *err, size_t err_cap)
{
	struct args args = { .n = 0 };
	cpu_set_t cpus;
	int n;

	if (is_open)
		return 0;
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -errno;
	redirect_log();
	make_dpdk_eal_args(&args, eal, &cpus);
	n = rte_eal_init(args.n, args.words);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	remove_folder();
	if (n < 0) {
		n = rte_errno ? -rte_errno : -EINVAL;
		snprintf(err, err_cap, "DPDK does not start: %s; the log says more", err_text(n));
		return n;
	}
	is_open = true;
	return 0;
}

void dpdk_eal_close(void)
{
	if (!is_open)
		return;
	is_open = false;
	(void)rte_eal_cleanup();
	remove_folder();
}
