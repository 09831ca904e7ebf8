/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An order of the operator outlives the daemon, and whatever the file holds it is one line. */
#include "control/drain.h"

#include <errno.h>
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

static char folder[] = "/tmp/test_drain.XXXXXX";
static char sock[64], file[80];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(sock, sizeof(sock), "%s/control.sock", folder);
	snprintf(file, sizeof(file), "%s" DRAIN_SUFFIX, sock);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(file);
	return rmdir(folder);
}

static void assert_text(const struct drain *drain, const char *expected)
{
	char text[DRAIN_WHY_CAP + 16];

	assert_string_equal(drain_text(drain, text, sizeof(text)), expected);
}

static void test_the_next_daemon_knows(void **state)
{
	struct drain first, next;

	(void)state;
	drain_open(&first, sock);
	assert_text(&first, "");
	assert_int_equal(drain_set(&first, true, "new kernel"), 0);
	drain_open(&next, sock);
	assert_text(&next, "drained: new kernel");
	assert_int_equal(drain_set(&next, true, NULL), 0);
	drain_open(&first, sock);
	assert_text(&first, "drained");
	assert_int_equal(drain_set(&first, false, NULL), 0);
	assert_int_equal(drain_set(&first, false, NULL), 0); /* is no fault */
	drain_open(&next, sock);
	assert_text(&next, "");
}

static void test_one_line(void **state)
{
	char longest[2 * DRAIN_WHY_CAP];
	struct drain drain;

	(void)state;
	drain_open(&drain, sock);
	assert_int_equal(drain_set(&drain, true, "two\nlines\033[2J"), 0);
	assert_text(&drain, "drained: two lines [2J");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(drain_set(&drain, true, longest), 0);
	drain_open(&drain, sock);
	assert_int_equal(strlen(drain.why), DRAIN_WHY_CAP - 1);
	assert_int_equal(drain_set(&drain, false, NULL), 0);
}

/* It holds, and says that the next daemon will not know. */
static void test_a_file_that_cannot_be(void **state)
{
	struct drain drain;

	(void)state;
	drain_open(&drain, sock);
	snprintf(drain.path, sizeof(drain.path), "%s/none/x", folder);
	assert_int_equal(drain_set(&drain, true, "so"), -ENOENT);
	assert_text(&drain, "drained: so");
}

/* Something is there: rather out than in. */
static void test_a_file_that_cannot_be_read(void **state)
{
	struct drain drain;

	(void)state;
	assert_int_equal(symlink("/dev/zero", file), 0);
	drain_open(&drain, sock);
	assert_text(&drain, "drained");
	assert_int_equal(drain_set(&drain, true, NULL), -ELOOP);
	assert_int_equal(drain_set(&drain, false, NULL), 0);
	assert_int_equal(access(file, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_next_daemon_knows),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_a_file_that_cannot_be),
		cmocka_unit_test(test_a_file_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
