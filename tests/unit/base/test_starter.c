/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a starter takes for a request, and what it tells of the program that it starts. */
#include "base/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/started.h"
#include "tests/lib/must.h"
#include "tests/lib/parenttest.h"
#include "tests/lib/sendfds.h"
#include "tests/lib/tmpfolder.h"

static bool is_short;

int __wrap_poll(struct pollfd *fds, nfds_t n, int wait_ms);
int __real_poll(struct pollfd *fds, nfds_t n, int wait_ms);

/* Waits less long. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int wait_ms)
{
	return __real_poll(fds, n, is_short && wait_ms > 1000 ? 1000 : wait_ms);
}

/* Writes the program: a script, which gets its task as its first argument. */
static void make_program(struct executable *program, const char *script)
{
	char path[512], err[320];
	FILE *file;

	snprintf(path, sizeof(path), "%s/volley-resolver", tmpfolder);
	file = fopen(path, "we");
	MUST(file && fprintf(file, "#!/bin/sh\n%s\n", script) > 0 && !fclose(file));
	MUST(!chmod(path, 0755));
	if (executable_open(program, tmpfolder, err, sizeof(err)))
		fail_msg("%s", err);
}

static void make_pair(int pair[2])
{
	MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
}

/* The lowest number that is free. */
static int next_fd(void)
{
	const int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

static void takes_only_whole_requests(void **state)
{
	static const struct {
		uint32_t words[2];
		size_t n;
		unsigned int n_fds;
		int want;
	} cases[] = {
		{ { EXECUTABLE_SERVE }, 4, 2, 0 },         { { EXECUTABLE_VERSION }, 4, 2, 0 },
		{ { EXECUTABLE_N_TASKS }, 4, 2, -EPROTO }, { { UINT32_MAX }, 4, 2, -EPROTO },
		{ { EXECUTABLE_SERVE }, 0, 0, -EPROTO },   { { EXECUTABLE_SERVE }, 3, 2, -EPROTO },
		{ { EXECUTABLE_SERVE }, 5, 2, -EPROTO },   { { EXECUTABLE_SERVE }, 4, 0, -EPROTO },
		{ { EXECUTABLE_SERVE }, 4, 1, -EPROTO },   { { EXECUTABLE_SERVE }, 4, 3, -EPROTO },
		{ { EXECUTABLE_SERVE }, 4, 4, -EPROTO },
	};
	struct starter_request request;
	int pair[2], before;

	(void)state;
	make_pair(pair);
	before = next_fd();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int code;

		MUST(sendfds(pair[0], cases[i].words, cases[i].n, cases[i].n_fds) ==
		     (ssize_t)cases[i].n);
		code = starter_receive(pair[1], &request);
		if (code != cases[i].want)
			fail_msg("case %zu: %d", i, code);
		if (!code) {
			assert_int_equal(request.task, cases[i].words[0]);
			starter_close(&request);
		}
		assert_int_equal(next_fd(), before);
	}
	shutdown(pair[0], SHUT_WR);
	assert_int_equal(starter_receive(pair[1], &request), ERR_CLOSED);
	close(pair[0]);
	assert_int_equal(starter_receive(pair[1], &request), ERR_CLOSED);
	close(pair[1]);
}

/* As the parent: one request, in a process of its own. */
static pid_t fork_server(int pair[2], const struct executable *program)
{
	struct starter_request request;
	pid_t pid;

	make_pair(pair);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		close(pair[0]);
		if (starter_receive(pair[1], &request))
			_exit(1);
		if (program)
			starter_run(program, &request);
		else
			starter_refuse(&request, -EAGAIN);
		_exit(0);
	}
	close(pair[1]);
	return pid;
}

static void tells_the_start_and_the_end(void **state)
{
	struct executable program;
	struct started started;
	int pair[2], file[2], status = 0;
	pid_t pid;

	(void)state;
	make_program(&program, "test $1 = --serve && read word <&3; exit 7");
	MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, file));
	pid = fork_server(pair, &program);
	assert_int_equal(starter_ask(pair[0], EXECUTABLE_SERVE, file[1], &started), 0);
	assert_int_equal(kill(started.pid, 0), 0);
	assert_true(started.statm >= 0 && started.task >= 0);
	assert_int_equal(starter_await(&started, 0, &status), -ETIMEDOUT);
	MUST(write(file[0], "a\n", 2) == 2);
	assert_int_equal(starter_await(&started, -1, &status), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(started.channel, -1);
	MUST(waitpid(pid, NULL, 0) == pid);
	close(pair[0]);
	close(file[0]);
	close(file[1]);
	executable_close(&program);
}

static void ends_the_program(void **state)
{
	struct executable program;
	struct started started;
	int pair[2], file[2], status = 0;

	(void)state;
	make_program(&program, "read word <&3");
	MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, file));
	for (int by_kill = 0; by_kill < 2; by_kill++) {
		const pid_t pid = fork_server(pair, &program);

		assert_int_equal(starter_ask(pair[0], EXECUTABLE_SERVE, file[1], &started), 0);
		if (by_kill) {
			starter_kill(&started);
			assert_int_equal(starter_await(&started, -1, &status), 0);
			assert_int_equal(WTERMSIG(status), SIGKILL);
		} else {
			starter_forget(&started); /* as the end of the daemon does it */
		}
		MUST(waitpid(pid, NULL, 0) == pid); /* it ends after its program */
		close(pair[0]);
	}
	close(file[0]);
	close(file[1]);
	executable_close(&program);
}

static void tells_why_it_starts_nothing(void **state)
{
	const struct executable none = { .fd = -1 };
	const struct executable *const programs[] = { NULL, &none };
	struct started started;
	int pair[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		const pid_t pid = fork_server(pair, programs[i]);

		assert_int_equal(starter_ask(pair[0], EXECUTABLE_VERSION, STDERR_FILENO, &started),
				 i ? -ENOENT : -EAGAIN);
		MUST(waitpid(pid, NULL, 0) == pid);
		assert_int_equal(starter_ask(pair[0], EXECUTABLE_VERSION, STDERR_FILENO, &started),
				 ERR_CLOSED);
		close(pair[0]);
	}
}

/* The starter hangs when it has told the start, and the program its version. */
static void waits_for_no_version_for_ever(void **state)
{
	struct executable program;
	char version[32];

	(void)state;
	make_program(&program, "while ! grep -q '^State:.S' /proc/$PPID/status; do :; done\n"
			       "kill -STOP $PPID; echo libunbound 9.8.7");
	assert_int_equal(parent_start(&program, parenttest_drop_none), 0);
	is_short = true;
	started_ask_libunbound(&program, version, sizeof(version));
	is_short = false;
	assert_string_equal(version, "9.8.7");
	parent_stop(PARENTTEST_END_MS);
	executable_close(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_only_whole_requests),
		cmocka_unit_test(tells_the_start_and_the_end),
		cmocka_unit_test(ends_the_program),
		cmocka_unit_test(tells_why_it_starts_nothing),
		cmocka_unit_test(waits_for_no_version_for_ever),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove_all);
}
