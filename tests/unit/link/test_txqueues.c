/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transmit queues, from netlink's messages and folders like sysfs, all made here. */
#include "link/txqueues.h"

#include <linux/genetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "link/netlink.h"

enum { QUEUE_ID = 1, QUEUE_IFINDEX, QUEUE_TYPE };

static bool is_transmit(uint32_t ifindex, uint32_t type)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];
	struct nlmsghdr *message = netlink_begin(buf, 20, 10);

	mnl_attr_put_u32(message, QUEUE_ID, 3);
	mnl_attr_put_u32(message, QUEUE_TYPE, type);
	mnl_attr_put_u32(message, QUEUE_IFINDEX, ifindex);
	return txqueues_is_transmit(message, 7);
}

static void test_messages(void **state)
{
	_Alignas(struct nlmsghdr) char buf[NETLINK_QUESTION_CAP];

	(void)state;
	assert_true(is_transmit(7, 1));
	assert_false(is_transmit(7, 0)); /* receives */
	assert_false(is_transmit(8, 1)); /* another interface */
	assert_false(txqueues_is_transmit(netlink_begin(buf, 20, 10), 7));
}

static char folder[] = "/tmp/volley-txqueues-XXXXXX";

static void make(const char *path, const char *content)
{
	char whole[128];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", folder, path);
	if (!content) {
		assert_int_equal(mkdir(whole, 0700), 0);
		return;
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

/* virtio_net with XDP: four queues receive, two send. */
static void test_folders(void **state)
{
	static const char *const queues[] = { "rx-0", "rx-1", "rx-2", "rx-3", "tx-0", "tx-1" };
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	make("eth0", NULL);
	assert_int_equal(txqueues_count_sysfs(folder, "eth0", 7), 0);
	make("eth0/ifindex", "7\n");
	assert_int_equal(txqueues_count_sysfs(folder, "eth0", 7), 0);
	make("eth0/queues", NULL);
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		snprintf(path, sizeof(path), "eth0/queues/%s", queues[i]);
		make(path, NULL);
	}
	assert_int_equal(txqueues_count_sysfs(folder, "eth0", 7), 2);
	assert_int_equal(txqueues_count_sysfs(folder, "eth0", 8), 0); /* of another namespace */
	assert_int_equal(txqueues_count_sysfs(folder, "eth1", 7), 0);
	assert_int_equal(txqueues_count_sysfs(folder, "eth0", 0), 0);
	snprintf(path, sizeof(path), "rm -r %s", folder);
	assert_int_equal(system(path), 0);
}

static void test_what_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(txqueues_count("not.there", 0x7ffffff0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
