/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three clocks. Below control and worker, time is an argument: only the loops of threads read a
 * clock, once for a burst or an event, and pass the value down. So a test can be years ahead at
 * once. Long work, or work in a thread of its own, reads a clock again and says why. All functions
 * are vDSO calls; any thread.
 */
#ifndef VOLLEY_BASE_CLOCK_H
#define VOLLEY_BASE_CLOCK_H

#include <stdint.h>
#include <sys/epoll.h>

#define CLOCK_NS_PER_S  1000000000ULL
#define CLOCK_NS_PER_MS 1000000ULL

/* CLOCK_MONOTONIC in nanoseconds: for durations and timers. */
uint64_t clock_ns(void);

/* CLOCK_MONOTONIC_COARSE in whole seconds: bpf_ktime_get_coarse_ns() reads the same clock, so an
 * expiry means the same in the XDP program. Starts at boot; stops during suspend. Never below 0. */
uint32_t clock_coarse_s(void);

/*
 * In a time namespace (time_namespaces(7)) our clock is ahead of the kernel's, which the program
 * reads, by this much (behind: negative). Only clock_coarse_s(), clock_kernel_ns() and
 * clock_wall_ahead_ns() subtract it from now on. Call it before there are other threads.
 */
void clock_set_offset(int64_t ahead_ns);

/* The time `ns` of clock_ns() on the kernel's own clock: without the offset of clock_set_offset().
 * Any thread. */
uint64_t clock_kernel_ns(uint64_t ns);

/* CLOCK_REALTIME in seconds since 1970: for cookies, signatures, serials. It may jump. */
uint64_t clock_wall_s(void);

/* CLOCK_REALTIME minus the clock that bpf_ktime_get_coarse_ns() reads, modulo 2^64. It changes only
 * when the wall clock is set. */
uint64_t clock_wall_ahead_ns(void);

/* One moment on all three clocks. */
struct clock_now {
	uint64_t ns;       /* clock_ns() */
	uint64_t wall_s;   /* clock_wall_s() */
	uint32_t coarse_s; /* clock_coarse_s() */
};

/* The moment of this call. */
void clock_read(struct clock_now *now);

/*
 * epoll_wait(2) with a timeout in nanoseconds. Linux 5.11 has epoll_pwait2(2) for it. If the kernel
 * does not know that call (ENOSYS), or a container's system call filter refuses it (EPERM),
 * epoll_wait() is used with the timeout rounded up to whole milliseconds: a timer is then up to 1
 * ms late, and no thread spins until it is due.
 */

/* Waits at most TIMEOUT_NS nanoseconds for up to `cap` events of EPOLL_FD. Returns the number of
 * events, 0 after the timeout, or -1 with errno, as epoll_wait(). Any thread. */
int epoll_ns_wait(int epoll_fd, struct epoll_event *events, int cap, uint64_t timeout_ns);

#endif
