/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/activation.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/err.h"

#define HELLO_MS 10000 /* the parent sends it at once */

/* Numbers are in the byte order of the host. */
struct units_hello {
	char version[32]; /* VOLLEY_VERSION: both programs are of one build */
	int32_t daemon;
};

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(ACTIVATION_FDS_MAX * sizeof(int))];
};

/* --- The parent ------------------------------------------------------------------------------- */

const char *activation_folder(void)
{
	const char *folder = getenv(ACTIVATION_VARIABLE);

	return folder && *folder ? folder : NULL;
}

/* For a connection to a listening socket, the user is the one that has called listen(). */
static int check_peer(int fd, uid_t user)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return -errno;
	return !peer.uid || peer.uid == user ? 0 : -EPERM;
}

int activation_connect(const char *folder, const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, err = 0;

	if ((size_t)snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", folder, name) >=
	    sizeof(at.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
		err = -errno;
	if (!err)
		err = check_peer(fd, geteuid());
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int send_units_hello(int fd, pid_t daemon, const int *fds, unsigned int n)
{
	struct units_hello hello = { .version = VOLLEY_VERSION, .daemon = daemon };
	union control control = { .head = { .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS,
					    .cmsg_len = CMSG_LEN(n * sizeof(int)) } };
	struct iovec part = { &hello, sizeof(hello) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = CMSG_SPACE(n * sizeof(int)) };

	memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int activation_open(const char *folder, const char *name, pid_t daemon, const int *fds,
		    unsigned int n)
{
	int fd = activation_connect(folder, name), err;

	if (fd < 0)
		return fd;
	err = send_units_hello(fd, daemon, fds, n);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int activation_hear(int connection, struct activation_report *report)
{
	ssize_t n = recv(connection, report, sizeof(*report), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n != (ssize_t)sizeof(*report))
		return ERR_CLOSED;
	report->why[sizeof(report->why) - 1] = 0;
	return 0;
}

/* --- The process in a unit -------------------------------------------------------------------- */

static int find_units_socket(const char *user)
{
	const struct passwd *is = getpwnam(user);
	int n;

	if (!is)
		return -ENOENT;
	n = sd_listen_fds(1);
	if (n != 1)
		return n < 0 ? n : -ENOTSOCK;
	if (sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_SEQPACKET, 0, NULL, 0) <= 0)
		return -ENOTSOCK;
	n = check_peer(SD_LISTEN_FDS_START, is->pw_uid);
	return n ? n : SD_LISTEN_FDS_START;
}

int activation_socket(const char *user)
{
	int fd = find_units_socket(user);

	if (fd < 0)
		fprintf(stderr, "a service manager starts this program for volleyd, user %s: %s\n",
			user, err_text(fd));
	return fd;
}

static void send_units_report(int socket, enum activation_state state, const char *why)
{
	struct activation_report report = { .state = (uint32_t)state };

	snprintf(report.why, sizeof(report.why), "%s", why);
	(void)!send(socket, &report, sizeof(report), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int receive_units_hello(int socket, struct units_hello *hello, int *fds, unsigned int n)
{
	union control control;
	struct iovec part = { hello, sizeof(*hello) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct pollfd wait = { .fd = socket, .events = POLLIN };
	struct cmsghdr *head;
	ssize_t got;

	if (poll(&wait, 1, HELLO_MS) != 1)
		return -ETIMEDOUT;
	got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (got != (ssize_t)sizeof(*hello) || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ||
	    !head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(n * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(head), n * sizeof(int));
	hello->version[sizeof(hello->version) - 1] = 0;
	return 0;
}

int activation_accept(int socket, pid_t *daemon, int *fds, unsigned int n)
{
	char why[sizeof(((struct activation_report *)NULL)->why)] = "";
	struct units_hello hello;
	int err = receive_units_hello(socket, &hello, fds, n);

	if (err)
		snprintf(why, sizeof(why), "the hello is not as it should be: %s", err_text(err));
	else if (strcmp(hello.version, VOLLEY_VERSION) != 0)
		snprintf(why, sizeof(why),
			 "it is " VOLLEY_VERSION ", and volleyd is %s: restart volleyd",
			 hello.version);
	if (*why) {
		fprintf(stderr, "%s\n", why);
		send_units_report(socket, ACTIVATION_REFUSED, why);
		return -EPROTO;
	}
	*daemon = hello.daemon;
	send_units_report(socket, ACTIVATION_READY, "");
	return 0;
}

void activation_tell_done(int socket)
{
	send_units_report(socket, ACTIVATION_DONE, "");
}
