/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Another process may have renamed it between open() and flock(). */
static bool is_still_there(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !lstat(path, &there) && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

int replace_open(const char *tmp)
{
	int fd = open(tmp, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB) && is_still_there(fd, tmp))
		return fd;
	close(fd);
	return -EBUSY;
}

int replace_clear(int fd)
{
	return fchmod(fd, 0600) || ftruncate(fd, 0) ? -errno : 0;
}

/* The new name is on the disk only after its folder is synced. */
static int sync_folder(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int fd, err = 0;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		err = -errno;
	close(fd);
	return err;
}

int replace_finish(const char *tmp, const char *path)
{
	return rename(tmp, path) ? -errno : sync_folder(path);
}

void replace_drop(int fd, const char *tmp)
{
	if (is_still_there(fd, tmp))
		unlink(tmp);
}
