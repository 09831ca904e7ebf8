/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/cores.h"

#include <dirent.h>
#include <linux/mempolicy.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "link/sysfs.h"

#define NODES_MAX 1024 /* the kernel's MAX_NUMNODES is at most that */
#define LONG_BITS (8 * sizeof(unsigned long))

static bool read_cores_number(const char *path, long *n)
{
	FILE *f = fopen(path, "re");
	bool is_read;

	if (!f)
		return false;
	is_read = fscanf(f, "%ld", n) == 1;
	fclose(f);
	return is_read;
}

int cores_link_node(const char *ifname)
{
	char path[96];
	long n;

	if (!sysfs_shows_link(SYSFS_NET, ifname, if_nametoindex(ifname)))
		return CORES_NODE_ANY;
	snprintf(path, sizeof(path), SYSFS_NET "/%s/device/numa_node", ifname);
	if (!read_cores_number(path, &n) || n < 0 || n >= NODES_MAX)
		return CORES_NODE_ANY;
	return (int)n;
}

/* The processor's folder in /sys has a link "nodeN". */
int cores_cpu_node(int cpu)
{
	int node = CORES_NODE_ANY;
	struct dirent *entry;
	char path[64];
	DIR *folder;

	if (cpu < 0)
		return CORES_NODE_ANY;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	folder = opendir(path);
	while (folder && node == CORES_NODE_ANY && (entry = readdir(folder)))
		if (sscanf(entry->d_name, "node%d", &node) != 1 || node >= NODES_MAX)
			node = CORES_NODE_ANY;
	if (folder)
		closedir(folder);
	return node;
}

static bool is_among(int node, const int *nodes, size_t n_nodes)
{
	size_t i;

	for (i = 0; i < n_nodes; i++)
		if (node != CORES_NODE_ANY && nodes[i] == node)
			return true;
	return false;
}

void cores_order(int *cpus, size_t n, const int *nodes, size_t n_nodes)
{
	size_t i, n_near = 0;
	int cpu;

	for (i = 0; i < n; i++) {
		cpu = cpus[i];
		if (!is_among(cores_cpu_node(cpu), nodes, n_nodes))
			continue;
		memmove(&cpus[n_near + 1], &cpus[n_near], (i - n_near) * sizeof(*cpus));
		cpus[n_near++] = cpu;
	}
}

static bool is_near(int worker_node, int node)
{
	return node == CORES_NODE_ANY || worker_node == node;
}

unsigned int cores_worker(const int *worker_nodes, unsigned int n, unsigned int queue, int node)
{
	unsigned int i, n_near = 0, left = queue % n;
	bool wants_near;

	for (i = 0; i < n; i++)
		n_near += is_near(worker_nodes[i], node);
	wants_near = left < n_near;
	if (!wants_near)
		left -= n_near;
	for (i = 0; i < n; i++)
		if (is_near(worker_nodes[i], node) == wants_near && !left--)
			return i;
	return queue % n;
}

/* On a failure the memory is placed as usual. */
void cores_prefer_memory(int node)
{
	unsigned long mask[NODES_MAX / LONG_BITS] = { 0 };

	if (node == CORES_NODE_ANY) {
		(void)syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0);
		return;
	}
	mask[(size_t)node / LONG_BITS] |= 1ul << ((size_t)node % LONG_BITS);
	(void)syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, NODES_MAX + 1);
}
