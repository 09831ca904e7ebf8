/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /sys shows the network namespace in which it was mounted, which may not be ours. So its values
 * for an interface count only if index and address are the same. /proc/net and /proc/sys/net are of
 * our namespace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/gather.h"
#include "link/sysfs.h"

static bool is_same_address(const struct link *link, const char *text)
{
	const uint8_t *mac = link->mac;
	char ours[18];

	snprintf(ours, sizeof(ours), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return !link->is_ethernet || !strcmp(ours, text);
}

static bool is_sysfs_ours(const struct doctor_nic *nic, const struct link *link)
{
	char address[32];

	return sysfs_shows_link(SYSFS_NET, nic->name, link->ifindex) &&
	       !doctor_read_line(address, sizeof(address), "/sys/class/net/%s/address",
				 nic->name) &&
	       is_same_address(link, address);
}

/* The mask of processors is empty if all of its digits are 0. */
static bool is_rps_on(const char *name, int queue)
{
	char mask[1024];

	return !doctor_read_line(mask, sizeof(mask), "/sys/class/net/%s/queues/rx-%d/rps_cpus",
				 name, queue) &&
	       mask[strspn(mask, "0,")];
}

static void gather_class(struct doctor_nic *nic)
{
	nic->rps = 0;
	for (int q = 0; q < nic->n_queues; q++)
		nic->rps += is_rps_on(nic->name, q);
	if (nic->threaded < 0)
		nic->threaded = (int)doctor_read_number("/sys/class/net/%s/threaded", nic->name);
	if (nic->defer_hard_irqs >= 0)
		return;
	nic->defer_hard_irqs =
		(int)doctor_read_number("/sys/class/net/%s/napi_defer_hard_irqs", nic->name);
	nic->gro_flush_ns = doctor_read_number("/sys/class/net/%s/gro_flush_timeout", nic->name);
}

/* --- Interrupts ------------------------------------------------------------------------------- */

int doctor_irq_queue(const char *name)
{
	const char *at = strstr(name, "comp");
	const char *dash = strrchr(name, '-');

	if (at && at[4] >= '0' && at[4] <= '9')
		return atoi(at + 4);
	at = strstr(name, "input.");
	if (at)
		return atoi(at + 6);
	if (!dash || dash[1] < '0' || dash[1] > '9')
		return -1;
	if (dash - name >= 3 && !strncasecmp(dash - 3, "-tx", 3))
		return -1;
	return atoi(dash + 1);
}

/* Takes a line of /proc/interrupts. The device's interrupts have a file in msi_irqs. */
static void take_sysfs_line(struct doctor_nic *nic, char *line)
{
	char *colon = strchr(line, ':'), *name = strrchr(line, ' ');
	int number = atoi(line), queue;
	char path[128];

	if (!colon || !name || number <= 0)
		return;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/msi_irqs/%d", nic->bus, number);
	queue = doctor_irq_queue(name + 1);
	if (queue < 0 || queue >= (int)DOCTOR_QUEUES || access(path, F_OK))
		return;
	nic->irqs[queue].number = number;
	doctor_read_cpus(&nic->irqs[queue].cpus, "/proc/irq/%d/effective_affinity_list", number);
	if (!CPU_COUNT(&nic->irqs[queue].cpus))
		doctor_read_cpus(&nic->irqs[queue].cpus, "/proc/irq/%d/smp_affinity_list", number);
	nic->n_irqs++;
}

static void gather_irqs(struct doctor_nic *nic)
{
	FILE *in = *nic->bus ? fopen("/proc/interrupts", "re") : NULL;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while (in && (len = getline(&line, &cap, in)) > 0) {
		while (len && (line[len - 1] == '\n' || line[len - 1] == ' '))
			line[--len] = 0;
		take_sysfs_line(nic, line);
	}
	free(line);
	if (in)
		fclose(in);
}

/* --- Routes ----------------------------------------------------------------------------------- */

/* 1 if the route to 0.0.0.0/0 uses it. A line: "eth0 00000000 gateway flags ... metric mask" */
static int has_default_route(const char *name)
{
	FILE *in = fopen("/proc/net/route", "re");
	char line[256], dev[32];
	unsigned int to, mask;
	int found = 0;

	if (!in)
		return -errno;
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%31s %x %*x %*x %*d %*d %*d %x", dev, &to, &mask) == 3 && !to &&
		    !mask && !strcmp(dev, name))
			found = 1;
	fclose(in);
	return found;
}

/* The kernel uses the higher value. */
static int read_rp_filter(const char *name)
{
	int all = (int)doctor_read_number("/proc/sys/net/ipv4/conf/all/rp_filter");
	int own = (int)doctor_read_number("/proc/sys/net/ipv4/conf/%s/rp_filter", name);

	return all > own ? all : own;
}

void doctor_gather_sysfs(struct doctor_nic *nic, const struct link *link)
{
	char node[16] = "";

	nic->rp_filter = read_rp_filter(nic->name);
	nic->is_default_route = has_default_route(nic->name);
	if (is_sysfs_ours(nic, link))
		gather_class(nic);
	else
		nic->rps = -EXDEV;
	nic->numa_node = -ENOENT;
	if (*nic->bus &&
	    !doctor_read_line(node, sizeof(node), "/sys/bus/pci/devices/%s/numa_node", nic->bus))
		nic->numa_node = atoi(node) < 0 ? -ENOENT : atoi(node);
	gather_irqs(nic);
}

void doctor_gather_nic(struct doctor_nic *nic, const char *name)
{
	struct link link;
	int err = link_read(&link, name);

	snprintf(nic->name, sizeof(nic->name), "%s", name);
	nic->ifindex = err ? err : (int)link.ifindex;
	if (err)
		return;
	doctor_gather_ethtool(nic, &link);
	doctor_gather_netlink(nic, &link);
	doctor_gather_program(nic);
	doctor_gather_sysfs(nic, &link);
}
