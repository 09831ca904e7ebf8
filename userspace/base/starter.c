/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/starter.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

#define N_FDS    2    /* channel, file */
#define START_MS 5000 /* on a busy machine */

/* Numbers are in the byte order of the host. */
struct wire_request {
	uint32_t task;
};

/* On the channel: at the start, and at the end if that has succeeded. */
struct wire_reply {
	int32_t code;
	int32_t pid;
	int32_t status;
	uint32_t has_ended;
};

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(N_FDS * sizeof(int))];
};

/* --- The daemon ------------------------------------------------------------------------------- */

static int send_starter_request(int fd, const struct wire_request *request, const int fds[N_FDS])
{
	union control control = { 0 };
	struct iovec part = { (void *)(uintptr_t)request, sizeof(*request) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };

	control.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
					 .cmsg_len = CMSG_LEN(N_FDS * sizeof(int)) };
	memcpy(CMSG_DATA(&control.head), fds, N_FDS * sizeof(int));
	while (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR)
			return errno == EPIPE || errno == ECONNRESET ? ERR_CLOSED : -errno;
	return 0;
}

/* 0, ERR_CLOSED, -ETIMEDOUT, -EPROTO or -errno. */
static int receive_starter_reply(int channel, int wait_ms, struct wire_reply *reply)
{
	struct pollfd wait = { .fd = channel, .events = POLLIN };
	ssize_t n;

	do
		n = poll(&wait, 1, wait_ms);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	n = recv(channel, reply, sizeof(*reply), MSG_DONTWAIT);
	if (n <= 0)
		return n && errno != ECONNRESET ? -errno : ERR_CLOSED;
	return n == (ssize_t)sizeof(*reply) ? 0 : -EPROTO;
}

int starter_ask(int fd, enum executable_task task, int file, struct started *out)
{
	const struct wire_request request = { .task = task };
	struct wire_reply reply = { 0 };
	int channel[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
		return -errno;
	err = send_starter_request(fd, &request, (const int[N_FDS]){ channel[1], file });
	close(channel[1]);
	if (!err)
		err = receive_starter_reply(channel[0], START_MS, &reply);
	if (!err)
		err = reply.code;
	if (err) {
		close(channel[0]); /* so a start that is late ends the program */
		return err;
	}
	*out = (struct started){ .pid = reply.pid, .channel = channel[0] };
	return 0;
}

void starter_kill(const struct started *started)
{
	shutdown(started->channel, SHUT_WR);
}

int starter_await(struct started *started, int wait_ms, int *status)
{
	struct wire_reply reply = { 0 };
	int err = receive_starter_reply(started->channel, wait_ms, &reply);

	if (err == -ETIMEDOUT)
		return err;
	*status = reply.status;
	close(started->channel);
	started->channel = -1;
	return err;
}

/* --- The starter ------------------------------------------------------------------------------ */

int starter_receive(int fd, struct starter_request *request)
{
	struct wire_request wire;
	union control control;
	struct iovec part = { &wire, sizeof(wire) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = CMSG_LEN(N_FDS * sizeof(int)) };
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fds[N_FDS], n_fds = 0;

	if (n <= 0)
		return !n || errno == ECONNRESET ? ERR_CLOSED : -errno;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
		n_fds = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(head), (size_t)n_fds * sizeof(int));
	}
	if (n == (ssize_t)sizeof(wire) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	    n_fds == N_FDS && wire.task < EXECUTABLE_N_TASKS) {
		*request =
			(struct starter_request){ (enum executable_task)wire.task, fds[0], fds[1] };
		return 0;
	}
	while (n_fds)
		close(fds[--n_fds]);
	return -EPROTO;
}

int starter_pass(int fd, const struct starter_request *request)
{
	const struct wire_request wire = { .task = request->task };

	return send_starter_request(fd, &wire,
				    (const int[N_FDS]){ request->channel, request->file });
}

void starter_close(struct starter_request *request)
{
	if (request->channel >= 0)
		close(request->channel);
	if (request->file >= 0)
		close(request->file);
	request->channel = request->file = -1;
}

static void send_starter_reply(int channel, const struct wire_reply *reply)
{
	(void)!send(channel, reply, sizeof(*reply), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void starter_refuse(const struct starter_request *request, int code)
{
	send_starter_reply(request->channel, &(const struct wire_reply){ .code = code });
}

/* Waits until the program ends, or the daemon wants that or has ended. */
static void wait_for_one(pid_t pid, int channel)
{
	struct pollfd fds[] = { { .fd = pidfd_open(pid, 0), .events = POLLIN },
				{ .fd = channel, .events = POLLIN } };

	if (fds[0].fd < 0)
		return;
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	close(fds[0].fd);
}

void starter_run(const struct executable *program, struct starter_request *request)
{
	struct wire_reply reply = { 0 };
	pid_t pid = 0;

	reply.code = program->fd < 0 ?
			     -ENOENT :
			     executable_spawn(program, request->task, request->file, &pid);
	reply.pid = pid;
	close(request->file);
	request->file = -1;
	send_starter_reply(request->channel, &reply);
	if (!reply.code) {
		wait_for_one(pid, request->channel);
		kill(pid, SIGKILL); /* before waitpid(), so the number still belongs to it */
		while (waitpid(pid, &reply.status, 0) < 0 && errno == EINTR)
			continue;
		reply.has_ended = 1;
		send_starter_reply(request->channel, &reply);
	}
	starter_close(request);
}
