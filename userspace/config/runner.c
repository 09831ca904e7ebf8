/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/parent.h"
#include "config/runner_process.h"

#define ANSWER_MS 60000 /* it may read a configuration of a million zones meanwhile */
#define LATE_MS   1000  /* after it has not answered */

struct runner {
	int fd;
	bool is_late;         /* it has not answered the last request; atomic */
	pthread_mutex_t lock; /* of the fields below */
	bool has_next;        /* a configuration was read that is not kept yet */
	int next_fd;          /* its text; -1: the file of the configuration */
	int kept_fd;          /* the text that is in force; -1: the file, which the runner reads */
};

/* The other end, and what the runner knows; the parent has a copy of it. */
struct runner_end {
	int fd;
	struct config *config;
};

static int run_runner(void *user, bool is_next)
{
	const struct runner_end *end = user;

	runner_process(end->fd, end->config, is_next);
}

/* The daemon tells the next runner which text is in force. Where there is no room, the daemon has
 * not read the last notice yet. */
static void tell_runner_end(void *user)
{
	const struct runner_end *end = user;

	(void)!send(end->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The next runner reads the configuration itself. */
static void forget_runner_config(void *user)
{
	const struct runner_end *end = user;

	config_forget_zones(end->config);
}

int runner_prepare(struct runner **out, struct config *config)
{
	static struct runner_end end; /* the parent's copy, too */
	struct parent_child child = {
		.name = "volley-runner",
		.run = run_runner,
		.on_end = tell_runner_end,
		.on_first = forget_runner_config,
		.user = &end,
		.n_fds = 1,
	};
	struct runner *runner = calloc(1, sizeof(*runner));
	int fds[2], err = 0;

	*out = NULL;
	if (!runner)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		err = -errno;
		free(runner);
		return err;
	}
	*runner = (struct runner){ .fd = fds[0], .next_fd = -1, .kept_fd = -1 };
	pthread_mutex_init(&runner->lock, NULL);
	end = (struct runner_end){ fds[1], config };
	child.fds[0] = fds[1];
	parent_add(&child);
	*out = runner;
	return 0;
}

static void put_fd(int *at, int fd)
{
	if (*at >= 0)
		close(*at);
	*at = fd;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	put_fd(&runner->next_fd, -1);
	put_fd(&runner->kept_fd, -1);
	close(runner->fd);
	pthread_mutex_destroy(&runner->lock);
	free(runner);
}

bool runner_is_alive(const struct runner *runner)
{
	struct pollfd at = { .fd = runner->fd };

	return poll(&at, 1, 0) >= 0 && !(at.revents & (POLLHUP | POLLERR));
}

const char *runner_problem(const struct runner *runner)
{
	if (!runner_is_alive(runner))
		return "zones[].verify: the process volley-runner, which starts the commands, has "
		       "ended: no zone with a command is loaded until volleyd is restarted, and no "
		       "file that its user may not read";
	return __atomic_load_n(&runner->is_late, __ATOMIC_RELAXED) ?
		       "the process volley-runner does not answer: until it does, no zone with a "
		       "command (zones[].verify) is loaded, and no file that volleyd's user may not "
		       "read" :
		       "";
}

static int poll_for(int fd, short event, int wait_ms)
{
	struct pollfd wait = { .fd = fd, .events = event };
	int n;

	do
		n = poll(&wait, 1, wait_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Waits for this event of poll(). 0, -ETIMEDOUT or -errno. */
static int await_runner(struct runner *runner, int fd, short event)
{
	const bool was_late = __atomic_load_n(&runner->is_late, __ATOMIC_RELAXED);
	int err = poll_for(fd, event, was_late ? LATE_MS : ANSWER_MS);

	if (was_late != (err == -ETIMEDOUT))
		__atomic_store_n(&runner->is_late, !was_late, __ATOMIC_RELAXED);
	return err;
}

int runner_send(int fd, const void *message, size_t n_bytes, const int *fds, unsigned int n,
		int flags)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(RUNNER_FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)message, n_bytes };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	if (n) {
		header.msg_control = control.room;
		header.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	while (sendmsg(fd, &header, MSG_NOSIGNAL | flags) < 0)
		if (errno != EINTR)
			return errno == EPIPE || errno == ECONNRESET ? ERR_CLOSED : -errno;
	return 0;
}

static int send_runner_request(struct runner *runner, const struct runner_request *request,
			       const int *fds, unsigned int n)
{
	int err;

	do
		err = runner_send(runner->fd, request, sizeof(*request), fds, n, MSG_DONTWAIT);
	while (err == -EAGAIN && !(err = await_runner(runner, runner->fd, POLLOUT)));
	return err;
}

static void send_config(struct runner *runner, int fd)
{
	static const struct runner_request request = { .kind = RUNNER_READ };

	(void)!send_runner_request(runner, &request, &fd, fd >= 0);
}

static void send_keep(struct runner *runner)
{
	static const struct runner_request request = { .kind = RUNNER_KEEP };

	(void)!send_runner_request(runner, &request, NULL, 0);
}

/* If a runner has ended since the last call, tells the next one what it cannot know. Under the
 * lock. */
static void follow_runner(struct runner *runner)
{
	bool is_next = false;
	char octet;

	while (recv(runner->fd, &octet, 1, MSG_DONTWAIT) > 0)
		is_next = true;
	if (!is_next)
		return;
	if (runner->kept_fd >= 0) {
		send_config(runner, runner->kept_fd);
		send_keep(runner);
	}
	if (runner->has_next)
		send_config(runner, runner->next_fd);
}

/* fds[0] becomes the runner's end of a channel. Returns our end, or as runner_send(). */
static int ask_runner(struct runner *runner, const struct runner_request *request, int *fds,
		      unsigned int n)
{
	int channel[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
		return -errno;
	fds[0] = channel[1];
	pthread_mutex_lock(&runner->lock);
	follow_runner(runner);
	err = send_runner_request(runner, request, fds, n);
	pthread_mutex_unlock(&runner->lock);
	close(channel[1]);
	if (!err)
		return channel[0];
	close(channel[0]);
	return err;
}

/* --- Commands --------------------------------------------------------------------------------- */

int runner_verify(struct runner *runner, uint64_t digest, const struct runner_zone *zone,
		  int zone_fd, int said_fd)
{
	int fds[RUNNER_FDS_MAX] = { -1, zone_fd, said_fd }, err;
	struct runner_request *request;

	if (!runner)
		return ERR_CLOSED;
	request = calloc(1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	request->kind = RUNNER_VERIFY;
	request->serial = zone->serial;
	request->digest = digest;
	err = strlen(zone->name) < sizeof(request->zone) &&
			      strlen(zone->file) < sizeof(request->file) ?
		      0 :
		      -ENAMETOOLONG;
	if (!err) {
		strcpy(request->zone, zone->name);
		strcpy(request->file, zone->file);
		err = ask_runner(runner, request, fds, RUNNER_FDS_MAX);
	}
	free(request);
	return err;
}

int runner_end(int command_fd, int *status)
{
	struct runner_reply reply;
	ssize_t n;
	int err;

	shutdown(command_fd, SHUT_WR);
	err = poll_for(command_fd, POLLIN, ANSWER_MS);
	if (err)
		return err;
	do
		n = recv(command_fd, &reply, sizeof(reply), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(reply))
		return ERR_CLOSED;
	*status = reply.status;
	return reply.code;
}

/* --- Files ------------------------------------------------------------------------------------ */

/* The descriptor in the reply, or its code; ERR_CLOSED: the runner has ended. */
static int receive_runner_file(int channel)
{
	struct runner_reply reply = { .code = ERR_CLOSED };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { &reply, sizeof(reply) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *head;
	ssize_t n;
	int fd;

	do
		n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	head = n == (ssize_t)sizeof(reply) ? CMSG_FIRSTHDR(&message) : NULL;
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
		return reply.code < 0 ? reply.code : ERR_CLOSED;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* As receive_runner_file(), or -ETIMEDOUT. */
static int ask_runner_once(struct runner *runner, const struct runner_request *request)
{
	int fds[1], channel = ask_runner(runner, request, fds, 1), fd;

	if (channel < 0)
		return channel;
	fd = await_runner(runner, channel, POLLIN);
	if (!fd)
		fd = receive_runner_file(channel);
	close(channel);
	return fd;
}

static int ask_runner_for_file(struct runner *runner, const char *path, const char *from,
			       bool is_folder)
{
	struct runner_request *request = calloc(1, sizeof(*request));
	int fd = -ENAMETOOLONG;

	if (!request)
		return -ENOMEM;
	request->kind = is_folder ? RUNNER_OPEN_FOLDER : RUNNER_OPEN;
	if (strlen(path) < sizeof(request->file) && strlen(from) < sizeof(request->from)) {
		strcpy(request->file, path);
		strcpy(request->from, from);
		fd = ask_runner_once(runner, request);
		if (fd == ERR_CLOSED) /* the next one knows the same */
			fd = ask_runner_once(runner, request);
	}
	free(request);
	return fd == ERR_CLOSED ? -EACCES : fd;
}

/* The runner knows an included file only if it was asked for it, so each of the chain comes. */
int runner_open(void *user, const char *path, const struct regular_chain *from, bool is_folder)
{
	if (from && from->outer) {
		int fd = runner_open(user, from->path, from->outer, false);

		if (fd < 0)
			return fd;
		close(fd);
	}
	return ask_runner_for_file(user, path, from ? from->path : "", is_folder);
}

/* --- Configurations --------------------------------------------------------------------------- */

void runner_read_config(struct runner *runner, int fd)
{
	pthread_mutex_lock(&runner->lock);
	follow_runner(runner);
	put_fd(&runner->next_fd, fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1);
	runner->has_next = true;
	send_config(runner, fd);
	pthread_mutex_unlock(&runner->lock);
}

void runner_keep_config(struct runner *runner)
{
	pthread_mutex_lock(&runner->lock);
	follow_runner(runner);
	put_fd(&runner->kept_fd, runner->next_fd);
	runner->next_fd = -1;
	runner->has_next = false;
	send_keep(runner);
	pthread_mutex_unlock(&runner->lock);
}
