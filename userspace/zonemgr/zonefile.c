/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/zonefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
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

/* The later one of the times of the content and of the inode, in seconds since 1970. */
static int64_t newer_s(const struct stat *st)
{
	return st->st_mtim.tv_sec > st->st_ctim.tv_sec ? st->st_mtim.tv_sec : st->st_ctim.tv_sec;
}

void zonefile_mark_read(const char *path, struct zonefile_mark *mark)
{
	struct stat st;

	*mark = (struct zonefile_mark){ 0 };
	if (regular_stat(path, &st))
		return;
	mark->device = st.st_dev;
	mark->number = st.st_ino;
	mark->n_bytes = (uint64_t)st.st_size;
	mark->changed = st.st_mtim;
	mark->status_changed = st.st_ctim;
	/* A kernel's times may be as coarse as its tick, and some file systems' two seconds. A file
	 * system without times has 0. */
	mark->is_settled = newer_s(&st) && newer_s(&st) + SETTLED_S <= (int64_t)clock_wall_s();
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* NFS asks its server for the attributes when a file is opened, but not always at stat(). */
bool zonefile_is_unchanged(const char *path, const struct zonefile_mark *before)
{
	struct stat st;
	int fd = before->is_settled ? regular_open(path, &st) : -1;

	if (fd < 0)
		return false;
	close(fd);
	return st.st_dev == before->device && st.st_ino == before->number &&
	       (uint64_t)st.st_size == before->n_bytes &&
	       is_same_time(&st.st_mtim, &before->changed) &&
	       is_same_time(&st.st_ctim, &before->status_changed);
}

bool zonefile_is_other(const char *path, const struct zonefile_mark *mark)
{
	struct zonefile_mark now;

	zonefile_mark_read(path, &now);
	return now.number &&
	       (now.device != mark->device || now.number != mark->number ||
		now.n_bytes != mark->n_bytes || !is_same_time(&now.changed, &mark->changed));
}
