/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/zonefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/siphash.h"
#include "store/store.h"

int zonefile_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return -ENOMEM;
	if (slash && slash != folder) {
		*slash = 0;
		(void)mkdir(folder, 0755); /* the write reports an error */
	}
	free(folder);
	return store_write_zone_file(z, path, cancel, why, why_cap);
}

#define SETTLED_S 3

static const uint8_t mark_key[SIPHASH_KEY_BYTES] = "volley zone file";

/* The later one of the times of the content and of the inode, in seconds since 1970. */
static int64_t newer_s(const struct stat *st)
{
	return st->st_mtim.tv_sec > st->st_ctim.tv_sec ? st->st_mtim.tv_sec : st->st_ctim.tv_sec;
}

static uint64_t hash_of_time(const struct timespec *time)
{
	const uint64_t parts[] = { (uint64_t)time->tv_sec, (uint64_t)time->tv_nsec };

	return siphash24(mark_key, parts, sizeof(parts));
}

static uint64_t hash_of_content(const struct stat *st)
{
	const uint64_t parts[] = { st->st_dev, st->st_ino, (uint64_t)st->st_size,
				   hash_of_time(&st->st_mtim) };

	return siphash24(mark_key, parts, sizeof(parts));
}

static struct timespec time_of_statx(const struct statx_timestamp *time)
{
	return (struct timespec){ .tv_sec = time->tv_sec, .tv_nsec = (long)time->tv_nsec };
}

/* What the two hashes need. */
static struct stat stat_of_statx(const struct statx *st)
{
	return (struct stat){ .st_dev = makedev(st->stx_dev_major, st->stx_dev_minor),
			      .st_ino = st->stx_ino,
			      .st_size = (off_t)st->stx_size,
			      .st_mtim = time_of_statx(&st->stx_mtime),
			      .st_ctim = time_of_statx(&st->stx_ctime) };
}

void zonefile_mark_of(const struct stat *st, uint64_t now_s, struct zonefile_mark *mark)
{
	mark->is_there = true;
	mark->content = hash_of_content(st);
	mark->status = hash_of_time(&st->st_ctim);
	/* A kernel's times may be as coarse as its tick, and some file systems' two seconds. A file
	 * system without times has 0. */
	mark->is_settled = newer_s(st) && newer_s(st) + SETTLED_S <= (int64_t)now_s;
}

void zonefile_mark_read(const char *path, struct zonefile_mark *mark)
{
	struct stat st;

	*mark = (struct zonefile_mark){ 0 };
	if (!regular_stat(path, &st))
		zonefile_mark_of(&st, clock_wall_s(), mark);
}

/* A file that was read can still be opened if its status is the same, since that has its
 * permissions. If a folder cannot be searched, the helper of base/files.h may open the file. NFS
 * asks its server for the attributes when a file is opened, but at stat() only if it must. */
static bool look_at_file(const char *path, struct stat *st)
{
	struct statx now;
	int fd;

	if (!statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &now)) {
		*st = stat_of_statx(&now);
		return true;
	}
	fd = errno == EACCES ? regular_open(path, st) : -1;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool zonefile_is_unchanged(const char *path, const struct zonefile_mark *before)
{
	struct stat st;

	return before->is_settled && look_at_file(path, &st) &&
	       hash_of_content(&st) == before->content &&
	       hash_of_time(&st.st_ctim) == before->status;
}

bool zonefile_is_other(const char *path, const struct zonefile_mark *mark)
{
	struct zonefile_mark now;

	zonefile_mark_read(path, &now);
	return now.is_there && (!mark->is_there || now.content != mark->content);
}
