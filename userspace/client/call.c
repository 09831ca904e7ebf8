/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Only poll() blocks, so each wait for a daemon that hangs ends in time. */
#include "client/call.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "config/ctl_protocol.h"

int call_open(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* Waits for EVENTS until END_NS of clock_ns(). */
static int wait_call_until(int fd, short events, uint64_t end_ns)
{
	struct pollfd pollfd = { .fd = fd, .events = events };

	for (;;) {
		uint64_t now_ns = clock_ns();
		uint64_t left_ms = now_ns < end_ns ? (end_ns - now_ns) / CLOCK_NS_PER_MS + 1 : 0;
		int n = poll(&pollfd, 1, (int)left_ms);

		if (n > 0)
			return 0;
		if (!n)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static uint64_t get_end_ns(int wait_ms)
{
	return clock_ns() + (unsigned int)wait_ms * CLOCK_NS_PER_MS;
}

/* Sends some octets, with the descriptor FILE unless it is -1. */
static ssize_t send_call_some(int fd, const char *line, size_t len, int file)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec octets = { (char *)(uintptr_t)line, len };
	struct msghdr msg = { .msg_iov = &octets, .msg_iovlen = 1 };

	if (file >= 0) {
		control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						 .cmsg_level = SOL_SOCKET,
						 .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), &file, sizeof(int));
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A busy daemon may reply before it reads. Then sending fails, but there is a reply. */
static int send_line(int fd, const char *line, size_t len, int file, uint64_t end_ns)
{
	while (len) {
		ssize_t put = send_call_some(fd, line, len, file);
		int ret;

		if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (put >= 0) {
			file = -1;
			line += put;
			len -= (size_t)put;
			continue;
		}
		ret = wait_call_until(fd, POLLOUT, end_ns);
		if (ret)
			return ret;
	}
	return 0;
}

static int send_request(int fd, const char *command, const json_t *args, int file, uint64_t end_ns)
{
	json_t *request = json_pack("{s:i, s:s, s:O}", "v", CTL_VERSION, "command", command, "args",
				    (json_t *)args);
	char *line = request ? json_dumps(request, JSON_COMPACT) : NULL;
	int ret = line ? send_line(fd, line, strlen(line), file, end_ns) : ERR_FORMAT;

	if (!ret)
		ret = send_line(fd, "\n", 1, -1, end_ns);
	free(line);
	json_decref(request);
	return ret;
}

/* Reads up to the newline that ends the reply. The caller frees *LINE. */
static int receive_line(int fd, char **line, size_t *len, uint64_t end_ns)
{
	size_t cap = 0;

	*line = NULL;
	*len = 0;
	for (;;) {
		ssize_t got;
		int ret = wait_call_until(fd, POLLIN, end_ns);

		if (ret)
			return ret;
		if (*len == cap) {
			char *grown = realloc(*line, cap = cap ? 2 * cap : 4096);

			if (!grown)
				return -ENOMEM;
			*line = grown;
		}
		got = recv(fd, *line + *len, cap - *len, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return got && errno != ECONNRESET ? -errno : ERR_CLOSED;
		*len += (size_t)got;
		if ((*line)[*len - 1] == '\n')
			return 0;
	}
}

static int receive_reply(int fd, uint64_t end_ns, json_t **reply)
{
	char *line = NULL;
	size_t len;
	int ret = receive_line(fd, &line, &len, end_ns);

	*reply = NULL;
	if (!ret) {
		*reply = json_loadb(line, len, 0, NULL);
		if (!json_is_boolean(json_object_get(*reply, "ok"))) {
			json_decref(*reply);
			*reply = NULL;
			ret = ERR_FORMAT;
		}
	}
	free(line);
	return ret;
}

int call_run(int fd, const char *command, const json_t *args, int wait_ms, json_t **reply)
{
	uint64_t end_ns = get_end_ns(wait_ms);
	int ret = send_request(fd, command, args, -1, end_ns);

	*reply = NULL;
	return ret ? ret : receive_reply(fd, end_ns, reply);
}

/* Any reply says that the daemon has accepted the connection, unless it has no room for it. */
static int await_acceptance(int fd, uint64_t end_ns)
{
	json_t *no_args = json_array(), *reply = NULL;
	int ret = send_request(fd, "health", no_args, -1, end_ns);
	const char *code;

	if (!ret)
		ret = receive_reply(fd, end_ns, &reply);
	code = json_string_value(json_object_get(reply, "code"));
	if (code && !strcmp(code, "busy"))
		ret = -EBUSY;
	json_decref(reply);
	json_decref(no_args);
	return ret;
}

/* The daemon tells a client that may send no file why this is so. */
int call_send(int fd, const char *command, const json_t *args, int file, int wait_ms)
{
	uint64_t end_ns = get_end_ns(wait_ms);
	int ret = send_request(fd, command, args, file, end_ns);

	if (ret != -EPERM || file < 0)
		return ret;
	ret = await_acceptance(fd, end_ns);
	if (!ret)
		ret = send_request(fd, command, args, file, end_ns);
	return ret == -EPERM ? send_request(fd, command, args, -1, end_ns) : ret;
}

int call_wait_reply(int fd, int wait_ms)
{
	return wait_call_until(fd, POLLIN, get_end_ns(wait_ms));
}

int call_receive(int fd, int wait_ms, json_t **reply)
{
	return receive_reply(fd, get_end_ns(wait_ms), reply);
}

int call_wait_end(int fd, int wait_ms)
{
	uint64_t end_ns = get_end_ns(wait_ms);

	for (;;) {
		char rest[256];
		ssize_t got;
		int ret = wait_call_until(fd, POLLIN, end_ns);

		if (ret)
			return ret;
		got = recv(fd, rest, sizeof(rest), MSG_DONTWAIT);
		if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
			return 0;
	}
}

bool call_is_usage(const char *code)
{
	static const char *const codes[] = { "usage",         "EINVAL",          "ERR_NAME",
					     "ERR_NAME_LONG", "ERR_LABEL_EMPTY", "ERR_LABEL_LONG",
					     "ERR_ESCAPE",    "ERR_TYPE" };

	for (size_t i = 0; code && i < sizeof(codes) / sizeof(codes[0]); i++)
		if (!strcmp(code, codes[i]))
			return true;
	return false;
}
