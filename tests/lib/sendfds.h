/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet with any octets and any number of descriptors, as a broken daemon may send it. */
#ifndef TESTS_LIB_SENDFDS_H
#define TESTS_LIB_SENDFDS_H

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* At most four descriptors; each of them is that of stdin. The result of sendmsg(). */
static inline ssize_t sendfds(int fd, const void *octets, size_t n, unsigned int n_fds)
{
	static const int fds[4];
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(n_fds * sizeof(int)) } };
	struct iovec part = { (void *)(uintptr_t)octets, n };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	memcpy(CMSG_DATA(&control.head), fds, n_fds * sizeof(int));
	if (n_fds) {
		message.msg_control = control.room;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL);
}

#endif
