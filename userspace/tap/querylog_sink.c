/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/querylog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#include <unistd.h>

#define POLL_MS 100

struct querylog_file {
	struct tap_writer *const *out;
	const char *path;
	struct stat named; /* control's: the file that was opened last */
	int next_fd;       /* atomic: opened by control, for the output's thread; -1: none */
	int fd;
	bool is_cut; /* it ends with a part of a line, because the disk was full */
};

/* The output's thread goes on with the file that control has opened. */
static void take_next(struct querylog_file *f)
{
	int fd = __atomic_exchange_n(&f->next_fd, -1, __ATOMIC_ACQ_REL);

	if (fd < 0)
		return;
	close(f->fd);
	f->fd = fd;
	f->is_cut = false;
}

/* --- A file ----------------------------------------------------------------------------------- */

/* Waits for room in a full pipe. A full disk is an error instead. */
static bool wait_room(const struct querylog_file *f)
{
	struct pollfd fd = { .fd = f->fd, .events = POLLOUT };

	while (!tap_writer_stops(*f->out))
		if (poll(&fd, 1, POLL_MS) > 0)
			return true;
	return false;
}

/* Writes the rest of a line that was written in part. */
static bool write_rest(const struct querylog_file *f, const uint8_t *at, size_t n)
{
	while (n) {
		ssize_t done = write(f->fd, at, n);

		if (done > 0) {
			at += done;
			n -= (size_t)done;
		} else if (!(done < 0 && (errno == EINTR || (errno == EAGAIN && wait_room(f))))) {
			return false;
		}
	}
	return true;
}

/* Ends a part of a line that a full disk has left, so that the next line begins at its start. */
static bool end_line(struct querylog_file *f)
{
	f->is_cut = f->is_cut && write(f->fd, "\n", 1) != 1;
	return !f->is_cut;
}

static int write_lines(void *ctx, const struct iovec *lines, int n)
{
	struct querylog_file *f = ctx;
	int at = 0;

	take_next(f);
	if (!end_line(f))
		return 0;
	while (at < n) {
		ssize_t done = writev(f->fd, lines + at, n - at);

		if (done < 0 && (errno == EINTR || (errno == EAGAIN && wait_room(f))))
			continue;
		if (done < 0)
			return at;
		while (at < n && (size_t)done >= lines[at].iov_len)
			done -= (ssize_t)lines[at++].iov_len;
		if (!done)
			continue;
		f->is_cut = !write_rest(f, (const uint8_t *)lines[at].iov_base + done,
					lines[at].iov_len - (size_t)done);
		if (f->is_cut)
			return at;
		at++;
	}
	return n;
}

static void close_querylog_file(void *ctx)
{
	struct querylog_file *f = ctx;

	take_next(f);
	close(f->fd);
	free(f);
}

/* The former file is closed when no line comes, too. */
static void tick_file(void *ctx)
{
	take_next(ctx);
}

static int open_querylog_path(const char *path, struct stat *named)
{
	int fd =
		open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, named))
		return fd;
	close(fd);
	return -EIO;
}

int querylog_file_reopen(struct querylog_file *f)
{
	struct stat now;
	int fd;

	if (!f || (!stat(f->path, &now) && now.st_dev == f->named.st_dev &&
		   now.st_ino == f->named.st_ino))
		return 0;
	fd = open_querylog_path(f->path, &f->named);
	if (fd < 0)
		return fd;
	fd = __atomic_exchange_n(&f->next_fd, fd, __ATOMIC_ACQ_REL);
	if (fd >= 0)
		close(fd); /* it was renamed again before a line came */
	return 0;
}

/* --- The journal ------------------------------------------------------------------------------ */

static int send_lines(void *ctx, const struct iovec *lines, int n)
{
	static char priority[] = "PRIORITY=6", name[] = "SYSLOG_IDENTIFIER=volleyd-queries";
	struct iovec fields[] = { { 0 },
				  { priority, sizeof(priority) - 1 },
				  { name, sizeof(name) - 1 } };
	int taken = 0;

	(void)ctx;
	for (int i = 0; i < n; i++) {
		fields[0] = lines[i];
		taken += !sd_journal_sendv(fields, sizeof(fields) / sizeof(fields[0]));
	}
	return taken;
}

static void close_journal(void *ctx)
{
	(void)ctx;
}

int querylog_sink_new(struct tap_sink *sink, struct querylog_file **file, const char *path,
		      struct tap_writer *const *out)
{
	struct querylog_file *f;
	int err;

	*file = NULL;
	*sink = (struct tap_sink){ .write = send_lines, .close = close_journal };
	if (!path)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->out = out;
	f->path = path;
	f->next_fd = -1;
	f->fd = open_querylog_path(path, &f->named);
	if (f->fd < 0) {
		err = f->fd;
		free(f);
		return err;
	}
	*file = f;
	*sink = (struct tap_sink){
		.ctx = f, .write = write_lines, .tick = tick_file, .close = close_querylog_file
	};
	return 0;
}
