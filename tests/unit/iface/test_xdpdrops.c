/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which statistics of ethtool -S are answers that a driver dropped: names as kernels from 6.1 on
 * have them. */
#include "iface/xdpdrops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *driver;
	const char *name;
	bool is_one;
} rows[] = {
	{ "virtio_net", "tx_queue_0_xdp_tx_drops", true },
	{ "virtio_net", "tx_queue_17_xdp_tx_drops", true },
	{ "virtio_net", "tx3_xdp_tx_drops", true },
	{ "virtio_net", "tx_xdp_tx_drops", false }, /* the sum of these */
	{ "virtio_net", "tx3_xdp_tx", false },
	{ "virtio_net", "rx3_xdp_drops", false }, /* what the program itself drops is in there */
	{ "veth", "rx_queue_1_xdp_tx_errors", true },
	{ "veth", "tx_queue_1_xdp_xmit_errors", false },
	{ "mlx5_core", "rx_xdp_tx_full", true },
	{ "mlx5_core", "rx_xdp_tx_err", true },
	{ "mlx5_core", "rx0_xdp_tx_full", false },
	{ "mlx4_en", "rx_xdp_tx_full", true },
	{ "gve", "rx_xdp_tx_errors[3]", true },
	{ "gve", "rx_xdp_tx[3]", false },
	{ "mvneta", "rx_xdp_tx_errors", true },
	{ "mvpp2", "rx_xdp_tx_errors", true },
	{ "fec", "rx_xdp_tx_errors", true },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct xdpdrops_driver *driver = xdpdrops_find(rows[i].driver);
		char name[XDPDROPS_NAME_BYTES] = { 0 };

		assert_non_null(driver);
		print_message("%s: %s\n", rows[i].driver, rows[i].name);
		memcpy(name, rows[i].name, strlen(rows[i].name));
		assert_int_equal(xdpdrops_is_one(driver, name), rows[i].is_one);
	}
}

/* A name may fill its place, and the next one begins right behind it. */
static void test_a_name_without_an_end(void **state)
{
	char names[2 * XDPDROPS_NAME_BYTES];

	(void)state;
	memset(names, 'x', sizeof(names));
	assert_false(xdpdrops_is_one(xdpdrops_find("veth"), names));
}

static void test_drivers_that_do_not_tell(void **state)
{
	(void)state;
	assert_null(xdpdrops_find("igb"));
	assert_null(xdpdrops_find(""));
}

static void test_what_has_no_such_statistics(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(xdpdrops_read(xdpdrops_find("veth"), "lo", &n) < 0);
	assert_true(xdpdrops_read(xdpdrops_find("veth"), "not.there", &n) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_name_without_an_end),
		cmocka_unit_test(test_drivers_that_do_not_tell),
		cmocka_unit_test(test_what_has_no_such_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
