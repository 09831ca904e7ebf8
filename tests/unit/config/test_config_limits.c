/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys below rrl: their defaults, all of them said, and what is refused. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/config/configtext.h"

#define RRL(x) LISTEN "rrl: {" x "}\n"

static const struct refusal refusals[] = {
	{ "more answers than can be", RRL("answers: 1000001"),
	  "3: rrl.answers: \"1000001\" is not accepted, give a whole number from 0 to 1000000" },
	{ "more octets than can be", RRL("octets: 2G"), "3: rrl.octets: \"2G\" is not accepted" },
	{ "slip below 0", RRL("slip: -1"),
	  "3: rrl.slip: \"-1\" is not accepted, give a whole number from 0 to 100" },
	{ "dry-run that is neither", RRL("dry-run: maybe"),
	  "3: rrl.dry-run: \"maybe\" is not accepted" },
	{ "a prefix with bits behind it", RRL("exempt: [192.0.2.1/24]"),
	  "3: rrl.exempt[0]: \"192.0.2.1/24\" is not accepted" },
	{ "a prefix twice", RRL("exempt: [192.0.2.0/24, 192.0.2.0/24]"), "3: rrl.exempt[1]:" },
	{ "a key that there is not", RRL("rate: 5"), "3: rrl.rate: " },
};

static void test_refusals(void **state)
{
	(void)state;
	assert_refused(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

static void test_defaults(void **state)
{
	struct config *config = load_good(LISTEN);

	(void)state;
	assert_int_equal(config->rrl.answers, 1000);
	assert_int_equal(config->rrl.octets, 256 << 10);
	assert_int_equal(config->rrl.slip, 2);
	assert_false(config->rrl.dry_run);
	assert_int_equal(config->rrl.n_exempt, 0);
	config_free(config);
}

static const char everything[] = RRL(
	"answers: 20, octets: 64K, slip: 3, dry-run: true, exempt: [192.0.2.0/24, \"2001:db8::1\"]");

static void test_everything(void **state)
{
	struct config *config = load_good(everything);

	(void)state;
	assert_int_equal(config->rrl.answers, 20);
	assert_int_equal(config->rrl.octets, 65536);
	assert_int_equal(config->rrl.slip, 3);
	assert_true(config->rrl.dry_run);
	assert_int_equal(config->rrl.n_exempt, 2);
	assert_int_equal(config->rrl.exempt[0].bits, 24);
	assert_int_equal(config->rrl.exempt[1].bits, 128);
	config_free(config);
	assert_all_used(&words_limit_keys, everything);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
