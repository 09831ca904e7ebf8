/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/querylog_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#include <unistd.h>

#define POLL_MS 100

struct file {
	struct tap_writer *const *out;
	int fd;
	bool is_cut; /* it ends with a part of a line, because the disk was full */
};

/* --- A file ----------------------------------------------------------------------------------- */

/* Waits for room in a full pipe. A full disk is an error instead. */
static bool wait_room(const struct file *f)
{
	struct pollfd fd = { .fd = f->fd, .events = POLLOUT };

	while (!tap_writer_stops(*f->out))
		if (poll(&fd, 1, POLL_MS) > 0)
			return true;
	return false;
}

/* Writes the rest of a line that was written in part. */
static bool write_rest(const struct file *f, const uint8_t *at, size_t n)
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
static bool end_line(struct file *f)
{
	f->is_cut = f->is_cut && write(f->fd, "\n", 1) != 1;
	return !f->is_cut;
}

static int write_lines(void *ctx, const struct iovec *lines, int n)
{
	struct file *f = ctx;
	int at = 0;

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

static void close_file(void *ctx)
{
	struct file *f = ctx;

	close(f->fd);
	free(f);
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

int querylog_sink_new(struct tap_sink *sink, const char *path, struct tap_writer *const *out)
{
	struct file *f;
	int err;

	*sink = (struct tap_sink){ .write = send_lines, .close = close_journal };
	if (!path)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->out = out;
	f->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
	if (f->fd < 0) {
		err = -errno;
		free(f);
		return err;
	}
	*sink = (struct tap_sink){ .ctx = f, .write = write_lines, .close = close_file };
	return 0;
}
