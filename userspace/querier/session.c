/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/log.h"
#include "resolver/config_wire.h"
#include "resolver/given_files.h"
#include "tap/tap.h"

#define REAP_MS 10000 /* for the end of a process that was killed; it comes at once */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void session_tell_log(const struct session *s)
{
	struct shared_words *words =
		(struct shared_words *)(void *)(s->memory + s->layout.totals_at);

	__atomic_store_n(&words->log_level, (int32_t)log_get_level(), __ATOMIC_RELAXED);
	__atomic_store_n(&words->log_format, (int32_t)log_get_format(), __ATOMIC_RELAXED);
}

/* --- Made ------------------------------------------------------------------------------------- */

/* Nobody can shorten the file under us afterwards: that would be a SIGBUS for us. */
static int make_shared(struct session *s, const struct session_config *config)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	shared_layout_make(&s->layout, &config->sizes);
	s->memory_fd = memory_file_open("volley-resolver", MFD_ALLOW_SEALING);
	if (s->memory_fd < 0 || ftruncate(s->memory_fd, (off_t)s->layout.total) ||
	    fcntl(s->memory_fd, F_ADD_SEALS, seals))
		return -errno;
	s->memory =
		mmap(NULL, s->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory_fd, 0);
	if (s->memory == MAP_FAILED) {
		s->memory = NULL;
		return -errno;
	}
	session_tell_log(s);
	memcpy(s->memory, config->config, config->sizes.config_bytes);
	s->boards = (struct resolver_boards){
		.totals =
			&((struct shared_words *)(void *)(s->memory + s->layout.totals_at))->totals,
		.first = s->memory + s->layout.boards_at,
		.stride = s->layout.board_bytes,
	};
	return 0;
}

static int open_doors(struct session *s)
{
	for (unsigned int i = 0; i < s->layout.sizes.n_threads; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->doors[i]))
			return -errno;
	return 0;
}

static void add_outlets(struct session *s)
{
	for (unsigned int i = 0; s->tap && i < s->layout.sizes.n_threads; i++) {
		s->outlets[i] = (struct tap_outlet){
			.shared =
				(struct tap_outlet_shared *)(void *)(s->memory + s->layout.taps_at +
								     i * s->layout.tap_bytes),
			.cap = SHARED_TAP_CAP,
		};
		tap_outlet_add(s->tap, &s->outlets[i]);
	}
}

int session_new(struct session **out, const struct session_config *config)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->socket_fd = s->memory_fd = -1;
	for (unsigned int i = 0; i < RESOLVER_THREADS_MAX; i++)
		s->doors[i][0] = s->doors[i][1] = -1;
	err = make_shared(s, config);
	if (!err)
		err = open_doors(s);
	if (err) {
		session_free(s);
		return err;
	}
	s->tap = config->tap;
	add_outlets(s);
	*out = s;
	return 0;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; s->tap && i < s->layout.sizes.n_threads; i++)
		tap_outlet_remove(s->tap, &s->outlets[i]);
	for (unsigned int i = 0; i < RESOLVER_THREADS_MAX; i++) {
		close_fd(&s->doors[i][0]);
		close_fd(&s->doors[i][1]);
	}
	close_fd(&s->socket_fd);
	close_fd(&s->memory_fd);
	if (s->memory)
		munmap(s->memory, s->layout.total);
	free(s);
}

/* --- Started ---------------------------------------------------------------------------------- */

static int send_files(int socket_fd, const void *from, size_t bytes, const int *fds, unsigned int n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(SHARED_FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)from, bytes };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	return sendmsg(socket_fd, &msg, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -errno;
}

static int send_many(int socket_fd, const int *fds, unsigned int n)
{
	int err = 0;

	for (unsigned int at = 0; at < n && !err; at += SHARED_FDS_MAX) {
		unsigned int now = n - at < SHARED_FDS_MAX ? n - at : SHARED_FDS_MAX;

		err = send_files(socket_fd, "", 1, fds + at, now);
	}
	return err;
}

static int send_bells(int socket_fd, const struct bells *bells, unsigned int n)
{
	int *fds = calloc(n + 1, sizeof(*fds)), err;

	if (!fds)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++)
		fds[i] = bells->fds[i][1];
	err = send_many(socket_fd, fds, n);
	free(fds);
	return err;
}

/* Descriptors for the process, which are open until it has them. */
struct given {
	int fds[GIVEN_FILES_MAX];
	unsigned int n;
	uint32_t which;
};

static int open_given_files(const struct session_config *config, struct given *given)
{
	struct resolver_config read;
	void *memory;
	int err = config_wire_read(&read, &memory, config->config, config->sizes.config_bytes);

	*given = (struct given){ .n = 0 };
	if (err)
		return err;
	given->n = given_files_open(&read, given->fds, &given->which);
	free(memory);
	return 0;
}

static void close_given_files(struct given *given)
{
	while (given->n)
		close_fd(&given->fds[--given->n]);
}

