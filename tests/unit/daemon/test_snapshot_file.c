/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots as files: what is under the name is whole at every moment, and nobody else's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "daemon/snapshots.h"
#include "tests/lib/tmpfolder.h"
#include "tests/unit/cache/world.h"

#define N_NAMES 20000u

static const bool never;
static char why[640];
static struct world world;

static int setup(void **state)
{
	MUST(!tmpfolder_make(state));
	world_open(&world, 4 * CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < N_NAMES; i++)
		put(&world, i);
	return 0;
}

static void make_path(char path[256], const char *name)
{
	snprintf(path, 256, "%s/%s", tmpfolder, name);
}

static int teardown(void **state)
{
	char path[256];

	make_path(path, "target");
	unlink(path);
	world_close(&world);
	return tmpfolder_remove(state);
}

static int save(const char *path)
{
	struct snapshot_written told;
	struct snapshot *snapshot;
	int err;

	MUST(!snapshot_begin(&snapshot, world.cache));
	err = snapshot_file_write(path, snapshot, &never, &told, why, sizeof(why));
	snapshot_end(snapshot);
	MUST(!err == !*why);
	return err;
}

static bool holds(void *user, const struct volley_entry *e)
{
	(void)user, (void)e;
	return true;
}

/* Into the cache that it is of: all there are present. Their number, or a negative code. */
static int load(const char *path)
{
	struct snapshot_source source = { .writer = world.writer,
					  .holds = holds,
					  .cancel = &never };
	struct snapshot *snapshot;
	struct snapshot_read told;
	int err;

	MUST(!snapshot_begin(&snapshot, world.cache));
	err = snapshot_file_read(path, snapshot, &source, &told, why, sizeof(why));
	snapshot_end(snapshot);
	MUST(!err == !*why);
	return err ? err : (int)told.n_present;
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static void make_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	MUST(fd >= 0);
	MUST(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !fchmod(fd, mode));
	close(fd);
}

static void test_times(void **state)
{
	struct snapshot_times a, b;

	(void)state;
	snapshot_file_times(&a);
	snapshot_file_times(&b);
	assert_memory_equal(a.boot_id, b.boot_id, sizeof(a.boot_id));
	assert_true(a.now_s > 0 && a.wall_s > 1700000000);
}

