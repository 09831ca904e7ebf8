/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact text that doctor prints. */
#include "doctor/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void print(const char *json, char *buf, size_t cap)
{
	json_t *result = json_loads(json, 0, NULL);
	FILE *out = fmemopen(buf, cap, "w");

	assert_non_null(result);
	assert_non_null(out);
	doctor_print(out, result, 50);
	assert_int_equal(fclose(out), 0);
	json_decref(result);
}

static void test_print(void **state)
{
	char buf[1024];

	(void)state;
	print("{\"checks\": ["
	      "{\"where\": \"host\", \"check\": \"kernel\", \"state\": \"ok\","
	      " \"text\": \"Linux 6\"},"
	      "{\"where\": \"eth0\", \"check\": \"mtu\", \"state\": \"fail\","
	      " \"text\": \"one two three four five six\","
	      " \"do\": \"ip link set dev eth0 mtu 1500\"}],"
	      "\"ok\": 1, \"warnings\": 0, \"failures\": 1, \"unknown\": 0}",
	      buf, sizeof(buf));
	assert_string_equal(buf, "host\n"
				 "  ok      kernel          Linux 6\n"
				 "\n"
				 "eth0\n"
				 "  fail    mtu             one two three four five\n"
				 "                          six\n"
				 "                          -> ip link set dev eth0 mtu 1500\n"
				 "\n"
				 "1 ok, 0 warnings, 1 failures, 0 not checked\n");
}

/* The name of a program or a process must not control the terminal. */
static void test_print_controls(void **state)
{
	char buf[1024];

	(void)state;
	print("{\"checks\": [{\"where\": \"e\\u001bth\", \"check\": \"x\", \"state\": \"warn\","
	      "\"text\": \"a\\u001b[2Jb\", \"do\": \"c\\nd\"}]}",
	      buf, sizeof(buf));
	assert_null(strchr(buf, '\033'));
	assert_non_null(strstr(buf, "e?th\n"));
	assert_non_null(strstr(buf, "a?[2Jb\n"));
	assert_non_null(strstr(buf, "c?d\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_print_controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