/* What a new process gets, in the order of resolver/shared_memory.h. */
static int send_hello(struct session *s, const struct session_config *config,
		      const struct given *given)
{
	struct shared_hello hello = {
		.version = VOLLEY_VERSION,
		.sizes = config->sizes,
		.total = s->layout.total,
		.given = given->which,
	};
	int doors[RESOLVER_THREADS_MAX];
	int err = send_files(s->socket_fd, &hello, sizeof(hello), &s->memory_fd, 1);

	for (unsigned int i = 0; i < config->sizes.n_threads; i++)
		doors[i] = s->doors[i][1];
	if (!err)
		err = send_many(s->socket_fd, doors, config->sizes.n_threads);
	if (!err)
		err = send_bells(s->socket_fd, config->bells, config->sizes.n_desks);
	if (!err)
		err = send_many(s->socket_fd, given->fds, given->n);
	close_fd(&s->memory_fd);
	for (unsigned int i = 0; i < config->sizes.n_threads; i++)
		close_fd(&s->doors[i][1]);
	return err;
}

/* The files first: without a parent, this thread has no right any more once it has started one. */
int session_start(struct session *s, const struct session_config *config)
{
	struct given given;
	int ends[2], err = open_given_files(config, &given);

	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		close_given_files(&given);
		return err;
	}
	err = started_execute(&s->started, config->program, EXECUTABLE_SERVE, ends[1]);
	close(ends[1]);
	s->socket_fd = ends[0];
	if (!err) {
		s->pid = s->started.pid;
		err = send_hello(s, config, &given);
	}
	close_given_files(&given);
	return err == -EPIPE ? 0 : err; /* it has ended, and session_hear() perhaps reads why */
}

/* An end with unread messages is reported before the last message. */
static ssize_t receive_started(const struct session *s, struct shared_started *started)
{
	ssize_t n = recv(s->socket_fd, started, sizeof(*started), MSG_DONTWAIT);

	return n < 0 && errno == ECONNRESET ?
		       recv(s->socket_fd, started, sizeof(*started), MSG_DONTWAIT) :
		       n;
}

int session_hear(struct session *s, int wait_ms, struct shared_started *started)
{
	struct pollfd fd = { .fd = s->socket_fd, .events = POLLIN };
	uint64_t end_ns = clock_ns() + (unsigned int)wait_ms * CLOCK_NS_PER_MS;
	int n;

	do
		n = poll(&fd, 1, wait_ms);
	while (n < 0 && errno == EINTR && clock_ns() < end_ns);
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	if (receive_started(s, started) != (ssize_t)sizeof(*started)) {
		*started = (struct shared_started){ 0 };
		return ERR_CLOSED;
	}
	started->libunbound[sizeof(started->libunbound) - 1] = 0;
	started->err[sizeof(started->err) - 1] = 0;
	s->started_ns = clock_ns();
	return started->code > 0 ? -EPROTO : started->code;
}

void session_fail(struct session *s, const struct session_config *config, int code,
		  struct shared_started *started)
{
	const char *why = code == ERR_CLOSED || code == -EPROTO ?
				  "it ended before it served: if it is of another build than "
				  "volleyd, install both from one package" :
				  err_text(code);

	if (!*started->err)
		snprintf(started->err, sizeof(started->err), "%s does not start: %s",
			 config->program->path, why);
	session_kill(s);
	(void)session_reap(s);
}

/* --- Ended ------------------------------------------------------------------------------------ */

void session_kill(const struct session *s)
{
	if (s->pid)
		started_kill(&s->started);
}

static int await_session(struct session *s, int wait_ms, int *status)
{
	int err = s->pid ? started_await(&s->started, wait_ms, status) : 0;

	if (err != -ETIMEDOUT)
		s->pid = 0;
	return err;
}

void session_end(struct session *s, int wait_ms)
{
	int status;

	close_fd(&s->socket_fd);
	if (await_session(s, wait_ms, &status) == -ETIMEDOUT)
		session_kill(s);
}

int session_reap(struct session *s)
{
	int status = 0;

	if (await_session(s, REAP_MS, &status) == -ETIMEDOUT) {
		log_error("the resolver's process %d does not end", (int)s->pid);
		started_forget(&s->started);
		s->pid = 0;
	}
	return status;
}

/* --- Memory ----------------------------------------------------------------------------------- */

void session_weigh(struct session *s)
{
	char text[128];
	unsigned long long pages = 0;
	ssize_t n = pread(s->started.statm, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "%*u %llu", &pages) != 1)
		pages = 0;
	__atomic_store_n(&s->resident_bytes, pages * (uint64_t)sysconf(_SC_PAGESIZE),
			 __ATOMIC_RELAXED);
}

/* --- Desks ------------------------------------------------------------------------------------ */

static uint8_t *find_desk(const struct session *s, unsigned int desk)
{
	return s->memory + s->layout.desks_at + desk * s->layout.desk_bytes;
}

void *session_questions(const struct session *s, unsigned int desk)
{
	return find_desk(s, desk);
}

void *session_replies(const struct session *s, unsigned int desk)
{
	return find_desk(s, desk) + s->layout.replies_at;
}

void session_knock(const struct session *s, unsigned int desk)
{
	int fd = s->doors[desk % s->layout.sizes.n_threads][0];

	/* If the socket is full, the thread is to wake up anyway. */
	(void)send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}
