/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/trusted_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"

#define LINKS_MAX 40 /* as the kernel */

struct walk {
	int folder;              /* where `rest` starts */
	char rest[2 * PATH_MAX]; /* of the path */
	char name[NAME_MAX + 1]; /* taken from it */
	unsigned int n_links;
};

/*
 * Its owner may change the permissions, and a file in a folder may be replaced. A mount that is
 * read-only for this process may be writable for the asker, since units have mounts of their own
 * (EROFS): there the permissions count, of whichever group.
 */
static bool may_asker_write(int fd)
{
	struct stat st;

	if (!geteuid())
		return false;
	if (fstat(fd, &st) || st.st_uid == geteuid() ||
	    !faccessat(fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH))
		return true;
	return errno != EACCES && st.st_mode & (S_IWGRP | S_IWOTH);
}

static int move_walk(struct walk *w, int fd)
{
	if (fd < 0)
		return -errno;
	if (w->folder >= 0)
		close(w->folder);
	w->folder = fd;
	return 0;
}

/* Puts TEXT before the rest of the path. */
static int begin_walk(struct walk *w, const char *text)
{
	char behind[sizeof(w->rest)];
	int n;

	memcpy(behind, w->rest, sizeof(behind));
	n = snprintf(w->rest, sizeof(w->rest), "%s%s%s", text, *behind ? "/" : "", behind);
	if (n < 0 || n >= (int)sizeof(w->rest))
		return -ENAMETOOLONG;
	if (*text == '/')
		return move_walk(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	return w->folder < 0 ? move_walk(w, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

/* Moves the next name of the path to .name; "" at its end. */
static int take_walk_name(struct walk *w)
{
	char *at = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(at, "/");

	if (n >= sizeof(w->name))
		return -ENAMETOOLONG;
	memcpy(w->name, at, n);
	w->name[n] = '\0';
	memmove(w->rest, at + n, strlen(at + n) + 1);
	return 0;
}

/* FD is the link .name in .folder. */
static int follow_walk_link(struct walk *w, int fd)
{
	char text[PATH_MAX];
	ssize_t n;

	if (++w->n_links > LINKS_MAX)
		return -ELOOP;
	if (may_asker_write(w->folder))
		return ERR_OWN_LINK;
	n = readlinkat(fd, "", text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	if (!n || n == (ssize_t)sizeof(text) - 1)
		return -ENAMETOOLONG;
	text[n] = '\0';
	return begin_walk(w, text);
}

/* A step of the walk: .name is a folder or a link, or the end of it. 1: it is the end. */
static int step_walk(struct walk *w)
{
	int fd = openat(w->folder, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err && S_ISLNK(st.st_mode)) {
		err = follow_walk_link(w, fd);
	} else if (!err && *w->rest) {
		/* A name that is no folder has nothing below it: the next step fails. */
		return move_walk(w, fd);
	} else if (!err) {
		err = 1;
	}
	close(fd);
	return err;
}

/* Walks until .folder has the last name. That may be a folder: "." and "/" then. */
static int walk_path(struct walk *w, const char *path)
{
	int err = begin_walk(w, path);

	while (!err) {
		err = take_walk_name(w);
		if (!err && !*w->name)
			strcpy(w->name, ".");
		if (!err)
			err = step_walk(w);
	}
	return err < 0 ? err : 0;
}

static int check_opened(const struct walk *w, int fd, bool *is_askers)
{
	const bool is_in_askers = may_asker_write(w->folder);
	struct stat st;
	int err = fstat(fd, &st) ? -errno : regular_kind(&st);

	if (!err && st.st_nlink > 1 && is_in_askers)
		err = ERR_OWN_LINK;
	if (is_askers)
		*is_askers = is_in_askers || may_asker_write(fd);
	return err;
}

/* Looks at the file before it opens it, since opening a device may start an action. */
static int open_walked_file(const struct walk *w, bool *is_askers)
{
	static const int ways[] = { O_PATH, O_RDONLY | O_NONBLOCK | O_NOCTTY };
	int fd, err = 0;

	for (size_t i = 0; i < 2; i++) {
		fd = openat(w->folder, w->name, ways[i] | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		err = check_opened(w, fd, is_askers);
		if (!err && i)
			return fd;
		close(fd);
		if (err)
			break;
	}
	return err;
}

int trusted_open(const char *path, enum trusted_kind kind, bool *is_askers)
{
	struct walk *w = calloc(1, sizeof(*w));
	int fd;

	if (!w)
		return -ENOMEM;
	w->folder = -1;
	fd = walk_path(w, path);
	if (!fd && kind == TRUSTED_FILE) {
		fd = open_walked_file(w, is_askers);
	} else if (!fd) {
		fd = openat(w->folder, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	if (w->folder >= 0)
		close(w->folder);
	free(w);
	return fd;
}
