/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/sockets.h"

#include <string.h>

#include "broker/broker.h"

/* Makes a request about one socket. */
static int ask_about_socket(struct broker_request *request, int fd)
{
	struct broker_reply reply;
	struct broker_fds fds, out;

	broker_fds_init(&fds);
	fds.fd[BROKER_FD_SOCKET] = fd;
	return broker_call(request, &fds, &reply, &out);
}

static int ask_to_bind(int fd, const struct port_addr *addr)
{
	struct broker_request request = { .operation = BROKER_BIND,
					  .address = { .family = addr->family,
						       .net_port = addr->port,
						       .scope_id = addr->scope_id } };

	memcpy(request.address.bytes, addr->bytes, sizeof(request.address.bytes));
	return ask_about_socket(&request, fd);
}

const struct port_helper sockets_helper = { .bind = ask_to_bind };

int sockets_open_xsk(void)
{
	struct broker_request request = { .operation = BROKER_XSK_SOCKET };
	struct broker_reply reply;
	struct broker_fds out;
	int code = broker_call(&request, NULL, &reply, &out);

	return code ? code : out.fd[BROKER_FD_NEW];
}
