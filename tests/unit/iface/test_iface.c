/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of an interface: one sentence for each topic, and the state that follows. */
#include "iface/iface.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* As attached; nobody looks into the program. */
static void init(struct iface *iface)
{
	static const struct config_interface config = { .name = "eth0" };
	static char program;

	iface_init(iface, &config);
	iface->program = (struct program *)&program;
	iface->state = IFACE_UP;
}

static void test_a_fault_comes_and_goes(void **state)
{
	struct iface iface;

	(void)state;
	init(&iface);
	iface_say(&iface, IFACE_TOPIC_QUEUES, true, "queue %d: none", 1);
	assert_int_equal(iface.state, IFACE_DEGRADED);
	assert_string_equal(iface.note, "queue 1: none");
	iface_say(&iface, IFACE_TOPIC_QUEUES, true, "queue %d: none", 2);
	assert_string_equal(iface.note, "queue 2: none");
	iface_unsay(&iface, IFACE_TOPIC_QUEUES);
	assert_int_equal(iface.state, IFACE_UP);
	assert_string_equal(iface.note, "");
}

static void test_what_is_no_fault(void **state)
{
	struct iface iface;

	(void)state;
	init(&iface);
	iface_say(&iface, IFACE_TOPIC_MODE, false, "copied");
	assert_int_equal(iface.state, IFACE_UP);
	iface_say(&iface, IFACE_TOPIC_PROGRAM, true, "none");
	assert_int_equal(iface.state, IFACE_DEGRADED);
	assert_string_equal(iface.note, "none; copied");
	iface_unsay(&iface, IFACE_TOPIC_MODE);
	assert_int_equal(iface.state, IFACE_DEGRADED);
	iface_say(&iface, IFACE_TOPIC_PROGRAM, false, "generic");
	assert_int_equal(iface.state, IFACE_UP);
	assert_string_equal(iface.note, "generic");
}

static void test_gone_is_gone(void **state)
{
	struct iface iface;

	(void)state;
	init(&iface);
	iface.state = IFACE_GONE;
	iface_say(&iface, IFACE_TOPIC_PROGRAM, true, "no such interface");
	assert_int_equal(iface.state, IFACE_GONE);
	iface_unsay(&iface, IFACE_TOPIC_PROGRAM);
	assert_int_equal(iface.state, IFACE_GONE);
}

/* As long as can be, of each topic: all of it has room. */
static void test_long_sentences(void **state)
{
	char text[2 * IFACE_REMARK_CAP];
	struct iface iface;

	(void)state;
	init(&iface);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < IFACE_N_TOPICS; i++)
		iface_say(&iface, (enum iface_topic)i, false, "%s", text);
	assert_int_equal(strlen(iface.remarks[0].text), IFACE_REMARK_CAP - 1);
	assert_true(strlen(iface.note) < sizeof(iface.note));
	assert_true(strlen(iface.note) > (IFACE_N_TOPICS - 1) * IFACE_REMARK_CAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fault_comes_and_goes),
		cmocka_unit_test(test_what_is_no_fault),
		cmocka_unit_test(test_gone_is_gone),
		cmocka_unit_test(test_long_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
