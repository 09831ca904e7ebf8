/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One writer at a time, no writing through a link, only regular files are replaced, and nothing is
 * left after an error. */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
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

/* --- Other kinds of files --------------------------------------------------------------------- */

static void make_fifo(const char *path)
{
	MUST(!mkfifo(path, 0600));
}

static void make_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	MUST(fd >= 0 && snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path) <
				(int)sizeof(addr.sun_path));
	MUST(!bind(fd, (struct sockaddr *)&addr, sizeof(addr)));
	close(fd);
}

/* As /dev/null. Needs root. */
static void make_device(const char *path)
{
	MUST(!mknod(path, S_IFCHR | 0666, makedev(1, 3)));
}

static void make_folder(const char *path)
{
	MUST(!mkdir(path, 0700));
}

static const struct kind {
	const char *name;
	void (*make)(const char *path);
	int code;
	bool is_roots;
} kinds[] = {
	{ "FIFO", make_fifo, ERR_NOT_REGULAR, false },
	{ "socket", make_socket, ERR_NOT_REGULAR, false },
	{ "device", make_device, ERR_NOT_REGULAR, true },
	{ "folder", make_folder, -EISDIR, false },
};

static mode_t kind_of(const char *path)
{
	struct stat st;

	MUST(!lstat(path, &st));
	return st.st_mode & S_IFMT;
}

static void assert_stays(const struct kind *kind)
{
	char found[256], link[256];
	mode_t before;
	int fd;

	print_message("%s\n", kind->name);
	snprintf(link, sizeof(link), "%s.link", tmpfolder_file);
	kind->make(tmpfolder_file);
	MUST(!symlink(tmpfolder_file, link));
	before = kind_of(tmpfolder_file);
	assert_int_equal(replace_find(tmpfolder_file, found, sizeof(found)), kind->code);
	assert_int_equal(replace_find(link, found, sizeof(found)), kind->code);
	fd = begin("new");
	assert_int_equal(replace_finish(tmp, tmpfolder_file), kind->code);
	assert_int_equal(replace_finish(tmp, link), ERR_NOT_REGULAR);
	replace_drop(fd, tmp);
	close(fd);
	assert_int_equal(kind_of(tmpfolder_file), before);
	assert_int_equal(replace_open(tmpfolder_file), kind->code); /* the temporary file's name */
	assert_int_equal(kind_of(tmpfolder_file), before);
	MUST(!remove(tmpfolder_file) && !unlink(link));
}

static void only_files_are_replaced(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!kinds[i].is_roots || !geteuid())
			assert_stays(&kinds[i]);
}

/* --- Links ------------------------------------------------------------------------------------ */

static void assert_found(const char *path, const char *want)
{
	char found[256], text[300];

	snprintf(text, sizeof(text), "%s/%s", tmpfolder, want);
	assert_int_equal(replace_find(path, found, sizeof(found)), 0);
	assert_string_equal(found, text);
}

static void a_link_is_followed(void **state)
{
	char first[256], second[256], found[256];

	(void)state;
	snprintf(first, sizeof(first), "%s/first", tmpfolder);
	snprintf(second, sizeof(second), "%s/second", tmpfolder);
	assert_found(tmpfolder_file, strrchr(tmpfolder_file, '/') + 1); /* no file yet */
	MUST(!symlink("second", first) && !symlink(tmpfolder_file, second));
	for (unsigned int i = 0; i < 2; i++) { /* it dangles at first */
		assert_found(first, strrchr(tmpfolder_file, '/') + 1);
		MUST(i || !close(creat(tmpfolder_file, 0600)));
	}
	assert_int_equal(replace_find(first, found, strlen(tmpfolder_file)), -ENAMETOOLONG);
	MUST(!unlink(second) && !symlink("first", second));
	assert_int_equal(replace_find(first, found, sizeof(found)), -ELOOP);
	unlink(first);
	unlink(second);
	unlink(tmpfolder_file);
}

/* Such a link would lead a process of root to any file. */
static void a_link_of_another_user_is_not(void **state)
{
	char link[256], found[256];

	(void)state;
	if (geteuid())
		skip();
	snprintf(link, sizeof(link), "%s/link", tmpfolder);
	MUST(!symlink(tmpfolder_file, link) && !lchown(link, 1234, 1234));
	assert_int_equal(replace_find(link, found, sizeof(found)), ERR_LINK);
	MUST(!seteuid(1234)); /* its own */
	assert_int_not_equal(replace_find(link, found, sizeof(found)), ERR_LINK);
	MUST(!seteuid(0) && !unlink(link));
}

/* Its owner could read the new text, and another name of the file may be one that matters. */
static void a_file_that_others_have_left_is_not_written(void **state)
{
	char other[256];
	struct stat st;
	int fd;

	(void)state;
	snprintf(other, sizeof(other), "%s/other", tmpfolder);
	fd = begin("another file");
	close(fd);
	MUST(!link(tmp, other));
	fd = begin("new");
	assert_holds(other, "another file");
	close(fd);
	MUST(!unlink(other));
	if (!geteuid()) {
		MUST(!chown(tmp, 1234, 1234));
		fd = begin("newer");
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_uid, 0);
		close(fd);
	}
	MUST(!unlink(tmp));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_new_one_takes_its_place),
		cmocka_unit_test(what_was_left_is_overwritten),
		cmocka_unit_test(one_writer_at_a_time),
		cmocka_unit_test(what_cannot_be),
		cmocka_unit_test(only_files_are_replaced),
		cmocka_unit_test(a_link_is_followed),
		cmocka_unit_test(a_link_of_another_user_is_not),
		cmocka_unit_test(a_file_that_others_have_left_is_not_written),
	};

	return cmocka_run_group_tests(tests, setup, tmpfolder_remove);
}
