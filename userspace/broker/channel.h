/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests and replies as packets of a SOCK_SEQPACKET socket, with their descriptors. A packet is
 * whole or it is not there; a packet of another length, or with another number of descriptors than
 * its mask says, is refused and its descriptors are closed.
 */
#ifndef VOLLEY_BROKER_CHANNEL_H
#define VOLLEY_BROKER_CHANNEL_H

#include <sys/socket.h>

#include "broker/request.h"

/* Sends n octets, which have the mask of `fds`. The caller keeps the descriptors. `flags`: 0, which
 * blocks while the socket is full, or MSG_DONTWAIT. 0 or -errno; -EPIPE: the other side has ended.
 */
int channel_send(int fd, const void *octets, size_t n, const struct broker_fds *fds, int flags)
	__attribute__((warn_unused_result));

/*
 * Receives n octets. `mask_at`: where in them the mask is (uint64_t). The descriptors, which are
 * closed at exec, are the caller's. `flags`: 0 or MSG_DONTWAIT. 0; -EPIPE: the other side has
 * ended; -EPROTO: the packet is not as it should be; or -errno.
 */
int channel_receive(int fd, void *octets, size_t n, size_t mask_at, struct broker_fds *fds,
		    int flags) __attribute__((warn_unused_result));

#endif
