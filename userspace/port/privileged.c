/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/privileged.h"

#include <errno.h>
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
