/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

#define LINKS_MAX 40 /* as the kernel */

/* --- The file that is replaced ---------------------------------------------------------------- */

/* The octets of "FOLDER/", or 0 without a folder. */
static int folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* A link's text is relative to the folder of the link. */
static int follow_link(char *path, size_t cap)
{
	char text[PATH_MAX], next[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	int len;

	if (n < 0)
		return -errno;
	text[n] = '\0';
	len = snprintf(next, sizeof(next), "%.*s%s", *text == '/' ? 0 : folder_bytes(path), path,
		       text);
	if (len >= (int)sizeof(next) || (size_t)len >= cap)
		return -ENAMETOOLONG;
	memcpy(path, next, (size_t)len + 1);
	return 0;
}

int replace_find(const char *path, char *out, size_t cap)
{
	struct stat st;
	int err;

	if (snprintf(out, cap, "%s", path) >= (int)cap)
		return -ENAMETOOLONG;
	for (int i = 0; i < LINKS_MAX; i++) {
		if (lstat(out, &st))
			return errno == ENOENT ? 0 : -errno;
		if (!S_ISLNK(st.st_mode))
			return regular_kind(&st);
		if (st.st_uid && st.st_uid != geteuid())
			return ERR_LINK;
		err = follow_link(out, cap);
		if (err)
			return err;
	}
	return -ELOOP;
}

/* Anything but a regular file stays: rename() would remove it. */
static int check_target(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	return regular_kind(&st);
}

/* --- The temporary file ----------------------------------------------------------------------- */

/* Another process may have renamed it between open() and flock(). */
static bool is_still_there(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !lstat(path, &there) && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

/* The owner of a file may read it later, and a second name may be a file that matters. */
static bool is_ours_alone(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && st.st_nlink == 1;
}

static int open_locked(const char *tmp)
{
	int fd = open(tmp, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB) && is_still_there(fd, tmp))
		return fd;
	close(fd);
	return -EBUSY;
}

/* open() could start an action of a device, so its kind is looked at first. */
static int check_left(const char *tmp)
{
	struct stat st;

	if (lstat(tmp, &st) || S_ISLNK(st.st_mode))
		return 0; /* open() finds the error */
	return regular_kind(&st);
}

int replace_open(const char *tmp)
{
	int fd = check_left(tmp);

	if (!fd)
		fd = open_locked(tmp);
	if (fd < 0 || is_ours_alone(fd))
		return fd;
	unlink(tmp);
	close(fd);
	fd = open_locked(tmp);
	if (fd < 0 || is_ours_alone(fd))
		return fd;
	close(fd);
	return -EPERM;
}

int replace_clear(int fd)
{
	return fchmod(fd, 0600) || ftruncate(fd, 0) ? -errno : 0;
}

/* The new name is on the disk only after its folder is synced. */
static int sync_replaced_folder(const char *path)
{
	char folder[PATH_MAX];
	int fd, err = 0, n = folder_bytes(path);

	snprintf(folder, sizeof(folder), "%.*s", n ? n : 1, n ? path : ".");
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
	int err = check_target(path);

	if (err)
		return err;
	return rename(tmp, path) ? -errno : sync_replaced_folder(path);
}

void replace_drop(int fd, const char *tmp)
{
	if (is_still_there(fd, tmp))
		unlink(tmp);
}
