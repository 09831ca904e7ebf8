/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/affinity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

#define NICENESS 10

int affinity_init(struct affinity *affinity, const uint16_t *cores, size_t n_cores, char *err,
		  size_t err_cap)
{
	char text[128];

	*affinity = (struct affinity){ 0 };
	if (sched_getaffinity(0, sizeof(affinity->allowed), &affinity->allowed))
		CPU_SET(0, &affinity->allowed);
	affinity->control = affinity->allowed;
	for (size_t i = 0; i < n_cores; i++) {
		if (!CPU_ISSET(cores[i], &affinity->allowed)) {
			snprintf(
				err, err_cap,
				"server.control-cores: volleyd may not use processor %u: name some "
				"of %s",
				cores[i], affinity_text(&affinity->allowed, text, sizeof(text)));
			return -EINVAL;
		}
		CPU_SET(cores[i], &affinity->wanted);
	}
	return 0;
}

void affinity_for_workers(const struct affinity *affinity, cpu_set_t *cpus)
{
	CPU_XOR(cpus, &affinity->allowed, &affinity->wanted);
	if (!CPU_COUNT(cpus))
		*cpus = affinity->allowed;
}

void affinity_settle(struct affinity *affinity, const int *cpus, size_t n)
{
	cpu_set_t own = CPU_COUNT(&affinity->wanted) ? affinity->wanted : affinity->allowed;

	affinity->control = own;
	for (size_t i = 0; i < n; i++)
		if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE)
			CPU_CLR((size_t)cpus[i], &own);
	affinity->n_own = (unsigned int)CPU_COUNT(&own);
	if (affinity->n_own && !CPU_COUNT(&affinity->wanted))
		affinity->control = own;
}

/* A thread with other processors than the allowed ones was pinned: it stays. */
static void move_thread(const struct affinity *affinity, pid_t tid)
{
	cpu_set_t now;

	if (sched_getaffinity(tid, sizeof(now), &now) || !CPU_EQUAL(&now, &affinity->allowed))
		return;
	if (sched_setaffinity(tid, sizeof(affinity->control), &affinity->control))
		log_debug("thread %d: runs on any processor", (int)tid);
}

void affinity_move_threads(const struct affinity *affinity)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;

	if (sched_setaffinity(0, sizeof(affinity->control), &affinity->control))
		log_debug("control: runs on any processor");
	while (tasks && (task = readdir(tasks)))
		if (atoi(task->d_name) > 0)
			move_thread(affinity, atoi(task->d_name));
	if (tasks)
		closedir(tasks);
}

void affinity_share(int task_fd)
{
	int fd = fcntl(task_fd, F_DUPFD_CLOEXEC, 0);
	struct dirent *task;
	cpu_set_t cpus;
	DIR *tasks;

	if (fd < 0 || sched_getaffinity(0, sizeof(cpus), &cpus)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	tasks = fdopendir(fd);
	if (!tasks)
		close(fd);
	else
		rewinddir(tasks); /* the position is that of task_fd */
	while (tasks && (task = readdir(tasks)))
		if (atoi(task->d_name) > 0)
			(void)sched_setaffinity(atoi(task->d_name), sizeof(cpus), &cpus);
	if (tasks)
		closedir(tasks);
}

int affinity_stand_behind(pid_t tid)
{
	struct sched_param none = { 0 };

	if (tid == gettid())
		tid = 0; /* by its number only control may: base/sandbox.h */
	if (sched_setscheduler(tid, SCHED_BATCH, &none) ||
	    setpriority(PRIO_PROCESS, (id_t)tid, NICENESS))
		return -errno;
	return 0;
}

static size_t run_end(const cpu_set_t *cpus, size_t first)
{
	while (first + 1 < CPU_SETSIZE && CPU_ISSET(first + 1, cpus))
		first++;
	return first;
}

const char *affinity_text(const cpu_set_t *cpus, char *buf, size_t cap)
{
	size_t len = 0, last;
	int n;

	buf[0] = '\0';
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpus))
			continue;
		last = run_end(cpus, cpu);
		n = snprintf(buf + len, cap - len, last > cpu ? "%s%zu-%zu" : "%s%zu",
			     len ? "," : "", cpu, last);
		if (n < 0 || (size_t)n >= cap - len)
			break;
		len += (size_t)n;
		cpu = last;
	}
	return buf;
}
