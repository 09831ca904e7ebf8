/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/genl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ATTR_CAP 64

struct question {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	struct rtattr attr;
	char value[ATTR_CAP];
};

int genl_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	return fd < 0 ? -errno : fd;
}

static int ask(int fd, struct question *q, uint16_t type, const void *value, size_t n_bytes,
	       void *buf)
{
	const struct nlmsghdr *head = buf;
	ssize_t n;

	if (n_bytes > sizeof(q->value))
		return -EINVAL;
	q->head.nlmsg_len = (uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + RTA_SPACE(n_bytes));
	q->head.nlmsg_flags = NLM_F_REQUEST;
	q->attr.rta_type = type;
	q->attr.rta_len = (uint16_t)RTA_LENGTH(n_bytes);
	memcpy(q->value, value, n_bytes);
	if (send(fd, q, q->head.nlmsg_len, 0) < 0)
		return -errno;
	n = recv(fd, buf, GENL_ANSWER_CAP, 0);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(head, (size_t)n))
		return -EBADMSG;
	if (head->nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(head))->error;
	return 0;
}

int genl_ask_u32(int fd, uint16_t family, uint8_t command, uint16_t type, uint32_t value, void *buf)
{
	struct question q = { .head.nlmsg_type = family,
			      .generic = { .cmd = command, .version = 1 } };

	return ask(fd, &q, type, &value, sizeof(value), buf);
}

static const struct rtattr *find(const struct rtattr *attr, size_t left, uint16_t type)
{
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if ((attr->rta_type & NLA_TYPE_MASK) == type)
			return attr;
	return NULL;
}

const struct rtattr *genl_attr(const struct nlmsghdr *message, uint16_t type)
{
	const size_t before = NLMSG_LENGTH(GENL_HDRLEN);

	if (message->nlmsg_len < before)
		return NULL;
	return find((const void *)((const char *)message + before), message->nlmsg_len - before,
		    type);
}

static const struct rtattr *find_in(const struct rtattr *nest, uint16_t type)
{
	return find(RTA_DATA(nest), RTA_PAYLOAD(nest), type);
}

static uint32_t group_number(const struct rtattr *groups, const char *name)
{
	size_t left = RTA_PAYLOAD(groups);
	const struct rtattr *group;
	uint32_t number = 0;

	for (group = RTA_DATA(groups); RTA_OK(group, left); group = RTA_NEXT(group, left)) {
		const struct rtattr *its_name = find_in(group, CTRL_ATTR_MCAST_GRP_NAME);
		const struct rtattr *its_id = find_in(group, CTRL_ATTR_MCAST_GRP_ID);

		if (!its_name || !its_id || RTA_PAYLOAD(its_id) < sizeof(number) ||
		    RTA_PAYLOAD(its_name) != strlen(name) + 1 ||
		    memcmp(RTA_DATA(its_name), name, strlen(name) + 1) != 0)
			continue;
		memcpy(&number, RTA_DATA(its_id), sizeof(number));
		return number;
	}
	return 0;
}

int genl_parse_family(const struct nlmsghdr *message, const char *group, struct genl_family *out)
{
	const struct rtattr *id = genl_attr(message, CTRL_ATTR_FAMILY_ID);
	const struct rtattr *groups = genl_attr(message, CTRL_ATTR_MCAST_GROUPS);

	*out = (struct genl_family){ 0 };
	if (!id || RTA_PAYLOAD(id) < sizeof(out->id))
		return -EBADMSG;
	memcpy(&out->id, RTA_DATA(id), sizeof(out->id));
	if (groups)
		out->group = group_number(groups, group);
	return 0;
}

int genl_find(int fd, const char *family, const char *group, struct genl_family *out)
{
	_Alignas(struct nlmsghdr) char answer[GENL_ANSWER_CAP];
	struct question q = { .head.nlmsg_type = GENL_ID_CTRL,
			      .generic = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 } };
	int err = ask(fd, &q, CTRL_ATTR_FAMILY_NAME, family, strlen(family) + 1, answer);

	return err ? err : genl_parse_family((const void *)answer, group, out);
}
