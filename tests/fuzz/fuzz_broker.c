/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a packet to the broker: one octet for the channel and for how many descriptors come
 * with it, then its octets. It is received as the broker receives it. If it is a request that the
 * table allows, it keeps what the operations rely on, and each descriptor of its mask is open. No
 * descriptor is left open.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "broker/channel.h"
#include "tests/lib/must.h"
#include "xdp/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int pair[2] = { -1, -1 };

/* The descriptor that the next open() would get: the lowest that is free. */
static int lowest_free(void)
{
	int fd = dup(pair[0]);

	MUST(fd >= 0);
	close(fd);
	return fd;
}

static void send_packet(const uint8_t *octets, size_t n, size_t n_fds)
{
	union {
		struct cmsghdr head;
		uint8_t room[CMSG_SPACE(64 * sizeof(int))];
	} control = { .head = { CMSG_LEN(n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { (void *)octets, n };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	int list[64];

	for (size_t i = 0; i < n_fds; i++)
		list[i] = pair[0];
	memcpy(CMSG_DATA(&control.head), list, n_fds * sizeof(int));
	if (n_fds) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	MUST(sendmsg(pair[0], &msg, MSG_NOSIGNAL) == (ssize_t)n);
}

static void check_allowed(const struct broker_request *r, const struct broker_fds *fds)
{
	const struct object_shared shared = broker_fds_shared(fds, &r->sizes);

	MUST(r->operation < BROKER_N_OPERATIONS);
	MUST(memchr(r->ifname, 0, sizeof(r->ifname)) && !strchr(r->ifname, '/'));
	MUST(broker_fds_mask(fds) == r->fds_mask);
	MUST(!(r->fds_mask & BROKER_SHARED_MASK) == !shared.is_open);
	for (size_t i = 0; i < BROKER_N_FDS; i++)
		MUST(fds->fd[i] < 0 || fcntl(fds->fd[i], F_GETFD) == FD_CLOEXEC);
	if (r->sizes.n_buckets)
		MUST(r->sizes.n_segments && r->sizes.n_buckets % VOLLEY_PAGE_BUCKETS == 0);
	MUST(r->n <= (r->operation == BROKER_BUFFER ? SOCKET_RCVBUF_BYTES : BROKER_BLOCK_CHUNKS));
	if (r->operation == BROKER_BIND || r->operation == BROKER_USE_NEIGHBOUR)
		MUST(!r->address.net_port == (r->operation == BROKER_USE_NEIGHBOUR) &&
		     (r->address.family == AF_INET || r->address.family == AF_INET6));
	else
		MUST(!r->address.family && !r->address.net_port);
	MUST(!!r->xsk.n_frames == (r->operation == BROKER_XSK_SOCKET));
	MUST((uint64_t)r->xsk.n_frames * r->xsk.frame_bytes <= 4ull << 30);
	if (r->operation == BROKER_MAKE_RINGS)
		MUST(r->n && r->n <= VOLLEY_TAP_RINGS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct broker_request request;
	struct broker_fds fds;
	const char *why = NULL;
	int before;

	if (size < 2 || size > 4 * sizeof(request))
		return 0;
	if (pair[0] < 0)
		MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	before = lowest_free();
	send_packet(data + 1, size - 1, data[0] & 63);
	if (!channel_receive(pair[1], &request, sizeof(request),
			     offsetof(struct broker_request, fds_mask), &fds, MSG_DONTWAIT)) {
		if (!broker_check(&request, data[0] >> 6 & 1, data[0] >> 7, &why))
			check_allowed(&request, &fds);
		else
			MUST(why && *why);
		broker_fds_close(&fds);
	}
	MUST(lowest_free() == before);
	return 0;
}
