/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a process opens, and which ports it uses, after landlock_enforce(). */
#include "base/landlock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
	int rules = landlock_open(LANDLOCK_FILES), status;
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

/* A socket that is bound to 127.0.0.1, and its port. */
static int bound_socket(uint16_t *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(*port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(at);

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(fd, (struct sockaddr *)&at, &n)) {
		const int code = errno;

		close(fd);
		return -code;
	}
	*port = ntohs(at.sin_port);
	return fd;
}

static int listen_somewhere(uint16_t *port)
{
	int fd;

	*port = 0;
	fd = bound_socket(port);
	assert_true(fd >= 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* From a source address, as a resolver with outgoing-interface does. 0 or the errno. */
static int try_connect(uint16_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	uint16_t own = 0;
	const int fd = bound_socket(&own);
	int code;

	if (fd < 0)
		return -fd;
	code = connect(fd, (const struct sockaddr *)&to, sizeof(to)) ? errno : 0;
	close(fd);
	return code;
}

/* 0, or the number of the step that was not as it should be. */
static int try_tcp(int rules, uint16_t allowed, uint16_t other)
{
	uint16_t port = allowed;
	int fd;

	if (landlock_allow_connect(rules, allowed) || landlock_allow_bind(rules, 0))
		return 1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_enforce(rules))
		return 2;
	if (try_connect(allowed))
		return 3;
	if (try_connect(other) != EACCES)
		return 4;
	fd = bound_socket(&port);
	return fd == -EACCES ? 0 : 5;
}

static void uses_only_allowed_ports(void **state)
{
	int rules = landlock_open(LANDLOCK_FILES_AND_TCP), status;
	uint16_t allowed, other;
	const int one = listen_somewhere(&allowed), two = listen_somewhere(&other);
	pid_t pid;

	(void)state;
	if (rules == -ENOSYS || rules == -EOPNOTSUPP ||
	    syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 4)
		skip();
	assert_true(rules >= 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(try_tcp(rules, allowed, other));
	close(rules);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(one);
	close(two);
}

/* 0, or the number of the step that was not as it should be. */
static int try_signals(int rules, pid_t parent)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_enforce(rules))
		return 1;
	return kill(parent, 0) && errno == EPERM && !kill(getpid(), 0) ? 0 : 2;
}

static void signals_no_other_process(void **state)
{
	int rules = landlock_open(LANDLOCK_FILES_AND_TCP), status;
	const pid_t parent = getpid();
	pid_t pid;

	(void)state;
	if (rules == -ENOSYS || rules == -EOPNOTSUPP ||
	    syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 6)
		skip();
	assert_true(rules >= 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(try_signals(rules, parent));
	close(rules);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void knows_folders_of_others(void **state)
{
	static const char *const wide[] = {
		"/", "/etc", "/etc/", "/var/lib", "/var/log", "/usr/lib/..", "/etc/ssl/../../etc"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (!landlock_is_too_wide(wide[i]))
			fail_msg("%s", wide[i]);
	assert_false(landlock_is_too_wide(tmpfolder));
	assert_false(landlock_is_too_wide("/etc/ssl"));
	assert_false(landlock_is_too_wide("/nothing/is/here"));
	assert_int_equal(symlink("/etc", at("link")), 0);
	assert_true(landlock_is_too_wide(at("link")));
}

static void finds_the_folder_of_a_path(void **state)
{
	static const struct {
		const char *path;
		size_t n;
	} cases[] = {
		{ "/a/b", 2 }, { "/a", 1 },      { "a", 0 },
		{ "a/b", 1 },  { "/a/%s/b", 2 }, { "/a/b%s", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(landlock_folder_bytes(cases[i].path), cases[i].n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_only_what_is_allowed),
		cmocka_unit_test(uses_only_allowed_ports),
		cmocka_unit_test(signals_no_other_process),
		cmocka_unit_test(knows_folders_of_others),
		cmocka_unit_test(finds_the_folder_of_a_path),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove_all);
}
