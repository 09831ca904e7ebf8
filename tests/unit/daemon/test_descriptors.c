/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What descriptors are enough for: a table of limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "daemon/descriptors.h"
#include "port/tcp_peers.h"

#define N_WORKERS 4

static const struct config plain = { .n_listen = 2,
				     .tcp_connections_cap = 1000,
				     .n_interfaces = 1 };

static uint64_t wanted(void)
{
	struct descriptors all;
	char err[256];

	assert_int_equal(descriptors_plan(&all, &plain, N_WORKERS, UINT64_MAX, err, sizeof(err)),
			 0);
	return all.n_wanted;
}

static void test_enough(void **state)
{
	struct descriptors d;
	char err[256] = "";

	(void)state;
	assert_int_equal(descriptors_plan(&d, &plain, N_WORKERS, wanted(), err, sizeof(err)), 0);
	assert_int_equal(d.n_tcp, 1000);
	assert_int_equal(d.n_transfer, TCP_PEERS_DEFAULT);
	assert_string_equal(d.problem, "");
}

/* Whatever the limit, fixed parts and connections together are within it, or the start is
 * refused. */
static void test_never_more_than_the_limit(void **state)
{
	struct descriptors d;
	char err[256];
	int n_refused = 0, n_fewer = 0;

	(void)state;
	for (uint64_t limit = 0; limit < wanted(); limit += 7) {
		if (descriptors_plan(&d, &plain, N_WORKERS, limit, err, sizeof(err))) {
			n_refused++;
			assert_true(limit < d.n_fixed + DESCRIPTORS_CONNS_MIN);
			assert_non_null(strstr(err, "file descriptors at least"));
			continue;
		}
		n_fewer++;
		assert_true(d.n_tcp > 0 && d.n_transfer > 0);
		assert_true(d.n_fixed + d.n_tcp + d.n_transfer <= limit);
		assert_non_null(strstr(d.problem, "of 1000 connections over TCP and TLS"));
	}
	assert_true(n_refused > 10 && n_fewer > 100);
}

static void test_more_workers_need_more(void **state)
{
	struct descriptors few, many;
	char err[256];

	(void)state;
	assert_int_equal(descriptors_plan(&few, &plain, 1, UINT64_MAX, err, sizeof(err)), 0);
	assert_int_equal(descriptors_plan(&many, &plain, 128, UINT64_MAX, err, sizeof(err)), 0);
	assert_true(many.n_fixed >= few.n_fixed + 127ull * 2 * plain.n_listen);
}

static int grow(const struct descriptors *d, uint32_t n_listen, char *err, size_t cap)
{
	return descriptors_grow(d, &plain, N_WORKERS, n_listen, plain.n_interfaces, err, cap);
}

/* Addresses that a reload brings: within the limit, by a higher one, and not at all. */
static void test_more_addresses(void **state)
{
	struct descriptors d;
	struct rlimit limit;
	char err[256] = "";
	rlim_t n;

	(void)state;
	assert_int_equal(descriptors_plan(&d, &plain, N_WORKERS, UINT64_MAX, err, sizeof(err)), 0);
	n = d.n_fixed + d.n_tcp + N_WORKERS + d.n_transfer;
	limit = (struct rlimit){ .rlim_cur = n, .rlim_max = n + 2 * N_WORKERS };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(grow(&d, plain.n_listen - 1, err, sizeof(err)), 0);
	assert_int_equal(grow(&d, plain.n_listen, err, sizeof(err)), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(limit.rlim_cur, n);
	assert_int_equal(grow(&d, plain.n_listen + 2, err, sizeof(err)), -EMFILE);
	assert_non_null(strstr(err, "4 addresses and 1 interfaces need"));
	assert_int_equal(grow(&d, plain.n_listen + 1, err, sizeof(err)), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(limit.rlim_cur, n + 2 * N_WORKERS);
}

/* Primaries of a secondary are asked from more sockets if there are some, but a limit that was
 * enough without them stays enough. */
static void test_primaries_need_no_more(void **state)
{
	struct config asks = plain;
	struct descriptors with, without;
	char err[256];

	(void)state;
	asks.n_remotes = 1;
	asks.n_transfers = 16;
	assert_int_equal(descriptors_plan(&with, &asks, N_WORKERS, UINT64_MAX, err, sizeof(err)),
			 0);
	asks.n_remotes = 0;
	assert_int_equal(descriptors_plan(&without, &asks, N_WORKERS, UINT64_MAX, err, sizeof(err)),
			 0);
	assert_true(with.n_wanted > without.n_wanted + 500);
	assert_int_equal(with.n_fixed, without.n_fixed);
	asks.n_remotes = 1;
	assert_int_equal(descriptors_plan(&with, &asks, N_WORKERS, 1024, err, sizeof(err)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enough),
		cmocka_unit_test(test_primaries_need_no_more),
		cmocka_unit_test(test_never_more_than_the_limit),
		cmocka_unit_test(test_more_workers_need_more),
		cmocka_unit_test(test_more_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
