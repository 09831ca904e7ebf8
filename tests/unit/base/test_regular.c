/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path that is no regular file is refused at once: each kind, directly and by a link. */
#include "base/files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

static char folder[] = "/tmp/regular.XXXXXX", at[64], by_link[64];

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(at, sizeof(at), "%s/it", folder);
	snprintf(by_link, sizeof(by_link), "%s/link", folder);
	return symlink("it", by_link);
}

static int end(void **state)
{
	(void)state;
	unlink(at);
	unlink(by_link);
	return rmdir(folder);
}

static void make_file(void)
{
	FILE *f = fopen(at, "w");

	assert_non_null(f);
	assert_true(fputs("text", f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void make_fifo(void)
{
	assert_int_equal(mkfifo(at, 0600), 0);
}

static void make_socket(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(name.sun_path, at, sizeof(at));
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	close(fd);
}

static void make_terminal(void)
{
	assert_int_equal(symlink("/dev/ptmx", at), 0);
}

static void make_folder(void)
{
	assert_int_equal(symlink(".", at), 0);
}

static void make_nothing(void)
{
}

static const struct row {
	const char *label;
	void (*make)(void);
	int code;
} rows[] = {
	{ "file", make_file, 0 },
	{ "FIFO", make_fifo, ERR_NOT_REGULAR },
	{ "socket", make_socket, ERR_NOT_REGULAR },
	{ "terminal", make_terminal, ERR_NOT_REGULAR },
	{ "folder", make_folder, -EISDIR },
	{ "nothing", make_nothing, -ENOENT },
};

static void each_kind(void **state)
{
	const char *const paths[] = { at, by_link };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i / 2];
		const char *path = paths[i % 2];
		struct stat st;
		FILE *f;
		int fd;

		print_message("%s%s\n", row->label, i % 2 ? ", by a link" : "");
		row->make();
		assert_int_equal(regular_check(path), row->code);
		fd = regular_open(path, &st);
		assert_int_equal(fd < 0 ? fd : 0, row->code);
		assert_true(fd < 0 || st.st_size == 4);
		assert_int_equal(regular_fopen(&f, path, NULL), row->code);
		assert_int_equal(f == NULL, row->code != 0);
		if (f)
			fclose(f);
		if (fd >= 0)
			close(fd);
		unlink(at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
