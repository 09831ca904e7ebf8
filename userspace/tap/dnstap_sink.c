/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/dnstap.h"

#include <errno.h>
#include <fcntl.h>
#include <fstrm.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

#define CONTENT_TYPE "protobuf:dnstap.Dnstap"
#define RETRY_NS     CLOCK_NS_PER_S
#define HELLO_NS     (5 * CLOCK_NS_PER_S) /* for the connection, and again for the handshake */
#define POLL_MS      100
#define IOV_MAX_HERE 256

/* Its booleans are independent: is_refused is the result of the last write, is_torn the state of
 * the file. */
struct dnstap_sink {
	const struct dnstap_config *config;
	struct tap_writer *const *out;
	struct fstrm_writer *writer; /* NULL: not open */
	int fd;
	uint64_t hello_until_ns; /* during the handshake, else 0 */
	uint64_t retry_ns;
	bool is_open;    /* atomic */
	bool is_to_look; /* atomic: dnstap_sink_reopen() */
	bool is_regular; /* a file on a disk */
	bool is_refused; /* for such a file: the last write failed, at least in part */
	bool is_torn;    /* for such a file: part of a frame may follow `whole` */
	off_t whole;     /* for such a file: the octets of whole frames */
};

bool dnstap_sink_is_open(const struct dnstap_sink *s)
{
	return __atomic_load_n(&s->is_open, __ATOMIC_RELAXED);
}

void dnstap_sink_reopen(struct dnstap_sink *s)
{
	__atomic_store_n(&s->is_to_look, true, __ATOMIC_RELEASE);
}

/* --- Octets ----------------------------------------------------------------------------------- */

