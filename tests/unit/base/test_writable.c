/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each kind of path that a part would open for writing, or replace: the check says what the opening
 * would say, and leaves nothing behind. */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

static char folder[] = "/tmp/writable.XXXXXX";

static const char *at(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s%s", folder, name);
	return path;
}

static int begin(void **state)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd;

	(void)state;
	if (!mkdtemp(folder) || mkfifo(at("/fifo"), 0600) || symlink("new", at("/to-new")) ||
	    symlink("no/new", at("/to-nothing")))
		return -1;
	fd = open(at("/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "text", 4) != 4 || close(fd))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", at("/socket"));
	return fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof(name)) || close(fd);
}

static int end(void **state)
{
	static const char *const names[] = { "/fifo", "/to-new", "/to-nothing", "/file",
					     "/socket" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(at(names[i]));
	return rmdir(folder); /* fails if a check has left a file */
}

static void test_each_kind(void **state)
{
	static const struct {
		const char *name;
		int written, replaced;
	} rows[] = {
		{ "/new", 0, 0 },
		{ "/file", 0, 0 },
		{ "/to-new", 0, 0 },
		{ "/fifo", 0, ERR_NOT_REGULAR },
		{ "/socket", -ENXIO, ERR_NOT_REGULAR },
		{ "", -EISDIR, -EISDIR },
		{ "/no/new", -ENOENT, -ENOENT },
		{ "/to-nothing", -ENOENT, -ENOENT },
		{ "/file/new", -ENOTDIR, -ENOTDIR },
	};
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].name);
		assert_int_equal(writable_check(at(rows[i].name)), rows[i].written);
		assert_int_equal(writable_check_replaced(at(rows[i].name)), rows[i].replaced);
	}
	assert_int_equal(stat(at("/file"), &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(writable_check("/"), -EISDIR);
	assert_int_equal(writable_check_replaced("name-without-folder"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_kind) };

	return cmocka_run_group_tests(tests, begin, end);
}
