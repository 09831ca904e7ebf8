/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which paths a process with CAP_DAC_READ_SEARCH opens for another one of its user. */
#include "base/trusted_open.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cap-ng.h>
#include <cmocka.h>

#include "base/err.h"
#include "tests/lib/tmpfolder.h"

#define ASKER 12345

struct row {
	const char *path;
	int code; /* 0: it is opened */
	bool is_askers;
};

/* In the folder; "roots" has mode 0700, "own" is the asker's, "shared" is of its group. */
static const struct row rows[] = {
	{ "roots/secret", 0, false },
	{ "roots/link", 0, false },
	{ "roots/deep/../secret", 0, false },
	{ "roots//./secret", 0, false },
	{ "roots/far", 0, false },
	{ "roots/twice", 0, false },
	{ "roots/open", 0, true },
	{ "roots/nothing", -ENOENT, false },
	{ "roots/loop", -ELOOP, false },
	{ "roots/deep", -EISDIR, false },
	{ "roots/deep/", -EISDIR, false },
	{ "roots/..", -EISDIR, false },
	{ "roots/secret/", -ENOTDIR, false },
	{ "roots/secret/below", -ENOTDIR, false },
	{ "roots/fifo", ERR_NOT_REGULAR, false },
	{ "roots/device", ERR_NOT_REGULAR, false },
	{ "roots/by-own", ERR_OWN_LINK, false },
	{ "own/file", 0, true },
	{ "own/roots", 0, true },
	{ "own/link", ERR_OWN_LINK, false },
	{ "own/folder/secret", ERR_OWN_LINK, false },
	{ "own/hard", ERR_OWN_LINK, true },
	{ "own/below/link", ERR_OWN_LINK, false },
	{ "shared/link", ERR_OWN_LINK, false },
};

static char *at(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", tmpfolder, name);
	return path;
}

static void make_folder(const char *name, mode_t mode, uid_t owner, gid_t group)
{
	assert_int_equal(mkdir(at(name), 0700), 0);
	assert_int_equal(chown(at(name), owner, group), 0);
	assert_int_equal(chmod(at(name), mode), 0);
}

static void make_file(const char *name, mode_t mode, uid_t owner)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode) || fchown(fd, owner, owner), 0);
	close(fd);
}

static void make_link(const char *name, const char *target)
{
	assert_int_equal(symlink(target, at(name)), 0);
	/* Its owner does not count: the folder does. */
	assert_int_equal(lchown(at(name), 0, 0), 0);
}

static void make_all(void)
{
	char secret[512];

	assert_int_equal(chmod(tmpfolder, 0755), 0);
	make_folder("roots", 0700, 0, 0);
	make_folder("roots/deep", 0700, 0, 0);
	make_folder("own", 0700, ASKER, ASKER);
	make_folder("own/below", 0500, ASKER, ASKER);
	make_folder("shared", 0770, 0, ASKER);
	make_file("roots/secret", 0600, 0);
	make_file("roots/open", 0666, 0);
	make_file("own/file", 0600, ASKER);
	make_file("own/roots", 0600, 0);
	make_link("roots/link", "secret");
	make_link("roots/twice", "link");
	make_link("roots/loop", "loop");
	make_link("roots/by-own", "../own/link");
	make_link("own/link", "../roots/secret");
	make_link("own/folder", "../roots");
	make_link("own/below/link", "../../roots/secret");
	make_link("shared/link", "../roots/secret");
	snprintf(secret, sizeof(secret), "%s", at("roots/secret"));
	make_link("roots/far", secret);
	assert_int_equal(link(secret, at("own/hard")), 0);
	assert_int_equal(mkfifo(at("roots/fifo"), 0600), 0);
	assert_int_equal(mknod(at("roots/device"), S_IFCHR | 0600, 1 << 8 | 3), 0);
}

/* The user of the daemon, with the runner's capability. */
static bool become_asker(void)
{
	capng_clear(CAPNG_SELECT_BOTH);
	return !capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_DAC_READ_SEARCH) &&
	       !capng_change_id(ASKER, ASKER, CAPNG_DROP_SUPP_GRP);
}

/* The number of rows that were not as they should be. */
static int try_rows(void)
{
	int n_wrong = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_askers = false;
		int fd = trusted_open(at(rows[i].path), TRUSTED_FILE, &is_askers);
		int code = fd < 0 ? fd : 0;

		if (code == rows[i].code && is_askers == rows[i].is_askers)
			continue;
		fprintf(stderr, "%s: %s, %d\n", rows[i].path, err_text(code), is_askers);
		n_wrong++;
	}
	return n_wrong;
}

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 3; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* In a child, since it gives up its user. */
static int run_as_asker(int (*try)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(become_asker() ? try() : 100);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void follows_only_links_that_the_asker_cannot_make(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	make_all();
	assert_int_equal(run_as_asker(try_rows), 0);
}

/* As the runner in a unit, for which all is read-only (ProtectSystem=strict). */
static int make_read_only(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(tmpfolder, tmpfolder, NULL, MS_BIND, NULL))
		return -1;
	return mount(NULL, tmpfolder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
}

/* In a child, whose mounts are its own. */
static void follows_the_same_links_where_all_is_read_only(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	if (geteuid())
		skip();
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(make_read_only() ? 101 : become_asker() ? try_rows() : 100);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 101)
		skip(); /* a container without CAP_SYS_ADMIN */
	assert_int_equal(status, 0);
}

static int try_folders(void)
{
	int here = count_descriptors(), fd;
	struct stat st;

	fd = trusted_open(at("roots"), TRUSTED_FOLDER, NULL);
	if (fd < 0 || fstat(fd, &st) || !S_ISDIR(st.st_mode) || close(fd))
		return 1;
	if (trusted_open(at("roots/secret"), TRUSTED_FOLDER, NULL) != -ENOTDIR)
		return 2;
	if (trusted_open(at("own/folder"), TRUSTED_FOLDER, NULL) != ERR_OWN_LINK)
		return 3;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fd = trusted_open(at(rows[i].path), TRUSTED_FILE, NULL);
		if (fd >= 0)
			close(fd);
	}
	return count_descriptors() == here ? 0 : 4;
}

static void opens_folders_and_leaves_no_descriptor(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(run_as_asker(try_folders), 0);
}

static void refuses_long_paths(void **state)
{
	static char path[3 * 4096];

	(void)state;
	memset(path, '/', sizeof(path) - 1);
	assert_int_equal(trusted_open(path, TRUSTED_FILE, NULL), -ENAMETOOLONG);
	memset(path, 'a', 300);
	path[300] = '\0';
	assert_int_equal(trusted_open(path, TRUSTED_FILE, NULL), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_only_links_that_the_asker_cannot_make),
		cmocka_unit_test(follows_the_same_links_where_all_is_read_only),
		cmocka_unit_test(opens_folders_and_leaves_no_descriptor),
		cmocka_unit_test(refuses_long_paths),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove_all);
}