/* Waits until the descriptor is ready, also for a slow collector. False: give up. */
static bool wait_for_dnstap_sink(struct dnstap_sink *s, short events)
{
	struct pollfd fd = { .fd = s->fd, .events = events };

	while (!tap_writer_stops(*s->out) &&
	       (!s->hello_until_ns || clock_ns() < s->hello_until_ns)) {
		int n = poll(&fd, 1, POLL_MS);

		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
	return false;
}

static bool is_to_wait(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Removes the first n octets from iov. */
static void step_dnstap_sink(struct iovec **iov, int *n_iov, size_t n)
{
	while (*n_iov && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		(*iov)++;
		(*n_iov)--;
	}
	if (*n_iov) {
		(*iov)->iov_base = (uint8_t *)(*iov)->iov_base + n;
		(*iov)->iov_len -= n;
	}
}

static ssize_t send_dnstap_sink_some(struct dnstap_sink *s, struct iovec *iov, int n)
{
	const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)n };

	if (s->config->to == DNSTAP_TO_FILE)
		return writev(s->fd, iov, n);
	return sendmsg(s->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Cuts the file after the last whole frame. False: not yet possible. */
static bool cut_off(struct dnstap_sink *s)
{
	s->is_torn = s->is_torn &&
		     (ftruncate(s->fd, s->whole) || lseek(s->fd, s->whole, SEEK_SET) != s->whole);
	return !s->is_torn;
}

/* A file may hold only one stream, so a full disk must not end it. libfstrm ends a stream when a
 * write fails, so it gets success here. */
static fstrm_res refuse_dnstap_sink(struct dnstap_sink *s)
{
	if (!s->is_regular)
		return fstrm_res_failure;
	s->is_refused = s->is_torn = true;
	(void)cut_off(s); /* or before the next frame */
	return fstrm_res_success;
}

static fstrm_res write_all_dnstap_sink(void *obj, const struct iovec *from, int n)
{
	struct dnstap_sink *s = obj;
	struct iovec copy[IOV_MAX_HERE], *iov = copy;
	off_t whole = s->whole;

	if (n > IOV_MAX_HERE || !cut_off(s))
		return refuse_dnstap_sink(s);
	memcpy(copy, from, (size_t)n * sizeof(*from));
	step_dnstap_sink(&iov, &n, 0);
	while (n) {
		ssize_t done = send_dnstap_sink_some(s, iov, n);

		if (done >= 0) {
			whole += done;
			step_dnstap_sink(&iov, &n, (size_t)done);
		} else if (!is_to_wait() || !wait_for_dnstap_sink(s, POLLOUT)) {
			return refuse_dnstap_sink(s);
		}
	}
	s->whole = whole;
	return fstrm_res_success;
}

static fstrm_res read_all_dnstap_sink(void *obj, void *data, size_t n)
{
	struct dnstap_sink *s = obj;
	uint8_t *at = data;

	while (n) {
		ssize_t got = recv(s->fd, at, n, MSG_DONTWAIT);

		if (!got)
			return fstrm_res_stop;
		if (got > 0) {
			at += got;
			n -= (size_t)got;
		} else if (!is_to_wait() || !wait_for_dnstap_sink(s, POLLIN)) {
			return fstrm_res_failure;
		}
	}
	return fstrm_res_success;
}

/* --- Open and close --------------------------------------------------------------------------- */

static int address_of(const struct dnstap_config *config, struct sockaddr_storage *to,
		      socklen_t *bytes)
{
	struct sockaddr_un *un = (struct sockaddr_un *)to;
	struct sockaddr_in *in = (struct sockaddr_in *)to;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	if (config->to == DNSTAP_TO_SOCKET) {
		un->sun_family = AF_UNIX;
		if (strlen(config->path) >= sizeof(un->sun_path))
			return -ENAMETOOLONG;
		strcpy(un->sun_path, config->path);
		*bytes = sizeof(*un);
	} else if (config->family == AF_INET) {
		in->sin_family = AF_INET;
		in->sin_port = config->port;
		memcpy(&in->sin_addr, config->address, sizeof(in->sin_addr));
		*bytes = sizeof(*in);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = config->port;
		in6->sin6_scope_id = config->scope_id;
		memcpy(&in6->sin6_addr, config->address, sizeof(in6->sin6_addr));
		*bytes = sizeof(*in6);
	}
	return 0;
}

static bool has_connected(struct dnstap_sink *s)
{
	int err = 0;
	socklen_t len = sizeof(err);

	return wait_for_dnstap_sink(s, POLLOUT) &&
	       !getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &err, &len) && !err;
}

static fstrm_res open_dnstap_sink_socket(struct dnstap_sink *s)
{
	struct sockaddr_storage to;
	socklen_t bytes;

	if (address_of(s->config, &to, &bytes))
		return fstrm_res_failure;
	s->fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return fstrm_res_failure;
	if (connect(s->fd, (struct sockaddr *)&to, bytes) &&
	    (errno != EINPROGRESS || !has_connected(s)))
		return fstrm_res_failure;
	return fstrm_res_success;
}

/*
 * Each stream has a start frame, and a file may hold only one stream: so the file is truncated, and
 * an old one must be renamed before. A pipe without a reader is not waited for, but tried again, as
 * a socket is.
 */
static fstrm_res open_it(void *obj)
{
	struct dnstap_sink *s = obj;
	struct stat st;

	s->is_regular = s->is_refused = s->is_torn = false;
	s->whole = 0;
	if (s->config->to != DNSTAP_TO_FILE)
		return open_dnstap_sink_socket(s);
	s->fd = open(s->config->path,
		     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
	s->is_regular = s->fd >= 0 && !fstat(s->fd, &st) && S_ISREG(st.st_mode);
	return s->fd < 0 ? fstrm_res_failure : fstrm_res_success;
}

static fstrm_res close_it(void *obj)
{
	struct dnstap_sink *s = obj;

	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	return fstrm_res_success;
}

static struct fstrm_writer *make_writer(struct dnstap_sink *s)
{
	struct fstrm_writer_options *options = fstrm_writer_options_init();
	struct fstrm_rdwr *rdwr = fstrm_rdwr_init(s);
	struct fstrm_writer *writer;

	fstrm_rdwr_set_open(rdwr, open_it);
	fstrm_rdwr_set_close(rdwr, close_it);
	fstrm_rdwr_set_write(rdwr, write_all_dnstap_sink);
	if (s->config->to != DNSTAP_TO_FILE)
		fstrm_rdwr_set_read(rdwr, read_all_dnstap_sink);
	fstrm_writer_options_add_content_type(options, CONTENT_TYPE, strlen(CONTENT_TYPE));
	writer = fstrm_writer_init(options, &rdwr);
	fstrm_writer_options_destroy(&options);
	if (rdwr)
		fstrm_rdwr_destroy(&rdwr);
	return writer;
}

/* Ends the stream, with an answer from the collector if there is one. */
static void end_stream(struct dnstap_sink *s)
{
	__atomic_store_n(&s->is_open, false, __ATOMIC_RELAXED);
	s->hello_until_ns = clock_ns() + CLOCK_NS_PER_S / 2;
	if (s->writer)
		fstrm_writer_destroy(&s->writer);
	s->hello_until_ns = 0;
	close_it(s);
}

/* True if another file, or none, has the name of the open file. */
static bool is_renamed(const struct dnstap_sink *s)
{
	struct stat opened, named;

	if (!s->writer || !s->is_regular || fstat(s->fd, &opened))
		return false;
	return stat(s->config->path, &named) || named.st_dev != opened.st_dev ||
	       named.st_ino != opened.st_ino;
}

static void tick(void *ctx)
{
	struct dnstap_sink *s = ctx;
	uint64_t now_ns = clock_ns();

	if (__atomic_exchange_n(&s->is_to_look, false, __ATOMIC_ACQ_REL) && is_renamed(s)) {
		end_stream(s);
		s->retry_ns = 0;
	}
	if (s->writer || now_ns < s->retry_ns || tap_writer_stops(*s->out))
		return;
	s->retry_ns = now_ns + RETRY_NS;
	s->hello_until_ns = now_ns + HELLO_NS;
	s->writer = make_writer(s);
	if (s->writer && fstrm_writer_open(s->writer) == fstrm_res_success && !s->is_refused) {
		s->hello_until_ns = 0;
		__atomic_store_n(&s->is_open, true, __ATOMIC_RELAXED);
		return;
	}
	close_it(s); /* a collector without a handshake gets no end of a stream */
	end_stream(s);
}

static bool has_written(struct dnstap_sink *s, const struct iovec *records, int n)
{
	s->is_refused = false;
	return fstrm_writer_writev(s->writer, records, n) == fstrm_res_success && !s->is_refused;
}

/* If the disk has no room for all records, writes as many as fit. */
static int write_each(struct dnstap_sink *s, const struct iovec *records, int n)
{
	int i = 0;

	while (i < n && has_written(s, &records[i], 1))
		i++;
	return i;
}

static int write_dnstap_sink_records(void *ctx, const struct iovec *records, int n)
{
	struct dnstap_sink *s = ctx;

	if (!s->writer)
		tick(s);
	if (!s->writer)
		return 0;
	if (has_written(s, records, n))
		return n;
	if (s->is_regular)
		return write_each(s, records, n); /* the stream goes on when there is room */
	close_it(s);
	end_stream(s);
	return 0;
}

static void close_sink(void *ctx)
{
	struct dnstap_sink *s = ctx;

	end_stream(s);
	free(s);
}

int dnstap_sink_new(struct dnstap_sink **to, struct tap_sink *sink,
		    const struct dnstap_config *config, struct tap_writer *const *out)
{
	struct dnstap_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->config = config;
	s->out = out;
	s->fd = -1;
	*to = s;
	*sink = (struct tap_sink){
		.ctx = s, .write = write_dnstap_sink_records, .tick = tick, .close = close_sink
	};
	return 0;
}
