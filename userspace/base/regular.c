/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/err.h"

int regular_kind(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return 0;
	return S_ISDIR(st->st_mode) ? -EISDIR : ERR_NOT_REGULAR;
}

/* --- The helper ------------------------------------------------------------------------------- */

static struct {
	regular_helper_fn *ask;
	void *user;
} helper;

void regular_set_helper(regular_helper_fn *ask, void *user)
{
	helper.ask = ask;
	helper.user = user;
}

/* ERR is a failure of our own; only EACCES is one that the helper may not have. */
static int ask_helper(int err, const char *path, const struct regular_chain *from, bool is_folder)
{
	return err == -EACCES && helper.ask ? helper.ask(helper.user, path, from, is_folder) : err;
}

/* --- Opened ----------------------------------------------------------------------------------- */

/* FD, after the check that its kind is right; or closes it. */
static int take_regular(int fd, struct stat *st)
{
	struct stat now;
	int err = fstat(fd, &now) ? -errno : regular_kind(&now);

	if (err) {
		close(fd);
		return err;
	}
	if (st)
		*st = now;
	return fd;
}

/* Checks before open(), so that no device is opened, and after it, because the name may lead to
 * another file by then. */
static int open_regular_here(const char *path)
{
	struct stat before;
	int fd, err = stat(path, &before) ? -errno : regular_kind(&before);

	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int regular_open_included(const char *path, const struct regular_chain *from, struct stat *st)
{
	int fd = open_regular_here(path);

	if (fd < 0)
		fd = ask_helper(fd, path, from, false);
	return fd < 0 ? fd : take_regular(fd, st);
}

int regular_open(const char *path, struct stat *st)
{
	return regular_open_included(path, NULL, st);
}

int regular_stat(const char *path, struct stat *st)
{
	int err = stat(path, st) ? -errno : 0, fd = ask_helper(err, path, NULL, false);

	if (fd <= 0)
		return fd;
	err = fstat(fd, st) ? -errno : 0;
	close(fd);
	return err;
}

int regular_open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? ask_helper(-errno, path, NULL, true) : fd;
}

int regular_fopen(FILE **out, const char *path, struct stat *st)
{
	int fd = regular_open(path, st);

	*out = fd < 0 ? NULL : fdopen(fd, "r");
	if (*out)
		return 0;
	if (fd < 0)
		return fd;
	close(fd);
	return -ENOMEM;
}

int regular_check(const char *path)
{
	int fd = regular_open(path, NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
