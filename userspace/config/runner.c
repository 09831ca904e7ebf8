/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/runner.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "config/runner_process.h"

struct runner {
	int fd;
	pid_t pid;
};

int runner_start(struct runner **out, const struct config *config)
{
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
	runner->fd = fds[0];
	runner->pid = fork();
	if (!runner->pid) {
		close(fds[0]);
		runner_process(fds[1], config);
	}
	if (runner->pid < 0)
		err = -errno;
	close(fds[1]);
	if (!err) {
		*out = runner;
		return 0;
	}
	close(runner->fd);
	free(runner);
	return err;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	close(runner->fd);
	while (waitpid(runner->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(runner);
}

bool runner_is_alive(const struct runner *runner)
{
	struct pollfd at = { .fd = runner->fd };

	return poll(&at, 1, 0) >= 0 && !(at.revents & (POLLHUP | POLLERR));
}

const char *runner_problem(const struct runner *runner)
{
	return runner_is_alive(runner) ?
		       "" :
		       "zones[].verify: the process volley-runner, which starts the commands, has "
		       "ended: no zone with a command is loaded until volleyd is restarted";
}

/* Sends the request with these descriptors. 0, ERR_CLOSED or -errno. */
static int send_runner_request(struct runner *runner, const struct runner_request *request,
			       const int *fds, unsigned int n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(RUNNER_FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)request, sizeof(*request) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (!runner)
		return ERR_CLOSED;
	if (n) {
		message.msg_control = control.room;
		message.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	while (sendmsg(runner->fd, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return errno == EPIPE || errno == ECONNRESET ? ERR_CLOSED : -errno;
	return 0;
}

/* fds[0] becomes the runner's end of a channel. Returns our end, or as send_runner_request(). */
static int ask_runner(struct runner *runner, const struct runner_request *request,
		      int fds[RUNNER_FDS_MAX])
{
	int channel[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
		return -errno;
	fds[0] = channel[1];
	err = send_runner_request(runner, request, fds, RUNNER_FDS_MAX);
	close(channel[1]);
	if (!err)
		return channel[0];
	close(channel[0]);
	return err;
}

int runner_verify(struct runner *runner, uint64_t digest, const struct runner_zone *zone,
		  int zone_fd, int said_fd)
{
	int fds[RUNNER_FDS_MAX] = { -1, zone_fd, said_fd }, err;
	struct runner_request *request = calloc(1, sizeof(*request));

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
		err = ask_runner(runner, request, fds);
	}
	free(request);
	return err;
}

int runner_end(int command_fd, int *status)
{
	struct runner_reply reply;
	ssize_t n;

	shutdown(command_fd, SHUT_WR);
	do
		n = recv(command_fd, &reply, sizeof(reply), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(reply))
		return ERR_CLOSED;
	*status = reply.status;
	return reply.code;
}

void runner_read_config(struct runner *runner, int fd)
{
	static const struct runner_request request = { .kind = RUNNER_READ };

	(void)!send_runner_request(runner, &request, &fd, fd >= 0);
}

void runner_keep_config(struct runner *runner)
{
	static const struct runner_request request = { .kind = RUNNER_KEEP };

	(void)!send_runner_request(runner, &request, NULL, 0);
}
