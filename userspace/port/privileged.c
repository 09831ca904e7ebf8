/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/privileged.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static const struct port_helper *helper;

void port_set_helper(const struct port_helper *by)
{
	helper = by;
}

int port_bind(int fd, const struct port_addr *addr)
{
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(addr, &ss);

	if (!bind(fd, (const struct sockaddr *)&ss, len))
		return 0;
	return errno == EACCES && helper ? helper->bind(fd, addr) : -errno;
}

int port_force_buffer(int fd, uint32_t n_bytes)
{
	const int value = (int)n_bytes;

	return setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &value, sizeof(value)) ? -errno : 0;
}

static bool has_buffer(int fd, uint32_t n_bytes)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return !getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &len) &&
	       (uint64_t)value >= 2 * (uint64_t)n_bytes;
}

void port_set_buffer(int fd, uint32_t n_bytes)
{
	const int value = (int)n_bytes;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
	if (!has_buffer(fd, n_bytes) && port_force_buffer(fd, n_bytes) == -EPERM && helper)
		(void)helper->force_buffer(fd, n_bytes);
}
