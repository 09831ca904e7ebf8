/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of generic netlink as is needed: the number of a family, of one of its groups, and one
 * question with a number in it. The kernel's Documentation/userspace-api/netlink/intro.rst tells of it.
 */
#ifndef VOLLEY_CONTROL_GENL_H
#define VOLLEY_CONTROL_GENL_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

#define GENL_ANSWER_CAP 8192 /* enough for one message of a family's description */

struct genl_family {
	uint16_t id;
	uint32_t group; /* 0: there is none of that name */
};

/* A socket, or -errno. */
int genl_open(void);

/*
 * What numbers the kernel has given to a family and to its multicast group of that name. 0, -ENOENT
 * (a kernel without it), or -errno.
 */
int genl_find(int fd, const char *family, const char *group, struct genl_family *out)
	__attribute__((warn_unused_result));

/* The same, from the kernel's answer. */
int genl_parse_family(const struct nlmsghdr *message, const char *group, struct genl_family *out)
	__attribute__((warn_unused_result));

/*
 * Asks the command of a family about one thing: attribute `type`, a number. The answer lies in buf,
 * GENL_ANSWER_CAP bytes, aligned as struct nlmsghdr. 0 or -errno.
 */
int genl_ask_u32(int fd, uint16_t family, uint8_t command, uint16_t type, uint32_t value, void *buf)
	__attribute__((warn_unused_result));

/* The first attribute of that type in a message, or NULL. */
const struct rtattr *genl_attr(const struct nlmsghdr *message, uint16_t type);

#endif
