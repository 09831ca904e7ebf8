/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define STEP_MS 10

enum kind {
	KIND_ASK,    /* poll() before each write of at most PIPE_BUF */
	KIND_NOWAIT, /* a descriptor of our own with O_NONBLOCK */
	KIND_SOCKET, /* send() with MSG_DONTWAIT: systemd's journal */
};

static struct {
	enum kind kind;
	int fd;
	char waiting[LOG_OUT_BYTES]; /* a ring: n octets from at on */
	size_t at, n;
	bool is_gone; /* the reader is gone: no write can succeed */
} out = { .fd = STDERR_FILENO };

void log_out_open(void)
{
	struct stat st;
	int fd;

	log_out_close();
	if (fstat(STDERR_FILENO, &st))
		return;
	if (S_ISSOCK(st.st_mode))
		out.kind = KIND_SOCKET;
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return;
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	out.fd = fd;
	out.kind = KIND_NOWAIT;
}

void log_out_close(void)
{
	if (out.fd != STDERR_FILENO)
		close(out.fd);
	out.fd = STDERR_FILENO;
	out.kind = KIND_ASK;
	out.at = out.n = 0;
	out.is_gone = false;
}

static bool takes_some(void)
{
	struct pollfd fd = { .fd = out.fd, .events = POLLOUT };

	return poll(&fd, 1, 0) > 0;
}

/* Returns how many bytes were written; 0: none, for any reason. */
static size_t try_to_write(const char *bytes, size_t n)
{
	ssize_t taken;

	if (out.kind == KIND_ASK && !takes_some())
		return 0;
	if (out.kind == KIND_ASK && n > PIPE_BUF)
		n = PIPE_BUF;
	do
		taken = out.kind == KIND_SOCKET ?
				send(out.fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) :
				write(out.fd, bytes, n);
	while (taken < 0 && errno == EINTR);
	out.is_gone = taken < 0 && (errno == EPIPE || errno == EBADF);
	return taken < 0 ? 0 : (size_t)taken;
}

bool log_out_flush(void)
{
	while (out.n && !out.is_gone) {
		size_t whole = LOG_OUT_BYTES - out.at;
		size_t taken = try_to_write(out.waiting + out.at, out.n < whole ? out.n : whole);

		if (!taken)
			return false;
		out.at = (out.at + taken) % LOG_OUT_BYTES;
		out.n -= taken;
	}
	out.n = 0;
	return true;
}

bool log_out_flush_within(int wait_ms)
{
	int waited_ms = 0;

	for (; !log_out_flush(); waited_ms += STEP_MS) {
		if (waited_ms >= wait_ms)
			return false;
		usleep(STEP_MS * 1000);
	}
	return true;
}

bool log_out_has_room(void)
{
	return out.n <= LOG_OUT_BYTES / 2;
}

static void keep_log_bytes(const char *bytes, size_t n)
{
	size_t at = (out.at + out.n) % LOG_OUT_BYTES, whole = LOG_OUT_BYTES - at;

	if (whole > n)
		whole = n;
	memcpy(out.waiting + at, bytes, whole);
	memcpy(out.waiting, bytes + whole, n - whole);
	out.n += n;
}

bool log_out_put(const char *line, size_t n)
{
	size_t taken = 0;

	if (log_out_flush())
		taken = try_to_write(line, n);
	if (out.is_gone || n - taken > LOG_OUT_BYTES - out.n)
		return false;
	keep_log_bytes(line + taken, n - taken);
	return true;
}
