/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lock between two processes, and the file that a dead process leaves behind. */
#include "bpf/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/lib/tmpfolder.h"

#define N_PROCESSES 4
#define N_TURNS     3000

static const char *const path = tmpfolder_file;

static void read_pid(char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY);
	ssize_t got;

	assert_true(fd >= 0);
	got = read(fd, buf, cap - 1);
	assert_true(got >= 0);
	buf[got] = '\0';
	close(fd);
}

static void test_take_and_leave(void **state)
{
	char err[256], have[32], want[32];
	int fd = lock_open(path, err, sizeof(err));

	(void)state;
	assert_true(fd >= 0);
	read_pid(have, sizeof(have));
	snprintf(want, sizeof(want), "%d\n", (int)getpid());
	assert_string_equal(have, want);
	lock_close(fd, path);
	assert_int_equal(access(path, F_OK), -1);
}

/* A child that holds the lock until it is killed. */
static pid_t start_holder(void)
{
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		char err[256];

		if (lock_open(path, err, sizeof(err)) < 0 || write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void test_second_and_killed(void **state)
{
	pid_t child = start_holder();
	char err[256], want[128];
	int fd;

	(void)state;
	assert_int_equal(lock_open(path, err, sizeof(err)), ERR_RUNNING);
	snprintf(want, sizeof(want), "another volleyd (pid %d) holds %s", (int)child, path);
	assert_string_equal(err, want);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(access(path, F_OK), 0);
	fd = lock_open(path, err, sizeof(err));
	assert_true(fd >= 0);
	lock_close(fd, path);
}

/* A file without flock() does not lock, even if it names a process that lives. */
static void test_number_of_the_living(void **state)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0644);
	char err[256], have[32], want[32];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1\nand more text than a number\n", 30), 30);
	close(fd);
	fd = lock_open(path, err, sizeof(err));
	assert_true(fd >= 0);
	read_pid(have, sizeof(have));
	snprintf(want, sizeof(want), "%d\n", (int)getpid());
	assert_string_equal(have, want);
	lock_close(fd, path);
}

static void test_folder(void **state)
{
	char err[256], below[96], far[96];
	int fd;

	(void)state;
	snprintf(below, sizeof(below), "%s/run/lock", tmpfolder);
	fd = lock_open(below, err, sizeof(err));
	assert_true(fd >= 0);
	lock_close(fd, below);
	snprintf(below, sizeof(below), "%s/run", tmpfolder);
	assert_int_equal(rmdir(below), 0);
	snprintf(far, sizeof(far), "%s/no/such/lock", tmpfolder);
	assert_int_equal(lock_open(far, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "cannot lock "));
	assert_non_null(strstr(err, ": No such file or directory"));
}

/* Others may write to the folder and put a symbolic link there: we must not follow it. */
static void test_link(void **state)
{
	char err[256], target[96];
	int fd;

	(void)state;
	snprintf(target, sizeof(target), "%s/target", tmpfolder);
	fd = open(target, O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lock_open(path, err, sizeof(err)), -ELOOP);
	unlink(path);
	unlink(target);
}

/* Takes and releases the lock again and again. *N_HOLDERS is shared memory: it shows if two
 * processes hold the lock. */
static void contend(_Atomic int *n_holders)
{
	char err[256];

	for (int i = 0; i < N_TURNS; i++) {
		int fd = lock_open(path, err, sizeof(err));

		if (fd == ERR_RUNNING)
			continue;
		if (fd < 0 || atomic_fetch_add(n_holders, 1))
			_exit(1);
		sched_yield();
		atomic_fetch_sub(n_holders, 1);
		lock_close(fd, path);
	}
	_exit(0);
}

/* If a file is removed while another process has it open, there must not be a second lock. */
static void test_never_two(void **state)
{
	_Atomic int *n_holders = mmap(NULL, sizeof(*n_holders), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int n_wrong = 0;

	(void)state;
	assert_ptr_not_equal(n_holders, MAP_FAILED);
	for (int i = 0; i < N_PROCESSES; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (!child)
			contend(n_holders);
	}
	for (int i = 0; i < N_PROCESSES; i++) {
		int status;

		assert_true(wait(&status) > 0);
		n_wrong += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	assert_int_equal(n_wrong, 0);
	munmap(n_holders, sizeof(*n_holders));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_and_leave),
		cmocka_unit_test(test_second_and_killed),
		cmocka_unit_test(test_number_of_the_living),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_never_two),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
