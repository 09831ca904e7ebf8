/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces in a folder like /sys/class/net, made here. */
#include "link/sysfs.h"

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

static char folder[] = "/tmp/volley-sysfs-XXXXXX";

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
	assert_int_equal(sysfs_count_tx_queues(folder, "eth0", 7), 0);
	make("eth0/ifindex", "7\n");
	assert_int_equal(sysfs_count_tx_queues(folder, "eth0", 7), 0);
	make("eth0/queues", NULL);
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		snprintf(path, sizeof(path), "eth0/queues/%s", queues[i]);
		make(path, NULL);
	}
	assert_int_equal(sysfs_count_tx_queues(folder, "eth0", 7), 2);
	assert_int_equal(sysfs_count_tx_queues(folder, "eth0", 8), 0); /* of another namespace */
	assert_int_equal(sysfs_count_tx_queues(folder, "eth1", 7), 0);
	assert_int_equal(sysfs_count_tx_queues(folder, "eth0", 0), 0);
	assert_true(sysfs_shows_link(folder, "eth0", 7));
	assert_false(sysfs_shows_link(folder, "eth0", 8));
	assert_false(sysfs_shows_link(folder, "eth0", 0));
	snprintf(path, sizeof(path), "rm -r %s", folder);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
