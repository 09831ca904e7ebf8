/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers near a card, by tables of nodes; what this machine says of itself is only asked. */
#include "iface/cores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define ANY  CORES_NODE_ANY

struct row {
	const char *name;
	int nodes[4];
	unsigned int n;
	int node; /* of the card */
	unsigned int expected[8];
};

static const struct row rows[] = {
	{ "no nodes", { ANY, ANY, ANY }, 3, ANY, { 0, 1, 2, 0, 1, 2, 0, 1 } },
	{ "one node", { 0, 0, 0, 0 }, 4, 0, { 0, 1, 2, 3, 0, 1, 2, 3 } },
	{ "a card that says none", { 0, 1, 0, 1 }, 4, ANY, { 0, 1, 2, 3, 0, 1, 2, 3 } },
	{ "the far node's turn comes last", { 0, 1, 0, 1 }, 4, 1, { 1, 3, 0, 2, 1, 3, 0, 2 } },
	{ "none is near", { 0, 0 }, 2, 1, { 0, 1, 0, 1, 0, 1, 0, 1 } },
	{ "one worker", { 1 }, 1, 0, { 0, 0, 0, 0, 0, 0, 0, 0 } },
};

static void test_worker(void **state)
{
	unsigned int queue;
	size_t i;

	(void)state;
	for (i = 0; i < N(rows); i++)
		for (queue = 0; queue < 8; queue++)
			if (cores_worker(rows[i].nodes, rows[i].n, queue, rows[i].node) !=
			    rows[i].expected[queue])
				fail_msg("%s: queue %u", rows[i].name, queue);
}

/* Every queue has one worker, and no worker has two queues before each has one. */
static void test_worker_is_a_permutation(void **state)
{
	unsigned int queue, seen, nodes;

	(void)state;
	for (nodes = 0; nodes < 81; nodes++) {
		int of[4] = { (int)(nodes % 3) - 1, (int)(nodes / 3 % 3) - 1,
			      (int)(nodes / 9 % 3) - 1, (int)(nodes / 27) - 1 };

		for (seen = 0, queue = 0; queue < 4; queue++)
			seen |= 1u << cores_worker(of, 4, queue, 0);
		assert_int_equal(seen, 15);
	}
}

/* Whatever node the processors are on: the order of equals stays. */
static void test_order(void **state)
{
	const int node = cores_cpu_node(0), nowhere = 1 << 20;
	int cpus[] = { nowhere, 0, nowhere + 1 };
	const int far_first[] = { nowhere, 0, nowhere + 1 },
		  near_first[] = { 0, nowhere, nowhere + 1 };

	(void)state;
	cores_order(cpus, N(cpus), NULL, 0);
	assert_memory_equal(cpus, far_first, sizeof(cpus));
	cores_order(cpus, N(cpus), &node, 1);
	assert_memory_equal(cpus, node == ANY ? far_first : near_first, sizeof(cpus));
	assert_int_equal(cores_cpu_node(-1), ANY);
	assert_int_equal(cores_link_node("not.there"), ANY);
}

static void test_memory(void **state)
{
	(void)state;
	cores_prefer_memory(0);
	cores_prefer_memory(CORES_NODE_ANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker),
		cmocka_unit_test(test_worker_is_a_permutation),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
