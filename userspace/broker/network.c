/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/network.h"

#include <errno.h>
#include <stdio.h>
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

static int ask_for_buffer(int fd, uint32_t n_bytes)
{
	struct broker_request request = { .operation = BROKER_BUFFER, .n = n_bytes };

	return ask_about_socket(&request, fd);
}

const struct port_helper network_helper = { .bind = ask_to_bind, .force_buffer = ask_for_buffer };

int network_open_xsk(int memory_fd, const struct xsk_socket_wish *wish)
{
	struct broker_request request = { .operation = BROKER_XSK_SOCKET, .xsk = *wish };
	struct broker_reply reply;
	struct broker_fds fds, out;
	int code;

	broker_fds_init(&fds);
	fds.fd[BROKER_FD_MEMORY] = memory_fd;
	code = broker_call(&request, &fds, &reply, &out);
	return code ? code : out.fd[BROKER_FD_NEW];
}

int network_use_neighbour(const char *ifname, uint8_t family, const uint8_t *address)
{
	struct broker_request request = { .operation = BROKER_USE_NEIGHBOUR,
					  .address.family = family };
	struct broker_reply reply;
	struct broker_fds out;

	snprintf(request.ifname, sizeof(request.ifname), "%s", ifname);
	memcpy(request.address.bytes, address, family == AF_INET ? 4 : 16);
	return broker_call(&request, NULL, &reply, &out);
}

void network_look_at_peer(struct vethpeer *peer, const char *ifname, unsigned int ifindex)
{
	struct broker_request request = { .operation = BROKER_VETH_PEER };
	struct broker_reply reply;
	struct broker_fds out;

	vethpeer_look(peer, ifindex);
	if (peer->kind != VETHPEER_UNSEEN || peer->mtu != -EACCES)
		return;
	snprintf(request.ifname, sizeof(request.ifname), "%s", ifname);
	if (!broker_call(&request, NULL, &reply, &out))
		*peer = (struct vethpeer){ .kind = (enum vethpeer_kind)reply.value,
					   .mtu = reply.mtu };
}
