/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/bells.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int bells_open(struct bells *bells, unsigned int n)
{
	*bells = (struct bells){ .fds = calloc(n + 1, sizeof(*bells->fds)) };
	if (!bells->fds)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells->fds[i])) {
			int err = -errno;

			bells_close(bells);
			return err;
		}
		bells->n = i + 1;
	}
	return 0;
}

void bells_close(struct bells *bells)
{
	for (unsigned int i = 0; i < bells->n; i++) {
		close(bells->fds[i][0]);
		close(bells->fds[i][1]);
	}
	free(bells->fds);
	*bells = (struct bells){ 0 };
}

void bells_ring(const struct bells *bells, unsigned int i)
{
	/* If the socket is full, the worker is to wake up anyway. */
	(void)send(bells->fds[i][1], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void bells_quiet(int fd)
{
	uint8_t rings[256];

	/* A process that rings without end does not hold the worker here. */
	for (int i = 0; i < 16; i++)
		if (recv(fd, rings, sizeof(rings), MSG_DONTWAIT) != (ssize_t)sizeof(rings))
			break;
}
