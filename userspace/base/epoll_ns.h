/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epoll_wait(2) with a timeout in nanoseconds. Linux 5.11 has epoll_pwait2(2) for it. If the kernel
 * does not know that call (ENOSYS), or a container's system call filter refuses it (EPERM),
 * epoll_wait() is used with the timeout rounded up to whole milliseconds: a timer is then up to 1
 * ms late, and no thread spins until it is due.
 */
#ifndef VOLLEY_BASE_EPOLL_NS_H
#define VOLLEY_BASE_EPOLL_NS_H

#include <stdint.h>
#include <sys/epoll.h>

/* Waits at most TIMEOUT_NS nanoseconds for up to `cap` events of EPOLL_FD. Returns the number of
 * events, 0 after the timeout, or -1 with errno, as epoll_wait(). Any thread. */
int epoll_ns_wait(int epoll_fd, struct epoll_event *events, int cap, uint64_t timeout_ns);

#endif
