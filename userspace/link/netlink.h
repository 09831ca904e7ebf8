/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to the kernel by netlink, with libmnl. Each question has a socket of its own with a
 * time limit. Families and groups of generic netlink must first be looked up by name; questions for
 * rtnetlink use the same functions. See the kernel's Documentation/userspace-api/netlink/intro.rst.
 */
#ifndef VOLLEY_LINK_NETLINK_H
#define VOLLEY_LINK_NETLINK_H

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a question with its attributes; align the buffer as struct nlmsghdr. */
#define NETLINK_QUESTION_CAP 512

struct netlink_family {
	uint16_t id;
	uint32_t group; /* 0: there is no group of that name */
};

/*
 * Opens a socket of `bus` (NETLINK_GENERIC, NETLINK_ROUTE) with SOCK_* `flags` that receives the
 * RTMGRP_* `groups`. The caller closes it with mnl_socket_close(). 0, or -errno and *out is NULL.
 */
int netlink_open(struct mnl_socket **out, int bus, int flags, unsigned int groups)
	__attribute__((warn_unused_result));

/*
 * Begins a question to a family of generic netlink, in NETLINK_QUESTION_CAP bytes at buf. The
 * caller adds attributes with mnl_attr_put_*().
 */
struct nlmsghdr *netlink_begin(void *buf, uint16_t family, uint8_t command);

/*
 * Sends the question over `bus`, in the caller's network namespace, and calls `take` for every
 * message of the answer. Fills in flags and number of the question; the caller sets NLM_F_DUMP.
 * -EAGAIN: no answer within half a second. 0 or -errno, from the kernel, or from `take` by
 * MNL_CB_ERROR and errno. Any thread.
 */
int netlink_ask(int bus, struct nlmsghdr *question, mnl_cb_t take, void *user)
	__attribute__((warn_unused_result));

/*
 * Looks up the numbers of a family and of its multicast group by name. 0, -ENOENT (the kernel does
 * not have it), or -errno. Any thread.
 */
int netlink_find_family(const char *family, const char *group, struct netlink_family *out)
	__attribute__((warn_unused_result));

/* Reads the same from the kernel's answer. */
int netlink_parse_family(const struct nlmsghdr *message, const char *group,
			 struct netlink_family *out) __attribute__((warn_unused_result));

/* The value of an attribute: a number of 1, 2, 4 or 8 bytes (0: it is not a number), or a text, cut
 * to cap with its NUL. */
uint64_t netlink_number(const struct nlattr *attr);
void netlink_text(const struct nlattr *attr, char *buf, size_t cap);

#endif
