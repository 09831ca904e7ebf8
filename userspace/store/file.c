/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "zone/rdprint.h"

#define NEW_MODE 0644

struct target {
	char path[PATH_MAX], tmp[PATH_MAX + sizeof(STORE_FILE_TMP)];
	struct stat before;
	bool is_there;
};

static int find_file_target(struct target *t, const char *path)
{
	int err = replace_find(path, t->path, sizeof(t->path));

	if (err)
		return err;
	t->is_there = !lstat(t->path, &t->before);
	snprintf(t->tmp, sizeof(t->tmp), "%s" STORE_FILE_TMP, t->path);
	return 0;
}

/* Not every user may change a file's owner. Then the new file is ours, with the old mode. */
static int take_over_mode(int fd, const struct target *t)
{
	mode_t mode = t->is_there ? t->before.st_mode & 07777 : NEW_MODE;
	struct stat now;

	if (t->is_there && !fstat(fd, &now) &&
	    (now.st_uid != t->before.st_uid || now.st_gid != t->before.st_gid) &&
	    fchown(fd, t->before.st_uid, t->before.st_gid) && errno != EPERM)
		return -errno;
	return fchmod(fd, mode) ? -errno : 0;
}

static int write_all_file(FILE *f, const struct zone *z, const bool *cancel, const struct target *t)
{
	int err = zone_dump(z, f, cancel);

	if (!err && (fflush(f) || ferror(f)))
		err = errno ? -errno : -EIO;
	if (!err)
		err = take_over_mode(fileno(f), t);
	if (!err && fsync(fileno(f)))
		err = -errno;
	return err;
}

/* The last close(), after the rename, releases the lock. */
static int replace_file(int fd, const struct zone *z, const bool *cancel, const struct target *t)
{
	FILE *f = fdopen(fd, "w");
	int err;

	if (!f) {
		err = -errno;
		replace_drop(fd, t->tmp);
		close(fd);
		return err;
	}
	err = replace_clear(fd);
	if (!err)
		err = write_all_file(f, z, cancel, t);
	if (!err)
		err = replace_finish(t->tmp, t->path);
	if (err)
		replace_drop(fd, t->tmp);
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

int store_write_zone_file(const struct zone *z, const char *path, const bool *cancel, char *why,
			  size_t why_cap)
{
	struct target t;
	int err = find_file_target(&t, path), fd;

	why[0] = '\0';
	if (!err) {
		fd = replace_open(t.tmp);
		err = fd < 0 ? fd : replace_file(fd, z, cancel, &t);
	}
	if (err == -EBUSY)
		snprintf(why, why_cap, "%s: another process writes this file", path);
	else if (err)
		snprintf(why, why_cap, "%s: %s", path, err_text(err));
	return err;
}
