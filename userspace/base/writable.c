/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) ? -errno : 0;
}

/* Overwrites @path. */
static int check_writable_folder(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return check_access(".", W_OK | X_OK);
	slash[slash == path] = '\0'; /* the folder of "/name" is "/" */
	return check_access(path, W_OK | X_OK);
}

int writable_check_replaced(const char *path)
{
	char found[PATH_MAX];
	int code = replace_find(path, found, sizeof(found));

	return code ? code : check_writable_folder(found);
}

/* Permissions do not tell all: a file may be immutable. */
static int check_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int writable_check(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? writable_check_replaced(path) : -errno;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return check_open(path);
	case S_IFDIR:
		return -EISDIR;
	case S_IFSOCK:
		return -ENXIO;
	default:
		return check_access(path, W_OK);
	}
}
