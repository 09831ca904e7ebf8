/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/neighbour.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "link/netlink.h"

/* Without NLM_F_CREATE, so that a neighbour that has gone meanwhile is not created again. */
int neighbour_use(unsigned int ifindex, uint8_t family, const uint8_t *address)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);
	struct ndmsg *head = mnl_nlmsg_put_extra_header(question, sizeof(*head));

	question->nlmsg_type = RTM_NEWNEIGH;
	head->ndm_family = family;
	head->ndm_ifindex = (int)ifindex;
	head->ndm_flags = NTF_USE;
	mnl_attr_put(question, NDA_DST, family == AF_INET ? 4 : 16, address);
	return netlink_ask(NETLINK_ROUTE, question, NULL, NULL);
}
