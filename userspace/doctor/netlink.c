/* SPDX-License-Identifier: GPL-2.0-only */
#include "doctor/netlink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REPLY_BYTES 65536
#define WAIT_MS     500 /* the kernel answers at once; no question may hold the others up */

void doctor_question_start(struct doctor_question *q, uint16_t type, uint16_t flags,
			   const void *head, size_t head_bytes)
{
	memset(q, 0, sizeof(*q));
	q->head.nlmsg_type = type;
	q->head.nlmsg_flags = NLM_F_REQUEST | flags;
	q->head.nlmsg_seq = 1;
	q->head.nlmsg_len = (uint32_t)NLMSG_LENGTH(head_bytes);
	memcpy(q->body, head, head_bytes);
}

void doctor_question_add(struct doctor_question *q, uint16_t type, const void *value, size_t bytes)
{
	size_t at = NLMSG_ALIGN(q->head.nlmsg_len) - sizeof(q->head);
	struct nlattr attr = { .nla_len = (uint16_t)(DOCTOR_ATTR_HEAD + bytes), .nla_type = type };

	if (at + DOCTOR_ATTR_HEAD + bytes > sizeof(q->body))
		return;
	memcpy(q->body + at, &attr, sizeof(attr));
	memcpy(q->body + at + DOCTOR_ATTR_HEAD, value, bytes);
	q->head.nlmsg_len = (uint32_t)(sizeof(q->head) + at + DOCTOR_ATTR_HEAD + bytes);
}

static int error_of(const struct nlmsghdr *m)
{
	const struct nlmsgerr *err = NLMSG_DATA(m);

	return m->nlmsg_len < NLMSG_LENGTH(sizeof(*err)) ? -EPROTO : err->error;
}

/* One datagram's messages. 1 when more are to come, 0 at the end, or -errno. */
static int take_all(const uint8_t *buf, size_t len, doctor_take *take, void *user)
{
	const struct nlmsghdr *m = (const void *)buf;
	int more = 0;

	for (; NLMSG_OK(m, len); m = NLMSG_NEXT(m, len)) {
		if (m->nlmsg_type == NLMSG_DONE)
			return 0;
		if (m->nlmsg_type == NLMSG_ERROR)
			return error_of(m);
		take(user, m);
		more = (m->nlmsg_flags & NLM_F_MULTI) != 0;
	}
	return more;
}

int doctor_ask(int protocol, const struct doctor_question *q, doctor_take *take, void *user)
{
	static _Alignas(NLMSG_ALIGNTO) uint8_t buf[REPLY_BYTES];
	struct timeval wait = { .tv_usec = WAIT_MS * 1000 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	int ret = 1;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    send(fd, q, q->head.nlmsg_len, 0) < 0)
		ret = -errno;
	while (ret == 1) {
		ssize_t got = recv(fd, buf, sizeof(buf), 0);

		ret = got < 0 ? -errno : take_all(buf, (size_t)got, take, user);
	}
	close(fd);
	return ret;
}

static const struct nlattr *find(const uint8_t *at, size_t len, uint16_t type)
{
	while (len >= sizeof(struct nlattr)) {
		const struct nlattr *attr = (const void *)at;
		size_t step = NLA_ALIGN(attr->nla_len);

		if (attr->nla_len < DOCTOR_ATTR_HEAD || attr->nla_len > len)
			return NULL;
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (step > len)
			return NULL;
		at += step;
		len -= step;
	}
	return NULL;
}

const struct nlattr *doctor_attr(const struct nlmsghdr *message, size_t head_bytes, uint16_t type)
{
	size_t skip = NLMSG_HDRLEN + NLMSG_ALIGN(head_bytes);

	if (message->nlmsg_len < skip)
		return NULL;
	return find((const uint8_t *)message + skip, message->nlmsg_len - skip, type);
}

const struct nlattr *doctor_attr_within(const struct nlattr *nest, uint16_t type)
{
	if (!nest)
		return NULL;
	return find((const uint8_t *)nest + DOCTOR_ATTR_HEAD, nest->nla_len - DOCTOR_ATTR_HEAD,
		    type);
}

uint64_t doctor_attr_number(const struct nlattr *attr)
{
	const uint8_t *at = (const uint8_t *)attr + DOCTOR_ATTR_HEAD;
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (attr ? attr->nla_len - DOCTOR_ATTR_HEAD : 0) {
	case sizeof(wide):
		memcpy(&wide, at, sizeof(wide));
		return wide;
	case sizeof(word):
		memcpy(&word, at, sizeof(word));
		return word;
	case sizeof(half):
		memcpy(&half, at, sizeof(half));
		return half;
	case 1:
		return *at;
	default:
		return 0;
	}
}

void doctor_attr_text(const struct nlattr *attr, char *buf, size_t cap)
{
	int len = attr ? (int)(attr->nla_len - DOCTOR_ATTR_HEAD) : 0;

	snprintf(buf, cap, "%.*s", len, attr ? (const char *)attr + DOCTOR_ATTR_HEAD : "");
}
