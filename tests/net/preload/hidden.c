// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: no other network namespace may be looked into, as where its user namespace is
 * another's. So nobody knows what the other end of a veth pair has. test_leaving.py and
 * test_plain_veth.py compile it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t n)
{
	ssize_t (*real)(const struct mnl_socket *, const void *, size_t) =
		(ssize_t(*)(const struct mnl_socket *, const void *,
			    size_t))dlsym(RTLD_NEXT, "mnl_socket_sendto");
	const struct nlmsghdr *message = buf;
	const struct nlattr *attr;

	if (message->nlmsg_type == RTM_GETLINK)
		mnl_attr_for_each(attr, message, sizeof(struct ifinfomsg))
		{
			if (mnl_attr_get_type(attr) != IFLA_TARGET_NETNSID)
				continue;
			errno = EPERM;
			return -1;
		}
	return real(nl, buf, n);
}
