/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rtnetlink and generic netlink say, from messages made here: also of links this kernel has
 * not. */
#include "link/link.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/netdev.h"

/* A message that grows by attributes; one may hold others. */
static _Alignas(struct nlmsghdr) uint8_t bytes[1024];
static struct nlmsghdr *const message = (struct nlmsghdr *)bytes;

static void begin(uint16_t type, const void *head, size_t n)
{
	memset(bytes, 0, sizeof(bytes));
	message->nlmsg_type = type;
	message->nlmsg_len = (uint32_t)NLMSG_LENGTH(n);
	memcpy(NLMSG_DATA(message), head, n);
}

static struct rtattr *put(uint16_t type, const void *data, size_t n)
{
	struct rtattr *attr = (void *)(bytes + NLMSG_ALIGN(message->nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = (uint16_t)RTA_LENGTH(n);
	if (n)
		memcpy(RTA_DATA(attr), data, n);
	message->nlmsg_len = (uint32_t)(NLMSG_ALIGN(message->nlmsg_len) + RTA_SPACE(n));
	return attr;
}

static void end(struct rtattr *nest)
{
	nest->rta_len = (uint16_t)(bytes + message->nlmsg_len - (uint8_t *)nest);
}

static void begin_link(int index, unsigned int flags, unsigned short type)
{
	const struct ifinfomsg info = { .ifi_index = index, .ifi_flags = flags, .ifi_type = type };

	begin(RTM_NEWLINK, &info, sizeof(info));
}

static void put_kinds(const char *kind, const char *master_kind)
{
	struct rtattr *nest = put(IFLA_LINKINFO | NLA_F_NESTED, NULL, 0);

	if (kind)
		put(IFLA_INFO_KIND, kind, strlen(kind) + 1);
	if (master_kind)
		put(IFLA_INFO_SLAVE_KIND, master_kind,
		    strlen(master_kind)); /* without its end, too */
	end(nest);
}

static void test_a_vlan(void **state)
{
	const uint8_t mac[6] = { 2, 0, 0, 0, 0, 9 };
	const uint32_t parent = 3, mtu = 1500;
	struct link info;

	(void)state;
	begin_link(7, IFF_UP, ARPHRD_ETHER);
	put(IFLA_IFNAME, "eth0.5", 7);
	put(IFLA_MTU, &mtu, sizeof(mtu));
	put(IFLA_ADDRESS, mac, sizeof(mac));
	put(IFLA_LINK, &parent, sizeof(parent));
	put_kinds("vlan", NULL);
	assert_int_equal(link_parse(&info, message), 0);
	assert_int_equal(info.ifindex, 7);
	assert_true(info.is_up && info.is_ethernet);
	assert_int_equal(info.mtu, 1500);
	assert_int_equal(info.parent, 3);
	assert_int_equal(info.master, 0);
	assert_memory_equal(info.mac, mac, sizeof(mac));
	assert_true(link_is(&info, "vlan"));
	assert_false(info.far_parent || info.has_native_xdp);
}

/* A number of another namespace must not be taken for a link of this one. */
static void test_a_vlan_of_another_namespace(void **state)
{
	const uint32_t parent = 3, netnsid = 5;
	struct link info;

	(void)state;
	begin_link(7, IFF_UP, ARPHRD_ETHER);
	put(IFLA_LINK_NETNSID, &netnsid, sizeof(netnsid));
	put_kinds("vlan", NULL);
	put(IFLA_LINK, &parent, sizeof(parent));
	assert_int_equal(link_parse(&info, message), 0);
	assert_int_equal(info.parent, 0);
	assert_int_equal(info.far_parent, 3);
	assert_int_equal(info.far_netnsid, 5);
}

static void test_a_member_of_a_bond(void **state)
{
	const uint32_t master = 9;
	struct link info;

	(void)state;
	begin_link(2, 0, ARPHRD_ETHER);
	put(IFLA_MASTER, &master, sizeof(master));
	put_kinds(NULL, "bond");
	assert_int_equal(link_parse(&info, message), 0);
	assert_false(info.is_up);
	assert_int_equal(info.master, 9);
	assert_true(link_is(&info, ""));
	assert_string_equal(info.master_kind, "bond");
}

static void test_no_ethernet(void **state)
{
	const uint8_t ipv4[4] = { 192, 0, 2, 1 };
	struct link info;

	(void)state;
	begin_link(4, IFF_UP, ARPHRD_TUNNEL);
	put(IFLA_ADDRESS, ipv4, sizeof(ipv4));
	assert_int_equal(link_parse(&info, message), 0);
	assert_false(info.is_ethernet);
	assert_int_equal(info.mac[0], 0);
	begin_link(1, IFF_UP, ARPHRD_LOOPBACK);
	assert_int_equal(link_parse(&info, message), 0);
	assert_true(info.is_ethernet);
}

/* Cut anywhere, with lengths that lie: nothing is read behind its end, and no kind is longer than
 * its room. */
static void test_what_ends_early(void **state)
{
	const char *kind = "a-kind-with-a-name-that-is-longer-than-any";
	struct link info;
	uint32_t whole, n;

	(void)state;
	begin_link(7, IFF_UP, ARPHRD_ETHER);
	put_kinds(kind, kind);
	whole = message->nlmsg_len;
	for (n = 0; n < whole; n++) {
		message->nlmsg_len = n;
		if (n < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
			assert_int_equal(link_parse(&info, message), -EBADMSG);
		else
			assert_int_equal(link_parse(&info, message), 0);
		assert_true(strlen(info.kind) < sizeof(info.kind));
	}
	message->nlmsg_len = whole;
	message->nlmsg_type = RTM_DELLINK;
	assert_int_equal(link_parse(&info, message), -EBADMSG);
}

/* Lengths that lead nowhere end the walk; the message is of its own size, so ASan sees a step
 * outside. */
static void test_broken_lengths(void **state)
{
	static const uint16_t lengths[] = { 0, 1, 3, 13, 0xffff };
	const uint32_t mtu = 1500;
	struct link info;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct nlmsghdr *m;

		begin_link(7, 0, ARPHRD_ETHER);
		put(IFLA_MTU, &mtu, sizeof(mtu))->rta_len = lengths[i];
		m = malloc(message->nlmsg_len);
		assert_non_null(m);
		memcpy(m, message, message->nlmsg_len);
		assert_int_equal(link_parse(&info, m), 0);
		assert_int_equal(info.mtu, 0);
		free(m);
	}
}

static void test_of_this_machine(void **state)
{
	struct link info;

	(void)state;
	assert_int_equal(link_read(&info, "lo"), 0);
	assert_int_equal(info.ifindex, if_nametoindex("lo"));
	assert_true(info.is_ethernet && info.n_queues >= 1);
	assert_int_equal(link_read(&info, "not.there"), -ENODEV);
	assert_int_equal(info.ifindex, 0);
	assert_int_equal(link_find(&info, "a-name-that-no-link-has"), -ENODEV);
	assert_int_equal(netdev_count_tx_queues(INT32_MAX), 0);
}

enum { QUEUE_ID = 1, QUEUE_IFINDEX, QUEUE_TYPE };

static bool is_transmit(uint32_t ifindex, uint32_t type)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = netlink_begin(buf, 20, 10);

	mnl_attr_put_u32(question, QUEUE_ID, 3);
	mnl_attr_put_u32(question, QUEUE_TYPE, type);
	mnl_attr_put_u32(question, QUEUE_IFINDEX, ifindex);
	return netdev_is_tx_queue(question, 7);
}

static void test_queue_messages(void **state)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];

	(void)state;
	assert_true(is_transmit(7, 1));
	assert_false(is_transmit(7, 0)); /* receives */
	assert_false(is_transmit(8, 1)); /* another interface */
	assert_false(netdev_is_tx_queue(netlink_begin(buf, 20, 10), 7));
}

