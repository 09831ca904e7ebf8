/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hits that the XDP program tells of: rings of the kernel, one for each processor up to
 * VOLLEY_TAP_RINGS, and the events that are made of what is in them.
 *
 *      program ─► volley_taps[processor] ─► ring ─► tap_rings_drain() ─► tap_handle()
 *
 * A record has the answer as it left. The query is gone by then, since the answer is written over
 * it; it is made anew from the answer (tap_event_rebuild()).
 */
#ifndef VOLLEY_BPF_TAP_RINGS_H
#define VOLLEY_BPF_TAP_RINGS_H

#include "tap/tap.h"

#define TAP_RINGS_BYTES \
	(4u << 20) /* of one: 8,000 hits, of which a processor has 1,600,000 a second at most */

struct tap_rings;

/* Makes rings and puts them into the map. 0 or -errno. Control's thread. */
int tap_rings_open(struct tap_rings **out, int taps_fd) __attribute__((warn_unused_result));
/* The program finds them no more when this returns; nobody drains. NULL is allowed. */
void tap_rings_close(struct tap_rings *rings);

/* A tap_drain_fn; ctx is a struct tap_rings. */
void tap_rings_drain(void *ctx, struct tap *tap);

/*
 * Makes an event of a record of n octets: e has room for TAP_EVENT_MAX. `ahead_ns`: of
 * CLOCK_REALTIME over the kernel's monotonic clock. False: it is no answer of ours. Pure; any
 * thread.
 */
struct volley_tap;
bool tap_rings_read(struct tap_event *e, const struct volley_tap *record, size_t n,
		    uint64_t ahead_ns);

#endif
