/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"

int snapshot_place_say(int err, const char *path, char *why, size_t why_cap)
{
	if (err == -EEXIST)
		snprintf(why, why_cap,
			 "%s exists and is no snapshot, so it is not overwritten: give another "
			 "file, or move it away",
			 path);
	else if (err == -EBUSY)
		snprintf(why, why_cap, "%s is being written by another volleyd", path);
	else if (err)
		snprintf(why, why_cap, "%s: %s", path, err_text(err));
	return err;
}

/* 0 if the file does not exist, or is a snapshot or the rest of one. */
static int check_replaceable(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_one;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EEXIST : -errno;
	is_one = snapshot_is_one(fd);
	close(fd);
	return is_one ? 0 : -EEXIST;
}

/* A descriptor or -errno. */
static int open_tmp(const char *path)
{
	int fd, err = check_replaceable(path);

	if (err)
		return err;
	fd = replace_open(path);
	if (fd < 0)
		return fd;
	err = snapshot_is_one(fd) ? replace_clear(fd) : -EEXIST;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int snapshot_place_open(struct snapshot_place *place, const char *path, char *why, size_t why_cap)
{
	int fd, err = replace_find(path, place->target, sizeof(place->target));

	if (!err)
		err = check_replaceable(place->target);
	if (err)
		return snapshot_place_say(err, path, why, why_cap);
	snprintf(place->tmp, sizeof(place->tmp), "%s" SNAPSHOT_PLACE_TMP, place->target);
	fd = open_tmp(place->tmp);
	return fd < 0 ? snapshot_place_say(fd, place->tmp, why, why_cap) : fd;
}

int snapshot_place_finish(const struct snapshot_place *place, int fd, const char *path, char *why,
			  size_t why_cap)
{
	int err = fsync(fd) ? -errno : check_replaceable(place->target);

	if (!err)
		err = replace_finish(place->tmp, place->target);
	if (err)
		replace_drop(fd, place->tmp);
	return snapshot_place_say(err, path, why, why_cap);
}
