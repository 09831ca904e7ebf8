/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/txqueues.h"

#include <dirent.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iface/genl.h"

#define PATH_CAP 512

/* From Linux 6.8's linux/netdev.h; the installed header may be older. */
#define NETDEV_FAMILY          "netdev"
#define NETDEV_CMD_QUEUE_GET   10
#define NETDEV_A_QUEUE_IFINDEX 2
#define NETDEV_A_QUEUE_TYPE    3
#define NETDEV_QUEUE_TYPE_TX   1

/* --- netlink ---------------------------------------------------------------------------------- */

struct queue {
	uint64_t ifindex;
	uint64_t type;
};

static int take_txqueues_attr(const struct nlattr *attr, void *user)
{
	struct queue *queue = user;

	if (mnl_attr_get_type(attr) == NETDEV_A_QUEUE_IFINDEX)
		queue->ifindex = genl_number(attr);
	else if (mnl_attr_get_type(attr) == NETDEV_A_QUEUE_TYPE)
		queue->type = genl_number(attr);
	return MNL_CB_OK;
}

bool txqueues_is_transmit(const struct nlmsghdr *message, unsigned int ifindex)
{
	struct queue queue = { 0 };

	mnl_attr_parse(message, GENL_HDRLEN, take_txqueues_attr, &queue);
	return queue.ifindex == ifindex && queue.type == NETDEV_QUEUE_TYPE_TX;
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
	_Alignas(struct nlmsghdr) char buf[GENL_QUESTION_CAP];
	struct count count = { .ifindex = ifindex };
	struct genl_family family;
	struct nlmsghdr *question;

	if (genl_find(NETDEV_FAMILY, "", &family))
		return 0;
	question = genl_begin(buf, family.id, NETDEV_CMD_QUEUE_GET);
	question->nlmsg_flags |= NLM_F_DUMP;
	mnl_attr_put_u32(question, NETDEV_A_QUEUE_IFINDEX, ifindex);
	return genl_ask(NETLINK_GENERIC, question, take_queue, &count) ? 0 : count.n;
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