static void test_written_and_replaced(void **state)
{
	char path[256], tmp[256];
	struct stat st;

	(void)state;
	make_path(path, "file");
	make_path(tmp, "file.tmp");
	assert_int_equal(load(path), -ENOENT);
	umask(0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(save(path), 0);
		MUST(!stat(path, &st));
		assert_int_equal(st.st_mode & 0777, 0600);
		assert_false(is_there(tmp));
		assert_int_equal(load(path), N_NAMES);
	}
	MUST(!truncate(path, 0)); /* what a full disk may leave of a copy */
	assert_int_equal(load(path), ERR_SNAPSHOT);
	assert_int_equal(save(path), 0);
	make_file(tmp, "", 0666); /* left behind */
	assert_int_equal(save(path), 0);
	MUST(!stat(path, &st));
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_nothing_else_is_replaced(void **state)
{
	static const int codes[] = { -EEXIST, -EISDIR, ERR_NOT_REGULAR };
	char path[256], tmp[256], target[256];

	(void)state;
	make_path(target, "target");
	assert_int_equal(save(target), 0);
	for (int what = 0; what < 3; what++) {
		make_path(path, "other");
		make_path(tmp, "other.tmp");
		for (int i = 0; i < 2; i++) {
			const char *there = i ? tmp : path;

			if (what == 0)
				make_file(there, "somebody's words", 0600);
			else if (what == 1)
				MUST(!mkdir(there, 0700));
			else
				MUST(!mkfifo(there, 0600));
			assert_int_equal(save(path), i || !what ? -EEXIST : codes[what]);
			assert_non_null(strstr(why, there));
			assert_true(is_there(there));
			assert_false(is_there(i ? path : tmp));
			MUST(!remove(there));
		}
	}
	make_path(tmp, "other.tmp");
	MUST(!symlink(target, tmp));
	assert_int_equal(save(path), -EEXIST);
	MUST(!unlink(tmp));
	assert_int_equal(load(target), N_NAMES);
}

/* The link stays, and the file that it leads to is replaced; only a snapshot is. */
static void test_a_link_is_followed(void **state)
{
	char path[256], target[256];
	struct stat st;

	(void)state;
	make_path(path, "link");
	make_path(target, "led.to");
	MUST(!symlink("led.to", path));
	for (int i = 0; i < 2; i++) { /* at first it dangles */
		assert_int_equal(save(path), 0);
		MUST(!lstat(path, &st));
		assert_true(S_ISLNK(st.st_mode));
		assert_int_equal(load(target), N_NAMES);
	}
	make_file(target, "somebody's words", 0600);
	assert_int_equal(save(path), -EEXIST);
	MUST(!unlink(path) && !unlink(target));
}

static void test_one_writer(void **state)
{
	char path[256], tmp[256];
	int fd;

	(void)state;
	make_path(path, "file");
	make_path(tmp, "file.tmp");
	assert_int_equal(save(path), 0);
	fd = open(tmp, O_RDWR | O_CREAT, 0600);
	MUST(fd >= 0 && !flock(fd, LOCK_EX));
	assert_int_equal(save(path), -EBUSY);
	assert_true(is_there(tmp)); /* it is the other's */
	close(fd);
	assert_int_equal(save(path), 0);
}

static void test_of_others(void **state)
{
	char path[256];

	(void)state;
	if (geteuid())
		skip();
	make_path(path, "file");
	assert_int_equal(save(path), 0);
	MUST(!chmod(path, 0620));
	assert_int_equal(load(path), -EPERM);
	MUST(!chmod(path, 0602));
	assert_int_equal(load(path), -EPERM);
	MUST(!chmod(path, 0644) && !chown(path, 12345, 0));
	assert_int_equal(load(path), -EPERM);
	MUST(!chown(path, 0, 12345));
	assert_int_equal(load(path), N_NAMES);
	assert_int_equal(load(tmpfolder), ERR_SNAPSHOT); /* a folder */
}

/* The disk is full: what was there stays, and no rest. */
static void test_no_space(void **state)
{
	const struct rlimit little = { 300000, RLIM_INFINITY };
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	char path[256], tmp[256];

	(void)state;
	make_path(path, "file");
	make_path(tmp, "file.tmp");
	assert_int_equal(save(path), 0);
	signal(SIGXFSZ, SIG_IGN);
	MUST(!setrlimit(RLIMIT_FSIZE, &little));
	assert_int_equal(save(path), -EFBIG);
	MUST(!setrlimit(RLIMIT_FSIZE, &all));
	assert_false(is_there(tmp));
	assert_int_equal(load(path), N_NAMES);
}

static void test_killed_at_any_time(void **state)
{
	unsigned int n_left = 0;
	char path[256], tmp[256];

	(void)state;
	make_path(path, "file");
	make_path(tmp, "file.tmp");
	assert_int_equal(save(path), 0);
	for (unsigned int i = 0; i < 40; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		while (!pid)
			MUST(!save(path));
		/* It writes, however busy the machine is. */
		for (unsigned int n = 0; !is_there(tmp); n++) {
			MUST(n < 100000 && !waitpid(pid, NULL, WNOHANG));
			usleep(100);
		}
		usleep(i * 1731 % 20000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		n_left += is_there(tmp);
		assert_int_equal(load(path), N_NAMES);
	}
	assert_true(n_left > 0); /* else nothing was tried */
	assert_int_equal(save(path), 0);
	assert_false(is_there(tmp));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_written_and_replaced),
		cmocka_unit_test(test_nothing_else_is_replaced),
		cmocka_unit_test(test_a_link_is_followed),
		cmocka_unit_test(test_one_writer),
		cmocka_unit_test(test_of_others),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_killed_at_any_time),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
