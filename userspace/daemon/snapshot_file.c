/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/hex.h"
#include "cache/snapshot.h"

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
	return hex_read(digits, id, 16);
}

void snapshot_file_times(struct snapshot_times *times)
{
	*times = (struct snapshot_times){ .now_s = clock_coarse_s(), .wall_s = clock_wall_s() };
	if (read_boot_id(times->boot_id) &&
	    getrandom(times->boot_id, sizeof(times->boot_id), 0) < 0) /* unlike any other boot */
		times->now_s = 0;
}

/* --- Writing ---------------------------------------------------------------------------------- */

/* Says nothing of a file that a stop leaves unfinished. */
static int say_snapshot_file(int err, const char *path, char *why, size_t why_cap)
{
	return err == -ECANCELED ? err : snapshot_place_say(err, path, why, why_cap);
}

int snapshot_file_write(const char *path, struct snapshot *snapshot, const bool *cancel,
			struct snapshot_written *told, char *why, size_t why_cap)
{
	struct snapshot_times times;
	struct snapshot_place place;
	int fd, err;

	*told = (struct snapshot_written){ 0 };
	why[0] = '\0';
	fd = snapshot_place_open(&place, path, why, why_cap);
	if (fd < 0)
		return fd;
	snapshot_file_times(&times);
	err = snapshot_write(snapshot, fd, &times, cancel, told);
	if (err) {
		replace_drop(fd, place.tmp);
		say_snapshot_file(err, path, why, why_cap);
	} else {
		err = snapshot_place_finish(&place, fd, path, why, why_cap);
	}
	close(fd);
	return err;
}

int snapshot_file_write_to(int fd, const char *name, struct snapshot *snapshot, const bool *cancel,
			   struct snapshot_written *told, char *why, size_t why_cap)
{
	struct snapshot_times times;
	int err = snapshot_is_one(fd) ? 0 : -EEXIST;

	*told = (struct snapshot_written){ 0 };
	why[0] = '\0';
	if (!err && (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)))
		err = -errno;
	snapshot_file_times(&times);
	if (!err)
		err = snapshot_write(snapshot, fd, &times, cancel, told);
	return say_snapshot_file(err, name, why, why_cap);
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* 0 if it is a regular file that only this user or root can have written. */
static int check_origin(int fd, const char *path, char *why, size_t why_cap)
{
	struct stat st;

	if (fstat(fd, &st))
		return say_snapshot_file(-errno, path, why, why_cap);
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
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;

	*told = (struct snapshot_read){ 0 };
	why[0] = '\0';
	if (fd < 0)
		return say_snapshot_file(-errno, path, why, why_cap);
	err = snapshot_file_read_from(fd, path, snapshot, source, told, why, why_cap);
	close(fd);
	return err;
}

int snapshot_file_read_from(int fd, const char *path, struct snapshot *snapshot,
			    struct snapshot_source *source, struct snapshot_read *told, char *why,
			    size_t why_cap)
{
	char place[128];
	int err;

	*told = (struct snapshot_read){ 0 };
	why[0] = '\0';
	err = check_origin(fd, path, why, why_cap);
	if (err)
		return err;
	source->fd = fd;
	snapshot_file_times(&source->times);
	err = snapshot_read(snapshot, source, told, place, sizeof(place));
	if (err != ERR_SNAPSHOT)
		return say_snapshot_file(err, path, why, why_cap);
	snprintf(why, why_cap, "%s %s: %s", path, place,
		 told->n_loaded ? "what was before that is loaded" : "nothing of it is loaded");
	return err;
}
