/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/channel.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/peer_end.h"

/* Room for the descriptors of a packet, aligned for the kernel's header. */
union control {
	struct cmsghdr head;
	uint8_t room[CMSG_SPACE(BROKER_N_FDS * sizeof(int))];
};

int channel_send(int fd, const void *octets, size_t n, const struct broker_fds *fds, int flags)
{
	union control control = { 0 };
	struct iovec part = { .iov_base = (void *)octets, .iov_len = n };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	int list[BROKER_N_FDS];
	size_t n_fds = 0;
	ssize_t sent;

	for (size_t i = 0; i < BROKER_N_FDS; i++)
		if (fds->fd[i] >= 0)
			list[n_fds++] = fds->fd[i];
	if (n_fds) {
		control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
						 .cmsg_level = SOL_SOCKET,
						 .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), list, n_fds * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	do
		sent = sendmsg(fd, &msg, MSG_NOSIGNAL | flags);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return (size_t)sent == n ? 0 : -EPROTO;
}

/* Takes the descriptors out of a message. How many there are. */
static size_t take_channel_fds(struct msghdr *msg, int list[BROKER_N_FDS])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		const size_t more = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    n + more > BROKER_N_FDS)
			continue; /* cannot be: `union control` has no room for more */
		memcpy(list + n, CMSG_DATA(c), more * sizeof(int));
		n += more;
	}
	return n;
}

/* Gives each descriptor its place by the mask. False: there are more or fewer. */
static bool place_channel_fds(struct broker_fds *fds, uint64_t mask, const int *list, size_t n)
{
	size_t at = 0;

	if ((size_t)__builtin_popcountll(mask) != n || (BROKER_N_FDS < 64 && mask >> BROKER_N_FDS))
		return false;
	for (size_t i = 0; i < BROKER_N_FDS; i++)
		if (mask & BROKER_BIT(i))
			fds->fd[i] = list[at++];
	return true;
}

int channel_receive(int fd, void *octets, size_t n, size_t mask_at, struct broker_fds *fds,
		    int flags)
{
	union control control;
	struct iovec part = { .iov_base = octets, .iov_len = n };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_LEN(sizeof(int[BROKER_N_FDS])) };
	int list[BROKER_N_FDS];
	uint64_t mask = 0;
	size_t n_fds;
	ssize_t got;

	broker_fds_init(fds);
	do
		got = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | flags);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	n_fds = take_channel_fds(&msg, list);
	if ((size_t)got == n)
		memcpy(&mask, (const uint8_t *)octets + mask_at, sizeof(mask));
	if ((size_t)got == n && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	    place_channel_fds(fds, mask, list, n_fds))
		return 0;
	while (n_fds)
		close(list[--n_fds]);
	return !got && peer_has_ended(fd) ? -EPIPE : -EPROTO;
}
