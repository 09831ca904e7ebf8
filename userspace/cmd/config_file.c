/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/volleyctl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"

static int open_folder(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int code = fd < 0 ? -errno : fd;

	free(folder);
	return code;
}

static void hold_signals(int how)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	(void)sigprocmask(how, &ends, NULL);
}

int config_file_lock(const char *file, char *err, size_t err_cap)
{
	int fd = open_folder(file), code = fd;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		code = -errno;
		close(fd);
	}
	if (code == -EWOULDBLOCK)
		snprintf(err, err_cap, "another config apply is replacing %s: try again", file);
	else if (code < 0)
		snprintf(err, err_cap, "the folder of %s cannot be locked: %s", file,
			 err_text(code));
	else
		hold_signals(SIG_BLOCK);
	return code;
}

void config_file_unlock(int lock)
{
	close(lock);
	hold_signals(SIG_UNBLOCK);
}

int config_file_copy(int in, int out)
{
	char buf[65536];
	ssize_t got;

	if (lseek(in, 0, SEEK_SET))
		return -errno;
	while ((got = read(in, buf, sizeof(buf))) > 0)
		for (ssize_t done = 0, n; done < got; done += n) {
			n = write(out, buf + done, (size_t)(got - done));
			if (n < 0)
				return -errno;
		}
	explicit_bzero(buf, sizeof(buf));
	return got < 0 ? -errno : 0;
}

/* mkostemp() has made OUT with mode 0600. */
static int fill_staged(int out, int from, const struct stat *like)
{
	int err = config_file_copy(from, out);

	if (err)
		return err;
	if (fchown(out, like->st_uid, like->st_gid) || fchmod(out, like->st_mode & 07777) ||
	    fsync(out))
		return -errno;
	return 0;
}

/* The name of the new file, beside the one that it will replace. */
static int name_staged(char **staged, const char *file, struct stat *like)
{
	char target[PATH_MAX];
	int code = replace_find(file, target, sizeof(target));

	*staged = NULL;
	if (code)
		return code;
	if (stat(target, like))
		return -errno;
	return asprintf(staged, "%s.new.XXXXXX", target) < 0 ? -ENOMEM : 0;
}

int config_file_stage(char **staged, int from, const char *file, char *err, size_t err_cap)
{
	struct stat like;
	int out, code = name_staged(staged, file, &like);

	if (code) {
		snprintf(err, err_cap, "%s: %s", file, err_text(code));
		*staged = NULL;
		return code;
	}
	out = mkostemp(*staged, O_CLOEXEC);
	code = out < 0 ? -errno : fill_staged(out, from, &like);
	if (code)
		snprintf(err, err_cap, "%s, which would replace %s, cannot be written: %s", *staged,
			 file, err_text(code));
	if (out >= 0)
		close(out);
	if (!code)
		return 0;
	if (out >= 0)
		unlink(*staged);
	free(*staged);
	*staged = NULL;
	return code;
}

int config_file_replace(const char *staged, const char *file, char *err, size_t err_cap)
{
	char target[PATH_MAX];
	int code = replace_find(file, target, sizeof(target));

	if (!code)
		code = replace_finish(staged, target);
	if (code)
		snprintf(err, err_cap,
			 "volleyd has the new configuration, but %s cannot be replaced by %s: %s",
			 file, staged, err_text(code));
	return code;
}
