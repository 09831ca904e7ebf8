/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A zone's file is always the whole old one or the whole new one, at every moment of a write. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/err.h"
#include "killing.h"
#include "tests/lib/draw.h"
#include "tests/lib/tmpfolder.h"
#include "tests/unit/zone/zone_text.h"

static struct zone *zones[2]; /* of serials 1 and 2, about 100 kB as text */
static char why[5000];

static struct zone *make_zone(unsigned serial)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct zone *z;

	MUST(f);
	fprintf(f, "@ 300 IN SOA ns host %u 2 3 4 60\n@ 300 IN NS ns\n", serial);
	for (unsigned i = 0; i < 2500; i++)
		fprintf(f, "n%u %u IN A 192.0.2.%u\n", i, serial * 100, i % 256);
	fclose(f);
	z = zone_of("example.com", text);
	free(text);
	return z;
}

static int setup(void **state)
{
	zones[0] = make_zone(1);
	zones[1] = make_zone(2);
	return tmpfolder_make(state);
}

static int teardown(void **state)
{
	zone_free(zones[0]);
	zone_free(zones[1]);
	return tmpfolder_remove(state);
}

static int save(unsigned serial)
{
	int err = store_write_zone_file(zones[serial - 1], tmpfolder_file, NULL, why, sizeof(why));

	MUST(!err == !*why);
	return err;
}

/* The serial number of the file, which must be whole. */
static unsigned load(void)
{
	uint8_t got[ZONE_DIGEST_LEN], want[ZONE_DIGEST_LEN];
	struct zone_error err;
	struct zone *z;
	unsigned serial;

	MUST(!zone_load(&z, "example.com", tmpfolder_file, NULL, &err));
	serial = zone_serial(z);
	MUST(serial == 1 || serial == 2);
	zone_digest(z, got);
	zone_digest(zones[serial - 1], want);
	MUST(!memcmp(got, want, sizeof(got)));
	zone_free(z);
	return serial;
}

static bool is_littered(void)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s" STORE_FILE_TMP, tmpfolder_file);
	return !lstat(path, &st);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	MUST(!lstat(path, &st));
	return st.st_mode & 07777;
}

static void test_written_and_replaced(void **state)
{
	struct stat st;

	(void)state;
	unlink(tmpfolder_file);
	umask(077);
	assert_int_equal(save(1), 0);
	assert_int_equal(load(), 1);
	assert_int_equal(mode_of(tmpfolder_file), 0644);
	MUST(!chmod(tmpfolder_file, 0600));
	assert_int_equal(save(2), 0);
	assert_int_equal(load(), 2);
	assert_int_equal(mode_of(tmpfolder_file), 0600);
	assert_false(is_littered());
	if (geteuid())
		return;
	MUST(!chown(tmpfolder_file, 1234, 5678));
	MUST(!chmod(tmpfolder_file, 0640));
	assert_int_equal(save(1), 0);
	MUST(!stat(tmpfolder_file, &st));
	assert_true(st.st_uid == 1234 && st.st_gid == 5678 && (st.st_mode & 07777) == 0640);
	unlink(tmpfolder_file);
}

static void test_a_link_stays(void **state)
{
	char other[256];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", tmpfolder);
	MUST(!symlink("other", tmpfolder_file));
	MUST(!close(creat(other, 0600)));
	assert_int_equal(save(1), 0);
	assert_int_equal(mode_of(other), 0600);
	assert_int_equal(load(), 1);
	assert_int_equal(readlink(tmpfolder_file, other, sizeof(other)), 5);
	unlink(tmpfolder_file);
	snprintf(other, sizeof(other), "%s/other", tmpfolder);
	unlink(other);
}

