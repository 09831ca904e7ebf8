/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a connection between two processes of the daemon's, whose sockets are SOCK_SEQPACKET.
 *
 *	recvmsg() returns 0    the other side has closed the connection, or has shut its direction
 *	                       down, or has sent a packet without octets
 *
 * A process that takes an empty packet for the end can be ended by one, and no other is started in
 * its place. After a shutdown the connection is of no more use to either side.
 */
#ifndef VOLLEY_BASE_PEER_END_H
#define VOLLEY_BASE_PEER_END_H

#include <poll.h>
#include <stdbool.h>

#ifndef POLLRDHUP
#define POLLRDHUP 0x2000 /* poll.h has it for _GNU_SOURCE only */
#endif

/* True if nothing can come from the other side any more. Does not wait. Any thread. */
static inline bool peer_has_ended(int fd)
{
	struct pollfd at = { .fd = fd, .events = POLLRDHUP };

	return poll(&at, 1, 0) == 1;
}

#endif
