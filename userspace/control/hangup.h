/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends connections of clients that may have sent descriptors which nobody has received (SCM_RIGHTS,
 * unix(7)). The kernel closes such descriptors in the thread that closes the connection, and that
 * may take long: a TCP socket with SO_LINGER and unread data takes as long as its sender wants. No
 * descriptor of such a client is put into the table of this process, and none is closed in the
 * caller's thread, unless a thread cannot be started:
 *
 *      shutdown(): nothing comes any more ─► read what has come ─► no descriptor: close()
 *                                                              └► one: a thread of its own closes
 *
 * The caller learns by recvmsg() with MSG_PEEK whether a descriptor has come: the kernel then sets
 * MSG_CTRUNC, and the message stays in the queue (hangup_receive()).
 *
 * One thread calls these functions.
 */
#ifndef VOLLEY_CONTROL_HANGUP_H
#define VOLLEY_CONTROL_HANGUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Connections that wait for their end at a time. */
#define HANGUP_CAP 64

struct hangup;

int hangup_new(struct hangup **out) __attribute__((warn_unused_result));

/*
 * Does not wait for connections that are not closed yet: a thread goes on, and the end of the
 * process closes them. NULL is allowed.
 */
void hangup_free(struct hangup *h);

/*
 * For each accepted connection, before anything is read. An urgent octet (MSG_OOB) may have a
 * descriptor, too, and the kernel would drop both at the next read; now it is read as the others.
 */
void hangup_prepare(int fd);

/* Ends the connection; fd is this module's. */
void hangup_close(struct hangup *h, int fd);

/*
 * True if as many connections wait for their end that a full set of n more may have no place. Then
 * accept none: hangup_close() would have to close in the caller's thread.
 */
bool hangup_is_behind(struct hangup *h, unsigned int n);

/*
 * Reads octets that have come, as recv() with MSG_DONTWAIT does; -errno. -EPERM: a descriptor came
 * with them. Then nothing is read, and the connection is for hangup_close().
 */
ssize_t hangup_receive(int fd, void *octets, size_t n);

#endif
