/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three clocks. Time is an argument everywhere below control and worker: only the loops of
 * threads read a clock, once a burst or once an event, and hand the value down. So a test can be
 * years ahead at once. Work that takes long, or runs in a thread of its own, reads a clock again
 * and says why. All functions are vDSO calls; any thread.
 */
#ifndef VOLLEY_BASE_CLOCK_H
#define VOLLEY_BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_NS_PER_S  1000000000ULL
#define CLOCK_NS_PER_MS 1000000ULL

/* CLOCK_MONOTONIC in nanoseconds: for durations and timers. */
uint64_t clock_ns(void);

/*
 * CLOCK_MONOTONIC_COARSE in whole seconds: the clock that bpf_ktime_get_coarse_ns() reads, so an
 * expiry written here means the same in the XDP program. Starts at boot; stands during suspend.
 * Never before 0.
 */
uint32_t clock_coarse_s(void);

/*
 * In a time namespace (time_namespaces(7)) our clock is ahead of that of the kernel, which the
 * program reads, by so much (behind: negative). clock_coarse_s() leaves that out from now on, and
 * nothing else does. To be called before there are other threads.
 */
void clock_set_offset(int64_t ahead_ns);

/* The moment `ns` of clock_ns() on the kernel's own clock: without what clock_set_offset() has
 * said. Any thread. */
uint64_t clock_kernel_ns(uint64_t ns);

/* CLOCK_REALTIME in seconds since 1970: cookies, signatures, serials. It may jump. */
uint64_t clock_wall_s(void);

/*
 * CLOCK_REALTIME less the clock that bpf_ktime_get_coarse_ns() reads, modulo 2^64. It changes only
 * when the wall clock is set.
 */
uint64_t clock_wall_ahead_ns(void);

/* A moment, by all three. */
struct clock_now {
	uint64_t ns;       /* clock_ns() */
	uint64_t wall_s;   /* clock_wall_s() */
	uint32_t coarse_s; /* clock_coarse_s() */
};

/* The moment of this call. */
void clock_read(struct clock_now *now);

#endif