/* --- Generic netlink -------------------------------------------------------------------------- */

static void put_group(uint16_t at, const char *name, uint32_t id)
{
	struct rtattr *group = put(at, NULL, 0);

	put(CTRL_ATTR_MCAST_GRP_ID, &id, sizeof(id));
	put(CTRL_ATTR_MCAST_GRP_NAME, name, strlen(name) + 1);
	end(group);
}

static void test_a_family(void **state)
{
	const struct genlmsghdr head = { .cmd = CTRL_CMD_NEWFAMILY };
	struct netlink_family family;
	const uint16_t id = 21;
	struct rtattr *groups;

	(void)state;
	begin(GENL_ID_CTRL, &head, sizeof(head));
	assert_int_equal(netlink_parse_family(message, "monitor", &family), -EBADMSG);
	put(CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	assert_int_equal(netlink_parse_family(message, "monitor", &family), 0);
	assert_int_equal(family.group, 0);
	groups = put(CTRL_ATTR_MCAST_GROUPS, NULL, 0);
	put_group(1, "monitors", 5);
	put_group(2, "monitor", 6);
	end(groups);
	assert_int_equal(netlink_parse_family(message, "monitor", &family), 0);
	assert_int_equal(family.id, 21);
	assert_int_equal(family.group, 6);
	assert_int_equal(netlink_parse_family(message, "moni", &family), 0);
	assert_int_equal(family.group, 0);
}

static void test_a_family_of_this_machine(void **state)
{
	struct netlink_family family;

	(void)state;
	assert_int_equal(netlink_find_family("nlctrl", "notify", &family), 0);
	assert_int_equal(family.id, GENL_ID_CTRL);
	assert_true(family.group != 0);
	assert_int_equal(netlink_find_family("not.there", "notify", &family), -ENOENT);
}

static int add_length(const struct nlmsghdr *m, void *user)
{
	*(size_t *)user += m->nlmsg_len;
	return MNL_CB_OK;
}

static int refuse(const struct nlmsghdr *m, void *user)
{
	(void)m;
	(void)user;
	errno = EBADMSG;
	return MNL_CB_ERROR;
}

/* The kernel begins a dump with a datagram of less than a page: ethtool's policies take several. */
static void test_a_dump(void **state)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = netlink_begin(buf, GENL_ID_CTRL, CTRL_CMD_GETPOLICY);
	size_t n_bytes = 0;

	(void)state;
	question->nlmsg_flags = NLM_F_DUMP;
	mnl_attr_put_strz(question, CTRL_ATTR_FAMILY_NAME, "ethtool");
	assert_int_equal(netlink_ask(NETLINK_GENERIC, question, add_length, &n_bytes), 0);
	assert_true(n_bytes > 4096);
}

