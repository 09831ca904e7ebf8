/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disks that are full, that cannot be written to, or that have damaged the file. The store must
 * return an error with a message, and never end by a signal. What is there stays, or is at least
 * recognized as damaged.
 */
#include "storing.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/lib/draw.h"

#define ROOM (16u << 20)

/* --- A disk of its own ------------------------------------------------------------------------ */

/* Runs in a child, since mounts belong to a process. If the child aborts, this test fails. */
static void in_child(void (*work)(void))
{
	int status;
	pid_t pid;

	if (geteuid())
		skip();
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		MUST(!unshare(CLONE_NEWNS));
		MUST(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void mount_disk(const char *options)
{
	MUST(!mount("none", tmpfolder, "tmpfs", 0, options));
}

static struct store *must_open(void)
{
	struct store *store;
	char why[512];

	MUST(!storing_try(&store, ROOM, why));
	return store;
}

static uint32_t end_of(struct store *store)
{
	struct store_chain *chain;
	struct changeset set;
	uint32_t end;
	int rc;

	if (storing_open_all(store, storing_name("example."), &chain))
		return 0;
	end = store_chain_end(chain);
	while ((rc = store_chain_next(chain, &set)) == 1)
		changeset_fini(&set);
	MUST(!rc);
	store_chain_close(chain);
	return end;
}

static void full_disk(void)
{
	const uint8_t *apex = storing_name("example.");
	struct store_batch *batch;
	struct store *store;
	uint32_t end = 0;
	int err = 0;

	mount_disk("size=1m");
	store = must_open();
	while (!(err = storing_append_one(store, apex, end, end + 1, 3000)))
		end++;
	MUST(err == -ENOSPC && end > 20);
	for (int i = 0; i < 10; i++)
		MUST(storing_append_one(store, apex, end, end + 1, 20000) == -ENOSPC);
	MUST(end_of(store) == end);
	store_close(store);
	store = must_open();
	MUST(end_of(store) == end);
	MUST(!store_begin(store, &batch));
	MUST(!store_limit(batch, apex, 0, end - 5));
	err = store_commit(batch);
	MUST(!err || err == -ENOSPC);
	if (!err) /* freed room can be used again */
		MUST(!storing_append_one(store, apex, end, end + 1, 3000));
	store_close(store);
}

/* At each amount of free space, from zero on. */
static void full_disk_at_the_start(void)
{
	unsigned n_refused = 0;
	char why[512];

	for (unsigned kb = 4; kb < 200; kb += 4) {
		struct store *store;
		char options[32];
		int err;

		snprintf(options, sizeof(options), "size=%uk", kb);
		mount_disk(options);
		err = storing_try(&store, ROOM, why);
		if (!err &&
		    store_refusal(store)) { /* room for the data, but not for the lock file */
			err = store_refusal(store);
			store_close(store);
		}
		if (err) {
			n_refused++;
			MUST(err == -ENOSPC && strstr(why, "No space left on device"));
			snprintf(options, sizeof(options), "size=%uk", kb + 400);
			MUST(!mount("none", tmpfolder, "tmpfs", MS_REMOUNT, options));
			store = must_open(); /* a start that began earlier is completed */
		}
		store_close(store);
		MUST(!umount(tmpfolder));
	}
	MUST(n_refused > 10 && n_refused < 45);
}

/* Existing data is read; where there is none, nothing can be made. */
static void read_only(void)
{
	struct store_batch *batch;
	struct store *store;
	char why[512];

	mount_disk("size=1m");
	store = must_open();
	MUST(!storing_append_one(store, storing_name("example."), 1, 2, 100));
	store_close(store);
	MUST(!mount("none", tmpfolder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL));
	MUST(!storing_try(&store, ROOM, why));
	MUST(strstr(why, "Read-only file system"));
	MUST(store_refusal(store) == -EROFS && end_of(store) == 2);
	MUST(store_begin(store, &batch) == -EROFS && !batch);
	store_close(store);
	MUST(!mount("none", tmpfolder, "tmpfs", MS_REMOUNT, NULL));
	store = must_open();
	MUST(end_of(store) == 2 && !store_refusal(store));
	store_close(store);
	MUST(!umount(tmpfolder));
	mount_disk("ro");
	MUST(storing_try(&store, ROOM, why) == -EROFS);
}

/* The process is neither the folder's owner nor allowed to write everywhere, as root is. */
static void not_ours(void)
{
	char path[256], why[512];
	struct store *store;

	mount_disk("size=1m,mode=0755");
	storing_path(path, "");
	MUST(!mkdir(path, 0755) && !setuid(65534));
	MUST(storing_try(&store, ROOM, why) == -EACCES);
	MUST(!strncmp(why, "server.storage: /", 17));
	MUST(strstr(why, "store: data.mdb: Permission denied: the folder has to belong to the "
			 "user of volleyd"));
}

static void test_full_disk(void **state)
{
	(void)state;
	in_child(full_disk);
}

static void test_full_disk_at_the_start(void **state)
{
	(void)state;
	in_child(full_disk_at_the_start);
}

static void test_read_only(void **state)
{
	(void)state;
	in_child(read_only);
}

static void test_not_ours(void **state)
{
	(void)state;
	in_child(not_ours);
}

static void test_no_folder(void **state)
{
	struct store *store;
	char why[512];

	(void)state;
	assert_int_equal(store_open(&store, "/nowhere/store", ROOM, why, sizeof(why)), -ENOENT);
	assert_string_equal(why, "server.storage: /nowhere/store: cannot be made: No such file or "
				 "directory: make the folder above it");
	assert_int_equal(store_open(&store, "/dev/null", ROOM, why, sizeof(why)), -ENOTDIR);
	assert_string_equal(why, "server.storage: /dev/null: Not a directory");
}

/* --- A damaged file --------------------------------------------------------------------------- */

static uint8_t *image; /* of the whole file */
static size_t n_image;

static void write_data(const uint8_t *bytes, size_t n)
{
	char path[256];
	int fd;

	storing_path(path, "data.mdb");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static void read_data(void)
{
	struct stat st;
	char path[256];
	int fd;

	storing_path(path, "data.mdb");
	fd = open(path, O_RDONLY);
	MUST(fd >= 0 && !fstat(fd, &st));
	n_image = (size_t)st.st_size;
	image = malloc(n_image);
	MUST(image && read(fd, image, n_image) == (ssize_t)n_image);
	close(fd);
}

/* Trees of several levels, values of all kinds, lists of free pages. */
static void make_image(void)
{
	struct store *store = storing_open(ROOM);
	struct store_batch *batch;

	for (unsigned i = 0; i < 300; i++) {
		struct store_zone zone = { .serial = i };
		char name[64];

		snprintf(name, sizeof(name), "a-rather-long-name-of-a-zone-%u.example.", i % 100);
		MUST(!store_begin(store, &batch));
		MUST(!store_put_zone(batch, storing_name(name), &zone));
		MUST(!storing_append(batch, storing_name(name), i, i + 100, i % 9 ? 200 : 9000));
		MUST(!storing_append(batch, storing_name("example."), i, i + 1, 500));
		MUST(!store_put(batch, storing_name(name), "key", image, 0));
		if (i % 60 == 59)
			MUST(!store_limit(batch, storing_name("example."), 0, i - 25));
		MUST(!store_commit(batch));
	}
	store_close(store);
	read_data();
}

static int read_zone(void *user, const uint8_t *apex, const struct store_zone *zone)
{
	struct store *store = user;
	struct store_chain *chain;
	struct changeset set;
	int rc = storing_open_all(store, apex, &chain);

	(void)zone;
	if (rc) {
		MUST(rc == ERR_NOT_FOUND || rc == -EIO);
		return 0;
	}
	while ((rc = store_chain_next(chain, &set)) == 1)
		changeset_fini(&set);
	MUST(!rc || rc == -EIO);
	store_chain_close(chain);
	return 0;
}

static void write_zone(struct store *store, const char *name)
{
	struct store_zone zone = { .serial = 1 };
	struct store_batch *batch;

	if (store_begin(store, &batch))
		return;
	if (storing_append(batch, storing_name(name), 9, 10, 5000) ||
	    store_put_zone(batch, storing_name(name), &zone) ||
	    store_limit(batch, storing_name("example."), 0, 290))
		store_cancel(batch);
	else if (store_commit(batch))
		return;
}

/* Does all that a daemon does with a store. True if store_open() refused. */
static bool use_damaged(void)
{
	struct store *store;
	char why[512];
	int err = storing_try(&store, ROOM, why);

	if (err) {
		MUST(err == ERR_STORE && strstr(why, "data.mdb: "));
		return true;
	}
	err = store_each_zone(store, read_zone, store);
	MUST(!err || err == -EIO);
	write_zone(store, "a-rather-long-name-of-a-zone-7.example.");
	write_zone(store, "another.");
	store_close(store);
	return false;
}

static void damage(uint8_t *bytes, size_t *n)
{
	size_t page = 4096 * (size_t)draw((unsigned)(*n / 4096)), at = draw(4096);

	switch (draw(5)) {
	case 0: /* a page that was not written */
		memset(bytes + page, 0, 4096);
		break;
	case 1: /* another page was written there */
		memmove(bytes + page, bytes + 4096 * (size_t)draw((unsigned)(*n / 4096)), 4096);
		break;
	case 2:
		*n = page + (draw(2) ? at : 0);
		break;
	case 3: /* where the heads of pages and entries are */
		at = draw(64);
		/* fallthrough */
	default:
		bytes[page + at] ^= (uint8_t)(1u << draw(8));
	}
}

static void test_damaged(void **state)
{
	unsigned n_refused = 0, n_times = 500;
	uint8_t *bytes;

	(void)state;
	make_image();
	bytes = malloc(n_image);
	MUST(bytes);
	seed = 1;
	assert_false(use_damaged());
	for (unsigned i = 0; i < n_times; i++) {
		size_t n = n_image;

		memcpy(bytes, image, n);
		for (unsigned left = 1 + draw(3); left && n >= 4096; left--)
			damage(bytes, &n);
		write_data(bytes, n);
		n_refused += use_damaged();
	}
	print_message("  %zu pages, %u of %u refused at once\n", n_image / 4096, n_refused,
		      n_times);
	assert_true(n_refused > n_times / 3 && n_refused < n_times);
	free(bytes);
	free(image);
	storing_clear();
}

/* A killed start might leave a short or empty file, but not under this name. */
static void test_cut(void **state)
{
	static const size_t lengths[] = { 0, 1, 1000, 4096, 4097, 8191, 8192 };
	struct store *store = storing_open(ROOM);
	char why[512], path[256];
	struct stat st;

	(void)state;
	MUST(!storing_append_one(store, storing_name("example."), 1, 2, 100));
	store_close(store);
	read_data();
	storing_path(path, "data.mdb");
	for (size_t i = 0; i < 2 * sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = lengths[i / 2];
		uint8_t *bytes = calloc(1, n + 1);

		MUST(bytes);
		if (i % 2) /* else zeros, as a disk leaves what was not written */
			memcpy(bytes, image, n);
		write_data(bytes, n);
		free(bytes);
		assert_int_equal(storing_try(&store, ROOM, why), ERR_STORE);
		assert_non_null(strstr(why, "data.mdb: is damaged, it "));
		assert_false(stat(path, &st));
		assert_int_equal(st.st_size, n);
	}
	write_data(image, n_image);
	store = storing_open(ROOM);
	assert_int_equal(end_of(store), 2);
	store_close(store);
	free(image);
	storing_clear();
}

/* Damages the content of a set, which LMDB cannot notice: the record stays well formed. */
static void test_damaged_content(void **state)
{
	const uint8_t *apex = storing_name("example.");

	(void)state;
	for (unsigned n_bytes = 100; n_bytes < 10000;
	     n_bytes += 8900) { /* one page, several pages */
		struct store *store = storing_open(ROOM);
		struct store_chain *chain;
		struct changeset set;
		uint8_t want[20], *text;

		MUST(!storing_append_one(store, apex, 0, 1, n_bytes));
		store_close(store);
		read_data();
		for (unsigned i = 0; i < sizeof(want); i++)
			want[i] = (uint8_t)(i * 31 + 1);
		text = memmem(image, n_image, want, sizeof(want));
		assert_non_null(text);
		do /* free pages may have it, too */
			text[10] ^= 1;
		while ((text = memmem(image, n_image, want, sizeof(want))));
		write_data(image, n_image);
		store = storing_open(ROOM);
		MUST(!store_chain_open(store, apex, 0, &chain));
		assert_int_equal(store_chain_next(chain, &set), -EIO);
		assert_null(set.bytes);
		store_chain_close(chain);
		store_close(store);
		free(image);
		storing_clear();
	}
}

static void test_of_another_format(void **state)
{
	static const char text[] = "these are somebody's words and no journal";
	struct store *store;
	char why[512];
	uint8_t *format;

	(void)state;
	store_close(storing_open(ROOM));
	read_data();
	format = memmem(image, n_image, "format\0\0\0\1", 10);
	assert_non_null(format);
	while (format) {
		format[9] = 2;
		format = memmem(image, n_image, "format\0\0\0\1", 10);
	}
	write_data(image, n_image);
	assert_int_equal(storing_try(&store, ROOM, why), ERR_STORE);
	assert_non_null(strstr(why, "another version of Volley"));
	memset(image, 'x', n_image);
	memcpy(image, text, sizeof(text));
	write_data(image, n_image);
	assert_int_equal(storing_try(&store, ROOM, why), ERR_STORE);
	assert_non_null(strstr(why, "data.mdb: is damaged, it has no head of LMDB: move "));
	free(image);
	storing_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_full_disk_at_the_start),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged_content),
		cmocka_unit_test(test_of_another_format),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
