/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flock() on a file. After each flock() the path must still lead to the same file. */
#include "bpf/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

#define LOCK_STEP_MS 5

/* Makes the folder of PATH. If that fails, opening the file reports the error. */
static void make_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;

	if (!slash || slash == path)
		return;
	folder = strndup(path, (size_t)(slash - path));
	if (folder && mkdir(folder, 0755))
		errno = 0;
	free(folder);
}

/* True if the process that has written its number to the file has ended. False: it is not known. */
static bool is_holder_dead(int fd)
{
	char text[16] = "";
	long pid = pread(fd, text, sizeof(text) - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;

	return pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

static int refuse_running(int fd, const char *path, char *err, size_t err_cap)
{
	char pid[16] = "";
	ssize_t got = pread(fd, pid, sizeof(pid) - 1, 0);

	/* Between its flock() and its write(), the other process has not written its number yet. */
	if (got > 0) {
		pid[strspn(pid, "0123456789")] = '\0';
		snprintf(err, err_cap, "another volleyd (pid %s) holds %s", pid, path);
	} else {
		snprintf(err, err_cap, "another volleyd holds %s", path);
	}
	return ERR_RUNNING;
}

/* The previous holder may have removed the file between our open() and our flock(). */
static bool is_iface_lock_current(int fd, const char *path)
{
	struct stat ours, named;

	return !fstat(fd, &ours) && !stat(path, &named) && ours.st_dev == named.st_dev &&
	       ours.st_ino == named.st_ino;
}

static int write_pid(int fd, pid_t owner)
{
	char pid[16];
	int len = snprintf(pid, sizeof(pid), "%d\n", (int)(owner ? owner : getpid()));
	ssize_t put;

	if (ftruncate(fd, 0))
		return -errno;
	put = pwrite(fd, pid, (size_t)len, 0);
	return put < 0 ? -errno : put == len ? 0 : -ENOSPC;
}

static int open_iface_lock_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	return fd < 0 ? -errno : fd;
}

int lock_open(const char *path, char *err, size_t err_cap)
{
	return lock_open_for(path, 0, err, err_cap);
}

int lock_open_for(const char *path, pid_t owner, char *err, size_t err_cap)
{
	int fd, ret, waited_ms = 0;

	make_folder(path);
	for (;;) {
		fd = open_iface_lock_file(path);
		if (fd < 0) {
			ret = fd;
			goto fail;
		}
		ret = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
		if (ret == -EWOULDBLOCK && waited_ms < LOCK_WAIT_MS && is_holder_dead(fd)) {
			close(fd);
			usleep(LOCK_STEP_MS * 1000);
			waited_ms += LOCK_STEP_MS;
			continue;
		}
		if (ret == -EWOULDBLOCK) {
			ret = refuse_running(fd, path, err, err_cap);
			close(fd);
			return ret;
		}
		if (ret || is_iface_lock_current(fd, path))
			break;
		close(fd);
	}
	if (!ret)
		ret = write_pid(fd, owner);
	if (!ret)
		return fd;
	close(fd);
fail:
	snprintf(err, err_cap, "cannot lock %s: %s", path, err_text(ret));
	return ret;
}

void lock_close(int fd, const char *path)
{
	unlink(path);
	close(fd);
}