/* By kernel or caller. */
static void test_refused(void **state)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = netlink_begin(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);

	(void)state;
	mnl_attr_put_strz(question, CTRL_ATTR_FAMILY_NAME, "nlctrl");
	assert_int_equal(netlink_ask(NETLINK_GENERIC, question, refuse, NULL), -EBADMSG);
	question = netlink_begin(buf, GENL_ID_CTRL, 255);
	assert_int_equal(netlink_ask(NETLINK_GENERIC, question, refuse, NULL), -EOPNOTSUPP);
}

/* This bus says nothing to a question that is too short: that holds nobody up. */
static void test_no_answer(void **state)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *question = mnl_nlmsg_put_header(buf);

	(void)state;
	question->nlmsg_type = NLMSG_MIN_TYPE;
	assert_int_equal(netlink_ask(NETLINK_FIB_LOOKUP, question, refuse, NULL), -EAGAIN);
}

static void test_attributes(void **state)
{
	const uint8_t byte = 7;
	const uint16_t half = 300;
	const uint32_t word = 70000;
	const uint64_t wide = 1ull << 40;
	char text[8];

	(void)state;
	begin(0, "", 0);
	assert_int_equal(netlink_number((void *)put(1, &byte, sizeof(byte))), 7);
	assert_int_equal(netlink_number((void *)put(1, &half, sizeof(half))), 300);
	assert_int_equal(netlink_number((void *)put(1, &word, sizeof(word))), 70000);
	assert_true(netlink_number((void *)put(1, &wide, sizeof(wide))) == wide);
	assert_int_equal(netlink_number((void *)put(1, NULL, 0)), 0);
	assert_int_equal(netlink_number((void *)put(1, &word, 3)), 0);
	netlink_text((void *)put(1, "veth", 5), text, sizeof(text));
	assert_string_equal(text, "veth");
	netlink_text((void *)put(1, "veth", 4), text, sizeof(text));
	assert_string_equal(text, "veth");
	netlink_text((void *)put(1, "veth", 5), text, 3);
	assert_string_equal(text, "ve");
	netlink_text((void *)put(1, NULL, 0), text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_vlan),
		cmocka_unit_test(test_a_vlan_of_another_namespace),
		cmocka_unit_test(test_a_member_of_a_bond),
		cmocka_unit_test(test_no_ethernet),
		cmocka_unit_test(test_what_ends_early),
		cmocka_unit_test(test_broken_lengths),
		cmocka_unit_test(test_of_this_machine),
		cmocka_unit_test(test_queue_messages),
		cmocka_unit_test(test_a_family),
		cmocka_unit_test(test_a_family_of_this_machine),
		cmocka_unit_test(test_a_dump),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
