/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/txqueues.h"

#include <dirent.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/netdev.h"

#define PATH_CAP 512
#define TYPE_TX  1 /* NETDEV_QUEUE_TYPE_TX */

/* --- netlink ---------------------------------------------------------------------------------- */

struct queue {
	uint64_t ifindex;
	uint64_t type;
};

static int take_txqueues_attr(const struct nlattr *attr, void *user)
{
	struct queue *queue = user;

	if (mnl_attr_get_type(attr) == NETDEV_QUEUE_IFINDEX)
		queue->ifindex = netlink_number(attr);
	else if (mnl_attr_get_type(attr) == NETDEV_QUEUE_TYPE)
		queue->type = netlink_number(attr);
	return MNL_CB_OK;
}

bool txqueues_is_transmit(const struct nlmsghdr *message, unsigned int ifindex)
{
	struct queue queue = { 0 };

	mnl_attr_parse(message, GENL_HDRLEN, take_txqueues_attr, &queue);
	return queue.ifindex == ifindex && queue.type == TYPE_TX;
}

struct count {
	unsigned int ifindex;
	uint32_t n;
};

static int take_queue(const struct nlmsghdr *message, void *user)
{
	struct count *count = user;

	count->n += txqueues_is_transmit(message, count->ifindex);
	return MNL_CB_OK;
}

static uint32_t count_netlink(unsigned int ifindex)
{
	struct count count = { .ifindex = ifindex };

	return netdev_ask(NETDEV_QUEUE_GET, ifindex, take_queue, &count) ? 0 : count.n;
}

/* --- sysfs ------------------------------------------------------------------------------------ */

/* /sys may be of another network namespace, with another interface of the same name. */
static bool is_it(const char *folder, const char *ifname, unsigned int ifindex)
{
	char path[PATH_CAP], line[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/ifindex", folder, ifname);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	(void)fclose(file);
	return strtoul(line, NULL, 10) == ifindex;
}

uint32_t txqueues_count_sysfs(const char *folder, const char *ifname, unsigned int ifindex)
{
	const struct dirent *entry;
	char path[PATH_CAP];
	uint32_t n = 0;
	DIR *dir;

	if (!ifindex || !is_it(folder, ifname, ifindex))
		return 0;
	snprintf(path, sizeof(path), "%s/%s/queues", folder, ifname);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, "tx-", 3);
	closedir(dir);
	return n;
}

uint32_t txqueues_count(const char *ifname, unsigned int ifindex)
{
	uint32_t n = count_netlink(ifindex);

	return n ? n : txqueues_count_sysfs(TXQUEUES_SYSFS, ifname, ifindex);
}
