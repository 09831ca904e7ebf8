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

/* Checks before open(), so that no device is opened, and after it, because the name may lead to
 * another file by then. */
int regular_open(const char *path, struct stat *st)
{
	struct stat before, now;
	int fd, err = stat(path, &before) ? -errno : regular_kind(&before);

	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &now) ? -errno : regular_kind(&now);
	if (err) {
		close(fd);
		return err;
	}
	if (st)
		*st = now;
	return fd;
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
