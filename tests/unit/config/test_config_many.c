/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations with as much of one thing as may be. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/config/configtext.h"

static void test_too_many_interfaces(void **state)
{
	char text[4096], err[512];
	struct config *config;
	size_t used = (size_t)snprintf(text, sizeof(text), LISTEN "interfaces:\n");

	(void)state;
	for (unsigned int i = 0; i < CONFIG_INTERFACES_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "  - name: eth%u\n", i);
	config = load_good(text);
	assert_int_equal(config->n_interfaces, CONFIG_INTERFACES_MAX);
	config_free(config);
	snprintf(text + used, sizeof(text) - used, "  - name: more\n");
	assert_int_equal(load(&config, text, err, sizeof(err)), ERR_CONFIG);
	assert_non_null(strstr(err, ":3: interfaces: has 65 items, give at most 64"));
}

static void test_many_zones(void **state)
{
	size_t cap = 4u << 20, used;
	char *text = malloc(cap);
	struct config *config;

	(void)state;
	assert_non_null(text);
	used = (size_t)snprintf(text, cap, LISTEN "zones:\n");
	for (int i = 0; i < 20000; i++)
		used += (size_t)snprintf(text + used, cap - used,
					 "  - name: zone%d.example\n    file: z/%d\n", i, i);
	config = load_good(text);
	assert_int_equal(config->n_zones, 20000);
	assert_string_equal(config->zones[19999].name, "zone19999.example.");
	config_free(config);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many_interfaces),
		cmocka_unit_test(test_many_zones),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
