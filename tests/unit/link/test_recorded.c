/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages that a kernel has sent (tests/data/link/record.py): whole, cut, with wrong octets. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/link.h"
#include "link/netdev.h"
#include "link/vlans.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const struct recorded {
	const char *name;
	const char *bytes;
	size_t n;
} recorded[] = {
#include "tests/data/link/messages.inc"
};

/*
 * A copy of that size, so that ASan sees a read behind its end. Netlink aligns messages to 4
 * octets, and libmnl reads the octets up to there. The caller frees it.
 */
static struct nlmsghdr *copy_message(const struct recorded *from, size_t n)
{
	struct nlmsghdr *message = calloc(1, NLMSG_ALIGN(n));

	assert_non_null(message);
	memcpy(message, from->bytes, n);
	return message;
}

static const struct recorded *find_recorded(const char *name)
{
	for (size_t i = 0; i < N(recorded); i++)
		if (!strcmp(recorded[i].name, name))
			return &recorded[i];
	fail_msg("%s was not recorded", name);
	return NULL;
}

/* --- Links ------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	const char *kind, *master_kind;
	uint32_t mtu;
	bool has_parent, has_far_parent, has_native_xdp, is_up;
} links[] = {
	{ "lo", "", "", 65536, false, false, false, true },
	{ "v0", "veth", "", 1500, false, true, false, true },
	{ "v1", "veth", "", 1400, false, true, true, true },
	{ "v2", "veth", "", 1500, true, false, false, false },
	{ "v3", "veth", "bridge", 1500, true, false, false, false },
	{ "br0", "bridge", "", 1500, false, false, false, false },
};

static void parse_recorded(const char *name, struct link *link)
{
	const struct recorded *from = find_recorded(name);
	struct nlmsghdr *message = copy_message(from, from->n);

	assert_int_equal(link_parse(link, message), 0);
	free(message);
}

static void test_links(void **state)
{
	struct link link;

	(void)state;
	for (size_t i = 0; i < N(links); i++) {
		print_message("  %s\n", links[i].name);
		parse_recorded(links[i].name, &link);
		assert_string_equal(link.kind, links[i].kind);
		assert_string_equal(link.master_kind, links[i].master_kind);
		assert_int_equal(link.mtu, links[i].mtu);
		assert_int_equal(link.parent != 0, links[i].has_parent);
		assert_int_equal(link.far_parent != 0, links[i].has_far_parent);
		assert_int_equal(link.has_native_xdp, links[i].has_native_xdp);
		assert_int_equal(link.is_up, links[i].is_up);
		assert_int_equal(link.master != 0, *links[i].master_kind != 0);
		assert_true(link.is_ethernet);
	}
}

/* The two ends of a pair name each other, and a port names its bridge. */
static void test_how_links_belong_together(void **state)
{
	struct link v0, v1, v2, v3, br0;

	(void)state;
	parse_recorded("v0", &v0);
	parse_recorded("v1", &v1);
	parse_recorded("v2", &v2);
	parse_recorded("v3", &v3);
	parse_recorded("br0", &br0);
	assert_int_equal(v0.far_parent, v1.ifindex);
	assert_int_equal(v1.far_parent, v0.ifindex);
	assert_int_equal(v2.parent, v3.ifindex);
	assert_int_equal(v3.parent, v2.ifindex);
	assert_int_equal(v3.master, br0.ifindex);
}

/* --- The family "netdev" ---------------------------------------------------------------------- */

/* This kernel's veth has XDP, and redirects. */
static void test_xdp_features(void **state)
{
	const struct recorded *from = find_recorded("features");
	struct nlmsghdr *message = copy_message(from, from->n);
	const uint64_t features = netdev_parse_xdp_features(message);

	(void)state;
	assert_true(features & NETDEV_XDP_BASIC && features & NETDEV_XDP_REDIRECT);
	assert_false(features & NETDEV_XDP_ZEROCOPY);
	free(message);
}

static void test_transmit_queues(void **state)
{
	unsigned int n_all = 0, n_sending = 0;
	struct link v0;

	(void)state;
	parse_recorded("v0", &v0);
	for (size_t i = 0; i < N(recorded); i++) {
		struct nlmsghdr *message;

		if (strncmp(recorded[i].name, "queue", 5) != 0)
			continue;
		message = copy_message(&recorded[i], recorded[i].n);
		n_sending += netdev_is_tx_queue(message, v0.ifindex);
		assert_false(netdev_is_tx_queue(message, v0.ifindex + 1));
		n_all++;
		free(message);
	}
	assert_int_equal(n_all, 4);
	assert_int_equal(n_sending, 2);
}

/* --- Broken messages -------------------------------------------------------------------------- */

/* All that read such a message. Text must end within its room. */
static int read_by_all(const struct nlmsghdr *message)
{
	const struct link on = { .ifindex = 1 };
	struct link link;
	int err = link_parse(&link, message);

	assert_non_null(memchr(link.kind, 0, sizeof(link.kind)));
	assert_non_null(memchr(link.master_kind, 0, sizeof(link.master_kind)));
	(void)vlans_is_on(&on, message);
	return err;
}

static void read_as_netdev(const struct nlmsghdr *message)
{
	(void)netdev_parse_xdp_features(message);
	(void)netdev_is_tx_queue(message, 1);
}

/* The kernel's datagram ends early, and its length says so. */
static void test_cut_anywhere(void **state)
{
	const size_t head = NLMSG_LENGTH(sizeof(struct ifinfomsg));

	(void)state;
	for (size_t i = 0; i < N(links); i++) {
		const struct recorded *from = find_recorded(links[i].name);

		for (size_t n = sizeof(struct nlmsghdr); n < from->n; n++) {
			struct nlmsghdr *message = copy_message(from, n);

			message->nlmsg_len = (uint32_t)n;
			assert_int_equal(read_by_all(message), n < head ? -EBADMSG : 0);
			read_as_netdev(message);
			free(message);
		}
	}
}

/* Each octet after the header takes each of some values: lengths lie, types change. */
static void test_wrong_octets(void **state)
{
	static const uint8_t values[] = { 0, 1, 3, 4, 5, 0x7f, 0x80, 0xff };

	(void)state;
	for (size_t i = 0; i < N(recorded); i++) {
		struct nlmsghdr *message = copy_message(&recorded[i], recorded[i].n);
		uint8_t *octets = (uint8_t *)message;

		for (size_t at = sizeof(*message); at < recorded[i].n; at++) {
			const uint8_t before = octets[at];

			for (size_t v = 0; v < sizeof(values); v++) {
				octets[at] = values[v];
				(void)read_by_all(message);
				read_as_netdev(message);
			}
			octets[at] = before;
		}
		free(message);
	}
}

/* An answer to another question is none. */
static void test_other_messages(void **state)
{
	static const char *const others[] = { "stats", "features", "queue 0" };

	(void)state;
	for (size_t i = 0; i < N(others); i++) {
		const struct recorded *from = find_recorded(others[i]);
		struct nlmsghdr *message = copy_message(from, from->n);

		assert_int_equal(read_by_all(message), -EBADMSG);
		free(message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_how_links_belong_together),
		cmocka_unit_test(test_xdp_features),
		cmocka_unit_test(test_transmit_queues),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_wrong_octets),
		cmocka_unit_test(test_other_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
