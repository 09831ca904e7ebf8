/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/peer_end.h"

#define N_FDS    2     /* of a request: channel, file; of a reply: statm, task */
#define START_MS 20000 /* systemd may start it, on a busy machine */

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

/* 0, ERR_CLOSED or -errno. */
static int send_with_files(int fd, const void *bytes, size_t n, const int fds[N_FDS])
{
	union control control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, n };
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

/* Takes the descriptors that came with a message: both, or none. */
static void take_files(struct msghdr *message, int fds[N_FDS])
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);

	fds[0] = fds[1] = -1;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(N_FDS * sizeof(int)))
		memcpy(fds, CMSG_DATA(head), N_FDS * sizeof(int));
}

/* 0, and the descriptors are the caller's, or -1; ERR_CLOSED, -ETIMEDOUT, -EPROTO or -errno. */
static int receive_starter_reply(int channel, int wait_ms, struct wire_reply *reply, int fds[N_FDS])
{
	union control control;
	struct iovec part = { reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = CMSG_LEN(N_FDS * sizeof(int)) };
	struct pollfd wait = { .fd = channel, .events = POLLIN };
	ssize_t n;

	do
		n = poll(&wait, 1, wait_ms);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	n = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n && errno != ECONNRESET ? -errno : ERR_CLOSED;
	take_files(&message, fds);
	return n == (ssize_t)sizeof(*reply) ? 0 : -EPROTO;
}

static void close_files(const int fds[N_FDS])
{
	for (int i = 0; i < N_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int starter_ask(int fd, enum executable_task task, int file, struct started *out)
{
	const struct wire_request request = { .task = task };
	struct wire_reply reply = { 0 };
	int channel[2], fds[N_FDS] = { -1, -1 }, err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
		return -errno;
	err = send_with_files(fd, &request, sizeof(request),
			      (const int[N_FDS]){ channel[1], file });
	close(channel[1]);
	if (!err)
		err = receive_starter_reply(channel[0], START_MS, &reply, fds);
	if (!err)
		err = reply.code;
	if (err) {
		close(channel[0]); /* so a start that is late ends the program */
		close_files(fds);
		return err;
	}
	*out = (struct started){
		.pid = reply.pid, .channel = channel[0], .statm = fds[0], .task = fds[1]
	};
	return 0;
}

void starter_forget(struct started *started)
{
	close_files((const int[N_FDS]){ started->statm, started->task });
	close(started->channel);
	started->channel = started->statm = started->task = -1;
}

void starter_kill(const struct started *started)
{
	shutdown(started->channel, SHUT_WR);
}

int starter_await(struct started *started, int wait_ms, int *status)
{
	struct wire_reply reply = { 0 };
	int fds[N_FDS] = { -1, -1 }, err;

	err = receive_starter_reply(started->channel, wait_ms, &reply, fds);
	if (err == -ETIMEDOUT)
		return err;
	*status = reply.status;
	close_files(fds);
	starter_forget(started);
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

	if (n < 0)
		return errno == ECONNRESET ? ERR_CLOSED : -errno;
	if (!n)
		return peer_has_ended(fd) ? ERR_CLOSED : -EPROTO;
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

	return send_with_files(fd, &wire, sizeof(wire),
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

/* With the files by which the daemon watches the program. */
static void tell_start(int channel, const struct wire_reply *reply)
{
	char path[32];
	int fds[N_FDS];

	snprintf(path, sizeof(path), "/proc/%d/statm", reply->pid);
	fds[0] = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/task", reply->pid);
	fds[1] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fds[0] < 0 || fds[1] < 0)
		send_starter_reply(channel, reply);
	else
		(void)!send_with_files(channel, reply, sizeof(*reply), fds);
	close_files(fds);
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
	if (reply.code) {
		send_starter_reply(request->channel, &reply);
	} else {
		tell_start(request->channel, &reply);
		wait_for_one(pid, request->channel);
		kill(pid, SIGKILL); /* before waitpid(), so the number still belongs to it */
		while (waitpid(pid, &reply.status, 0) < 0 && errno == EINTR)
			continue;
		reply.has_ended = 1;
		send_starter_reply(request->channel, &reply);
	}
	starter_close(request);
}