static void test_refused(void **state)
{
	char tmp[256];
	bool cancel = true;
	int fd;

	(void)state;
	assert_int_equal(save(1), 0);
	assert_int_equal(store_write_zone_file(zones[1], tmpfolder_file, &cancel, why, sizeof(why)),
			 -ECANCELED);
	assert_false(is_littered());
	snprintf(tmp, sizeof(tmp), "%s" STORE_FILE_TMP, tmpfolder_file);
	fd = open(tmp, O_RDWR | O_CREAT, 0600);
	MUST(fd >= 0 && !flock(fd, LOCK_EX));
	assert_int_equal(save(2), -EBUSY);
	assert_true(is_littered()); /* it belongs to the other one */
	close(fd);
	assert_int_equal(save(2), 0); /* replaces the remains of a killed process */
	assert_false(is_littered());
	assert_int_equal(load(), 2);
	assert_int_equal(store_write_zone_file(zones[1], tmpfolder, NULL, why, sizeof(why)),
			 -EISDIR);
	assert_int_equal(store_write_zone_file(zones[1], "/nowhere/x", NULL, why, sizeof(why)),
			 -ENOENT);
	assert_string_equal(why, "/nowhere/x: No such file or directory");
	MUST(!unlink(tmpfolder_file) && !mkfifo(tmpfolder_file, 0600));
	assert_int_equal(save(1), ERR_NOT_REGULAR);
	assert_false(is_littered());
	unlink(tmpfolder_file);
}

/* --- Disks ------------------------------------------------------------------------------------ */

static void on_disks(void)
{
	unsigned n_full = 0;

	for (unsigned kb = 120; kb < 400; kb += 20) {
		char options[32];
		int err;

		MUST(!mount("none", tmpfolder, "tmpfs", 0, "size=1m"));
		MUST(!save(1));
		snprintf(options, sizeof(options), "size=%uk", kb);
		MUST(!mount("none", tmpfolder, "tmpfs", MS_REMOUNT, options));
		err = save(2);
		MUST(!err || err == -ENOSPC);
		MUST(!err || strstr(why, "/file: No space left on device"));
		n_full += !!err;
		MUST(load() == (err ? 1 : 2) && !is_littered());
		MUST(!mount("none", tmpfolder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL));
		MUST(save(1) == -EROFS);
		MUST(load() == (err ? 1 : 2) && !is_littered());
		MUST(!umount(tmpfolder));
	}
	MUST(n_full > 0 && n_full < 14);
}

static void test_disks(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		MUST(!unshare(CLONE_NEWNS));
		MUST(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
		on_disks();
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

/* --- Crashes ---------------------------------------------------------------------------------- */

static bool *has_begun;

static void save_second(void *user)
{
	(void)user;
	MUST(!save(2));
}

static void save_on(void *user)
{
	(void)user;
	__atomic_store_n(has_begun, true, __ATOMIC_RELEASE);
	for (unsigned serial = 1;; serial = 3 - serial)
		MUST(!save(serial));
}

static void test_killed_at_each_call(void **state)
{
	unsigned nth = 1, n_new = 0, n_litter = 0;

	(void)state;
	do {
		MUST(!save(1) && load() == 1);
	} while (killing_at_call(save_second, NULL, nth) &&
		 (n_litter += is_littered(), n_new += load() == 2, nth++));
	assert_int_equal(load(), 2);
	assert_false(is_littered());
	print_message("  %u points, %u left the new one, %u a temporary\n", nth - 1, n_new,
		      n_litter);
	assert_true(n_new > 0 && n_litter > 0 && nth > 20);
}

/* For power failures: the content is on the disk before the name, then the name. */
static void test_synced(void **state)
{
	char list[16];

	(void)state;
	killing_list_syncs(save_second, NULL, list, sizeof(list));
	assert_string_equal(list, "srs");
}

static void test_killed_at_any_time(void **state)
{
	unsigned n_times = killing_times(100), n_new = 0, i;

	(void)state;
	seed = 1;
	/* On a slow disk, more and later kills, until both files were seen. */
	for (i = 0; i < n_times || ((!n_new || n_new == i) && i < 20 * n_times); i++) {
		*has_begun = false;
		killing_at_time(save_on, NULL, has_begun, draw(10000 * (1 + i / n_times)));
		n_new += load() == 2;
	}
	assert_true(n_new > 0 && n_new < i);
	assert_int_equal(save(1), 0);
	assert_false(is_littered());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_and_replaced),
		cmocka_unit_test(test_a_link_stays),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_disks),
		cmocka_unit_test(test_killed_at_each_call),
		cmocka_unit_test(test_synced),
		cmocka_unit_test(test_killed_at_any_time),
	};

	has_begun = killing_shared(sizeof(*has_begun));
	return cmocka_run_group_tests(tests, setup, teardown);
}
