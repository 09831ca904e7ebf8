/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a process opens after landlock_enforce(). */
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/tmpfolder.h"

static char *at(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", tmpfolder, name);
	return path;
}

static void make_file(const char *name)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	close(fd);
}

/* 0 or the errno. */
static int try_open(const char *name, int flags)
{
	int fd = open(at(name), flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int allow(int rules, const char *name, enum landlock_right right)
{
	return landlock_allow(rules, at(name), right);
}

/* 0, or the number of the step that was not as it should be. */
static int try_all(int rules)
{
	char other[512];
	int open_before = open(at("none/file"), O_RDONLY | O_CLOEXEC);

	if (allow(rules, "read", LANDLOCK_READ) || allow(rules, "write", LANDLOCK_WRITE) ||
	    allow(rules, "one/file", LANDLOCK_WRITE) ||
	    allow(rules, "nothing", LANDLOCK_READ) != -ENOENT)
		return 1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_enforce(rules))
		return 2;
	if (try_open("read/file", O_RDONLY) || try_open("read/file", O_WRONLY) != EACCES ||
	    try_open("read/new", O_WRONLY | O_CREAT) != EACCES)
		return 3;
	if (try_open("write/file", O_RDWR) || try_open("write/new", O_WRONLY | O_CREAT) ||
	    mkdir(at("write/folder"), 0700) || unlink(at("write/new")))
		return 4;
	if (try_open("none/file", O_RDONLY) != EACCES || !unlink(at("none/file")))
		return 5;
	if (try_open("one/file", O_RDWR) || try_open("one/other", O_RDONLY) != EACCES)
		return 6;
	snprintf(other, sizeof(other), "%s", at("write/file"));
	if (!rename(at("none/file"), other) || !link(at("none/file"), at("write/link")))
		return 7;
	if (!execl(other, other, NULL) || errno != EACCES)
		return 8;
	return fcntl(open_before, F_GETFD) < 0 || read(open_before, other, 1) ? 9 : 0;
}

static void opens_only_what_is_allowed(void **state)
{
	static const char *const folders[] = { "read", "write", "none", "one" };
	int rules = landlock_open(), status;
	char name[64];
	pid_t pid;

	(void)state;
	if (rules == -ENOSYS || rules == -EOPNOTSUPP)
		skip();
	assert_true(rules >= 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		assert_int_equal(mkdir(at(folders[i]), 0700), 0);
		snprintf(name, sizeof(name), "%s/file", folders[i]);
		make_file(name);
	}
	make_file("one/other");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(try_all(rules));
	close(rules);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_only_what_is_allowed),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove_all);
}
