/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/netdev.h"

#include <linux/genetlink.h>

#define QUEUE_SENDS 1 /* NETDEV_QUEUE_TYPE_TX */

static uint16_t ifindex_attr(enum netdev_command command)
{
	switch (command) {
	case NETDEV_QUEUE_GET:
		return NETDEV_QUEUE_IFINDEX;
	case NETDEV_NAPI_GET:
		return NETDEV_NAPI_IFINDEX;
	default:
		return NETDEV_DEV_IFINDEX;
	}
}

int netdev_ask(enum netdev_command command, unsigned int ifindex, mnl_cb_t take, void *user)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct netlink_family family;
	struct nlmsghdr *question;
	int err = netlink_find_family("netdev", "", &family);

	if (err)
		return err;
	question = netlink_begin(buf, family.id, (uint8_t)command);
	if (command != NETDEV_DEV_GET)
		question->nlmsg_flags = NLM_F_DUMP;
	mnl_attr_put_u32(question, ifindex_attr(command), ifindex);
	return netlink_ask(NETLINK_GENERIC, question, take, user);
}

/* --- Features --------------------------------------------------------------------------------- */

static int take_features_attr(const struct nlattr *attr, void *user)
{
	if (mnl_attr_get_type(attr) == NETDEV_DEV_XDP_FEATURES)
		*(uint64_t *)user = netlink_number(attr);
	return MNL_CB_OK;
}

uint64_t netdev_parse_xdp_features(const struct nlmsghdr *message)
{
	uint64_t features = 0;

	mnl_attr_parse(message, GENL_HDRLEN, take_features_attr, &features);
	return features;
}

static int take_features(const struct nlmsghdr *message, void *user)
{
	*(uint64_t *)user = netdev_parse_xdp_features(message);
	return MNL_CB_OK;
}

int netdev_xdp_features(unsigned int ifindex, uint64_t *features)
{
	*features = UINT64_MAX;
	return netdev_ask(NETDEV_DEV_GET, ifindex, take_features, features);
}

/* --- Transmit queues -------------------------------------------------------------------------- */

struct queue {
	uint64_t ifindex;
	uint64_t type;
};

static int take_queue_attr(const struct nlattr *attr, void *user)
{
	struct queue *queue = user;

	if (mnl_attr_get_type(attr) == NETDEV_QUEUE_IFINDEX)
		queue->ifindex = netlink_number(attr);
	else if (mnl_attr_get_type(attr) == NETDEV_QUEUE_TYPE)
		queue->type = netlink_number(attr);
	return MNL_CB_OK;
}

bool netdev_is_tx_queue(const struct nlmsghdr *message, unsigned int ifindex)
{
	struct queue queue = { 0 };

	mnl_attr_parse(message, GENL_HDRLEN, take_queue_attr, &queue);
	return queue.ifindex == ifindex && queue.type == QUEUE_SENDS;
}

struct count {
	unsigned int ifindex;
	uint32_t n;
};

static int take_queue(const struct nlmsghdr *message, void *user)
{
	struct count *count = user;

	count->n += netdev_is_tx_queue(message, count->ifindex);
	return MNL_CB_OK;
}

uint32_t netdev_count_tx_queues(unsigned int ifindex)
{
	struct count count = { .ifindex = ifindex };

	return netdev_ask(NETDEV_QUEUE_GET, ifindex, take_queue, &count) ? 0 : count.n;
}
