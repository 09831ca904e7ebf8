/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define ANSWER_CAP 32768 /* the kernel's datagrams are not larger */
#define WAIT_MS    500   /* the kernel answers at once; a question must not delay volleyd */

/* --- Questions -------------------------------------------------------------------------------- */

int netlink_open(struct mnl_socket **out, int bus, int flags, unsigned int groups)
{
	int err;

	*out = mnl_socket_open2(bus, flags | SOCK_CLOEXEC);
	if (!*out)
		return -errno;
	if (!mnl_socket_bind(*out, groups, MNL_SOCKET_AUTOPID))
		return 0;
	err = -errno;
	mnl_socket_close(*out);
	*out = NULL;
	return err;
}

struct nlmsghdr *netlink_begin(void *buf, uint16_t family, uint8_t command)
{
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));

	question->nlmsg_type = family;
	head->cmd = command;
	head->version = 1;
	return question;
}

static ssize_t receive_netlink(const struct mnl_socket *nl, void *buf, size_t cap)
{
	ssize_t n;

	do
		n = mnl_socket_recvfrom(nl, buf, cap);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Reads up to the acknowledgement, or to the end of a dump. */
static int take_all_netlink(const struct mnl_socket *nl, unsigned int number, mnl_cb_t take,
			    void *user)
{
	_Alignas(struct nlmsghdr) char buf[ANSWER_CAP];
	int ret;

	do {
		ssize_t n = receive_netlink(nl, buf, sizeof(buf));

		ret = n < 0 ? MNL_CB_ERROR :
			      mnl_cb_run(buf, (size_t)n, number, mnl_socket_get_portid(nl), take,
					 user);
	} while (ret > MNL_CB_STOP);
	return ret < 0 ? -errno : 0;
}

int netlink_ask(int bus, struct nlmsghdr *question, mnl_cb_t take, void *user)
{
	const struct timeval wait = { .tv_usec = WAIT_MS * 1000 };
	struct mnl_socket *nl;
	int err = netlink_open(&nl, bus, 0, 0);

	if (err)
		return err;
	question->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	question->nlmsg_seq = 1;
	if (setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    mnl_socket_sendto(nl, question, question->nlmsg_len) < 0)
		err = -errno;
	else
		err = take_all_netlink(nl, question->nlmsg_seq, take, user);
	mnl_socket_close(nl);
	return err;
}

/* --- Families --------------------------------------------------------------------------------- */

struct search {
	const char *group;
	struct netlink_family *family;
};

struct group {
	const char *name;
	uint32_t number;
	bool is_it;
};

static int take_group_attr(const struct nlattr *attr, void *user)
{
	struct group *group = user;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
		group->number = (uint32_t)netlink_number(attr);
	else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
		group->is_it = !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) &&
			       !strcmp(mnl_attr_get_str(attr), group->name);
	return MNL_CB_OK;
}

static int take_netlink_group(const struct nlattr *nest, void *user)
{
	const struct search *search = user;
	struct group group = { .name = search->group };

	mnl_attr_parse_nested(nest, take_group_attr, &group);
	if (group.is_it)
		search->family->group = group.number;
	return MNL_CB_OK;
}

static int take_family_attr(const struct nlattr *attr, void *user)
{
	const struct search *search = user;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		search->family->id = (uint16_t)netlink_number(attr);
	else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
		mnl_attr_parse_nested(attr, take_netlink_group, user);
	return MNL_CB_OK;
}

int netlink_parse_family(const struct nlmsghdr *message, const char *group,
			 struct netlink_family *out)
{
	*out = (struct netlink_family){ 0 };
	mnl_attr_parse(message, GENL_HDRLEN, take_family_attr, &(struct search){ group, out });
	return out->id ? 0 : -EBADMSG;
}

static int take_family(const struct nlmsghdr *message, void *user)
{
	const struct search *search = user;
	int err = netlink_parse_family(message, search->group, search->family);

	errno = -err;
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

int netlink_find_family(const char *family, const char *group, struct netlink_family *out)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = netlink_begin(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);

	*out = (struct netlink_family){ 0 };
	if (!mnl_attr_put_strz_check(question, sizeof(buf), CTRL_ATTR_FAMILY_NAME, family))
		return -ENOENT;
	return netlink_ask(NETLINK_GENERIC, question, take_family, &(struct search){ group, out });
}

/* --- Attributes ------------------------------------------------------------------------------- */

uint64_t netlink_number(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint64_t):
		return mnl_attr_get_u64(attr);
	case sizeof(uint32_t):
		return mnl_attr_get_u32(attr);
	case sizeof(uint16_t):
		return mnl_attr_get_u16(attr);
	case sizeof(uint8_t):
		return mnl_attr_get_u8(attr);
	default:
		return 0;
	}
}

void netlink_text(const struct nlattr *attr, char *buf, size_t cap)
{
	snprintf(buf, cap, "%.*s", mnl_attr_get_payload_len(attr), mnl_attr_get_str(attr));
}
