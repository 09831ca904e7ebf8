/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions by netlink, over libmnl: one question is one socket with a time limit, and the library
 * walks the answer. Most are of generic netlink, whose families and groups have names to look up
 * first; those of rtnetlink go the same way. The kernel's
 * Documentation/userspace-api/netlink/intro.rst tells of it.
 */
#ifndef VOLLEY_IFACE_GENL_H
#define VOLLEY_IFACE_GENL_H

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

/* A question with its attributes; align it as struct nlmsghdr. */
#define GENL_QUESTION_CAP 512

struct genl_family {
	uint16_t id;
	uint32_t group; /* 0: there is none of that name */
};

/*
 * A socket of BUS (NETLINK_GENERIC, NETLINK_ROUTE) with SOCK_* FLAGS that hears of the RTMGRP_*
 * GROUPS; the caller's, by mnl_socket_close(). 0 or -errno: *out is NULL then.
 */
int genl_open(struct mnl_socket **out, int bus, int flags, unsigned int groups)
	__attribute__((warn_unused_result));

/* Begins a question to a family, in GENL_QUESTION_CAP bytes at buf: attributes come with
 * mnl_attr_put_*(). */
struct nlmsghdr *genl_begin(void *buf, uint16_t family, uint8_t command);

/*
 * Sends it over BUS, in the network namespace that the caller is in, and calls TAKE for every
 * message of the answer. Flags and number of the question are filled in; NLM_F_DUMP is the
 * caller's. -EAGAIN: no answer within half a second. 0 or -errno, by the kernel, or by TAKE with
 * MNL_CB_ERROR and errno. Any thread.
 */
int genl_ask(int bus, struct nlmsghdr *question, mnl_cb_t take, void *user)
	__attribute__((warn_unused_result));

/*
 * What numbers the kernel has given to a family and to its multicast group of that name. 0, -ENOENT
 * (a kernel without it), or -errno. Any thread.
 */
int genl_find(const char *family, const char *group, struct genl_family *out)
	__attribute__((warn_unused_result));

/* The same, from the kernel's answer. */
int genl_parse_family(const struct nlmsghdr *message, const char *group, struct genl_family *out)
	__attribute__((warn_unused_result));

/* What an attribute holds: a number of 1, 2, 4 or 8 bytes (0: it is none), a text, cut to cap with
 * its NUL. */
uint64_t genl_number(const struct nlattr *attr);
void genl_text(const struct nlattr *attr, char *buf, size_t cap);

#endif
