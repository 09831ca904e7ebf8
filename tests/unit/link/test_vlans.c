/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which VLANs stand on a link, from messages made here: the kernel that this runs on may have
 * none. */
#include "link/vlans.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link/netlink.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

struct row {
	const char *name, *kind;
	uint32_t parent; /* 0: none */
	bool is_elsewhere;
	bool is_on;
};

/* The link is number 3, a member of number 8. */
static const struct row rows[] = {
	{ "on it", "vlan", 3, false, true },
	{ "on its bridge", "vlan", 8, false, true },
	{ "on another", "vlan", 4, false, false },
	{ "on number 3 of another namespace", "vlan", 3, true, false },
	{ "a macvlan on it", "macvlan", 3, false, false },
	{ "on nothing", "vlan", 0, false, false },
};

static struct nlmsghdr *make(void *buf, const struct row *row)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	struct nlattr *nest;

	message->nlmsg_type = RTM_NEWLINK;
	head->ifi_index = 7;
	head->ifi_type = ARPHRD_ETHER;
	if (row->parent)
		mnl_attr_put_u32(message, IFLA_LINK, row->parent);
	if (row->is_elsewhere)
		mnl_attr_put_u32(message, IFLA_LINK_NETNSID, 0);
	nest = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, row->kind);
	mnl_attr_nest_end(message, nest);
	return message;
}

static void test_is_on(void **state)
{
	const struct link member = { .ifindex = 3, .master = 8 }, alone = { .ifindex = 3 };
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		struct nlmsghdr *message = make(buf, &rows[i]);

		if (vlans_is_on(&member, message) != rows[i].is_on)
			fail_msg("%s", rows[i].name);
		assert_int_equal(vlans_is_on(&alone, message),
				 rows[i].is_on && rows[i].parent == alone.ifindex);
	}
}

static void test_other_messages(void **state)
{
	const struct link link = { .ifindex = 3 };
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *message = make(buf, &rows[0]);

	(void)state;
	message->nlmsg_type = RTM_DELLINK;
	assert_false(vlans_is_on(&link, message));
	message->nlmsg_type = RTM_NEWLINK;
	message->nlmsg_len = (uint32_t)mnl_nlmsg_size(sizeof(struct ifinfomsg)) - 1;
	assert_false(vlans_is_on(&link, message));
}

static void test_of_this_machine(void **state)
{
	struct link lo, veth = { .kind = "veth" }, none = { .ifindex = INT32_MAX };
	char name[IF_NAMESIZE];

	(void)state;
	assert_int_equal(link_read(&lo, "lo"), 0);
	assert_false(vlans_find(&lo, name));
	assert_false(vlans_are_taken_out(&lo, "lo"));
	assert_false(vlans_are_taken_out(&veth, "lo"));
	assert_false(vlans_find(&none, name));
	assert_false(vlans_are_taken_out(&none, "not.there"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_on),
		cmocka_unit_test(test_other_messages),
		cmocka_unit_test(test_of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
