/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks of zone files: when an unchanged file is known to be unchanged. */
#include "zonemgr/zonefile.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/tmpfolder.h"

static char path[128], other[128];

static void write_text(const char *to, const char *text)
{
	FILE *f = fopen(to, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static struct zonefile_mark mark_of_path(void)
{
	struct zonefile_mark mark;

	zonefile_mark_read(path, &mark);
	return mark;
}

/* The mark, as if the file had been written long before. */
static struct zonefile_mark begin_settled(void)
{
	struct zonefile_mark mark;

	snprintf(path, sizeof(path), "%s/a.zone", tmpfolder);
	snprintf(other, sizeof(other), "%s/b.zone", tmpfolder);
	write_text(path, "first");
	mark = mark_of_path();
	mark.is_settled = true;
	return mark;
}

static bool is_unchanged_since(const struct zonefile_mark *before)
{
	return zonefile_is_unchanged(path, before);
}

static void test_a_new_file_is_not_settled(void **state)
{
	struct zonefile_mark mark = begin_settled();
	time_t began_s;

	(void)state;
	assert_true(is_unchanged_since(&mark));
	do { /* again if the processor was busy meanwhile */
		began_s = time(NULL);
		write_text(path, "first");
		mark = mark_of_path();
	} while (time(NULL) - began_s > 1);
	assert_false(mark.is_settled); /* a write in the same tick would leave its times */
	assert_false(is_unchanged_since(&mark));
	zonefile_mark_read("zones/example.com.zone", &mark);
	assert_true(mark.is_settled);
}

static void test_each_change_shows(void **state)
{
	static const struct timespec old[2] = { { .tv_sec = 1000000000 },
						{ .tv_sec = 1000000000 } };
	struct zonefile_mark mark = begin_settled(), changed;

	(void)state;
	write_text(path, "longer than before");
	assert_false(is_unchanged_since(&mark));
	/* the same size, and the time is set back: as rsync does */
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	mark = mark_of_path();
	mark.is_settled = true;
	changed = mark;
	changed.status ^= 1;
	assert_true(is_unchanged_since(&mark));
	assert_false(is_unchanged_since(&changed));
	/* another file takes its place */
	write_text(other, "longer than before");
	assert_int_equal(utimensat(AT_FDCWD, other, old, 0), 0);
	assert_int_equal(rename(other, path), 0);
	assert_false(is_unchanged_since(&mark));
	assert_int_equal(unlink(path), 0);
	assert_false(is_unchanged_since(&mark));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_file_is_not_settled),
		cmocka_unit_test(test_each_change_shows),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
