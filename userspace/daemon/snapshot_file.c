/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/replace.h"
#include "config/value.h"

#define TMP          ".tmp"
#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

/* "01234567-89ab-...\n" as 16 octets. */
static int read_boot_id(uint8_t id[16])
{
	FILE *f = fopen(BOOT_ID_PATH, "re");
	char text[64] = "", digits[64];
	size_t n = 0;

	if (!f)
		return -errno;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	for (const char *at = text; *at && *at != '\n'; at++)
		if (*at != '-')
			digits[n++] = *at;
	digits[n] = '\0';
	return value_read_hex(digits, id, 16);
}

void snapshot_file_times(struct snapshot_times *times)
{
	*times = (struct snapshot_times){ .now_s = clock_coarse_s(), .wall_s = clock_wall_s() };
	if (read_boot_id(times->boot_id) &&
	    getrandom(times->boot_id, sizeof(times->boot_id), 0) < 0) /* unlike any other boot */
		times->now_s = 0;
}

static int say(int err, const char *path, char *why, size_t why_cap)
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

/* --- Writing ---------------------------------------------------------------------------------- */

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

/* Renames FILE.tmp to FILE. */
static int put_in_place(int fd, const char *tmp, const char *path)
{
	int err = fsync(fd) ? -errno : check_replaceable(path);

	return err ? err : replace_finish(tmp, path);
}

int snapshot_file_write(const char *path, struct snapshot *snapshot, const bool *cancel,
			struct snapshot_written *told, char *why, size_t why_cap)
{
	struct snapshot_times times;
	char target[PATH_MAX], tmp[PATH_MAX + sizeof(TMP)];
	int fd, err;

	*told = (struct snapshot_written){ 0 };
	why[0] = '\0';
	err = replace_find(path, target, sizeof(target));
	if (!err)
		err = check_replaceable(target);
	if (err)
		return say(err, path, why, why_cap);
	snprintf(tmp, sizeof(tmp), "%s" TMP, target);
	fd = open_tmp(tmp);
	if (fd < 0)
		return say(fd, tmp, why, why_cap);
	snapshot_file_times(&times);
	err = snapshot_write(snapshot, fd, &times, cancel, told);
	if (!err)
		err = put_in_place(fd, tmp, target);
	if (err)
		replace_drop(fd, tmp);
	close(fd);
	return err == -ECANCELED ? err : say(err, path, why, why_cap);
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* 0 if it is a regular file that only this user or root can have written. */
static int check_origin(int fd, const char *path, char *why, size_t why_cap)
{
	struct stat st;

	if (fstat(fd, &st))
		return say(-errno, path, why, why_cap);
	if (!S_ISREG(st.st_mode)) {
		snprintf(why, why_cap, "%s is no file", path);
		return ERR_SNAPSHOT;
	}
	if ((st.st_uid != geteuid() && st.st_uid) || st.st_mode & (S_IWGRP | S_IWOTH)) {
		snprintf(why, why_cap,
			 "%s may have been written by others: it must belong to the user of "
			 "volleyd or to root, and only they may write to it",
			 path);
		return -EPERM;
	}
	return 0;
}

int snapshot_file_read(const char *path, struct snapshot *snapshot, struct snapshot_source *source,
		       struct snapshot_read *told, char *why, size_t why_cap)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char place[128];
	int err;

	*told = (struct snapshot_read){ 0 };
	why[0] = '\0';
	if (fd < 0)
		return say(-errno, path, why, why_cap);
	err = check_origin(fd, path, why, why_cap);
	if (err) {
		close(fd);
		return err;
	}
	source->fd = fd;
	snapshot_file_times(&source->times);
	err = snapshot_read(snapshot, source, told, place, sizeof(place));
	close(fd);
	if (err != ERR_SNAPSHOT)
		return err == -ECANCELED ? err : say(err, path, why, why_cap);
	snprintf(why, why_cap, "%s %s: %s", path, place,
		 told->n_loaded ? "what was before that is loaded" : "nothing of it is loaded");
	return err;
}
