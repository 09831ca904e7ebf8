/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One writer at a time, no writing through a link, and nothing left after an error. */
#include "base/replace.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"

static char tmp[256];

static int setup(void **state)
{
	int err = tmpfolder_make(state);

	snprintf(tmp, sizeof(tmp), "%s.new", tmpfolder_file);
	return err;
}

static int begin(const char *text)
{
	int fd = replace_open(tmp);

	MUST(fd >= 0 && !replace_clear(fd));
	MUST(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !fsync(fd));
	return fd;
}

static void assert_holds(const char *path, const char *text)
{
	FILE *f = fopen(path, "r");
	char buf[64] = "";

	assert_non_null(f);
	assert_int_equal(fread(buf, 1, sizeof(buf) - 1, f), strlen(text));
	assert_string_equal(buf, text);
	fclose(f);
}

static void the_new_one_takes_its_place(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		fd = begin(i ? "second" : "first");
		assert_int_equal(replace_finish(tmp, tmpfolder_file), 0);
		close(fd);
		assert_holds(tmpfolder_file, i ? "second" : "first");
		assert_int_equal(access(tmp, F_OK), -1);
	}
	assert_int_equal(stat(tmpfolder_file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	unlink(tmpfolder_file);
}

/* The old file is longer, and all may read it: neither must remain. */
static void what_was_left_is_overwritten(void **state)
{
	struct stat st;
	int fd = begin("what somebody has left");

	(void)state;
	MUST(!fchmod(fd, 0644));
	close(fd);
	fd = replace_open(tmp);
	assert_true(fd >= 0);
	assert_holds(tmp, "what somebody has left");
	close(fd);
	fd = begin("new");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_holds(tmp, "new");
	replace_drop(fd, tmp);
	close(fd);
	assert_int_equal(access(tmp, F_OK), -1);
}

static void one_writer_at_a_time(void **state)
{
	int fd = begin("first"), next;

	(void)state;
	assert_int_equal(replace_open(tmp), -EBUSY);
	MUST(!rename(tmp, tmpfolder_file));
	next = begin("second");
	replace_drop(fd, tmp); /* it is not ours any more */
	assert_holds(tmp, "second");
	replace_drop(next, tmp);
	close(fd);
	close(next);
	unlink(tmpfolder_file);
}

static void what_cannot_be(void **state)
{
	int fd;

	(void)state;
	MUST(!symlink(tmpfolder_file, tmp));
	assert_int_equal(replace_open(tmp), -ELOOP);
	unlink(tmp);
	fd = begin("new");
	MUST(!mkdir(tmpfolder_file, 0700));
	assert_int_equal(replace_finish(tmp, tmpfolder_file), -EISDIR);
	replace_drop(fd, tmp);
	close(fd);
	assert_int_equal(access(tmp, F_OK), -1);
	rmdir(tmpfolder_file);
	assert_int_equal(replace_open("/nowhere/at/all"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_new_one_takes_its_place),
		cmocka_unit_test(what_was_left_is_overwritten),
		cmocka_unit_test(one_writer_at_a_time),
		cmocka_unit_test(what_cannot_be),
	};

	return cmocka_run_group_tests(tests, setup, tmpfolder_remove);
}
