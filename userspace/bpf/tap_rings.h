/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of the XDP program's hits. The kernel has a ring for each processor, up to
 * VOLLEY_TAP_RINGS; each record becomes an event.
 *
 *      program ─► volley_taps[processor] ─► ring ─► tap_rings_drain() ─► tap_handle()
 *
 * A record has the answer as it was sent. The answer has overwritten the query, so the query is
 * rebuilt from the answer (tap_event_rebuild()).
 */
#ifndef VOLLEY_BPF_TAP_RINGS_H
#define VOLLEY_BPF_TAP_RINGS_H

#include "tap/tap.h"

#define TAP_RINGS_BYTES \
	(4u << 20) /* of one ring: 8,000 hits; a processor makes at most 1,600,000 a second */

struct tap_rings;

/* How many rings this host needs, and a new ring: its descriptor or -errno. Needs CAP_BPF. */
unsigned int tap_rings_wanted(void);
int tap_rings_make(void) __attribute__((warn_unused_result));

/* Puts n rings, at most VOLLEY_TAP_RINGS, into the map. It owns them, also after an error. 0 or
 * -errno. Control's thread. */
int tap_rings_open(struct tap_rings **out, int taps_fd, const int *fds, unsigned int n)
	__attribute__((warn_unused_result));
/* When this returns, the program finds no ring. No thread may drain them now. NULL is allowed. */
void tap_rings_close(struct tap_rings *rings);

/* A tap_drain_fn; ctx is a struct tap_rings. */
void tap_rings_drain(void *ctx, struct tap *tap);

/* Makes an event of a record of n octets; e has room for TAP_EVENT_MAX. `ahead_ns`: CLOCK_REALTIME
 * minus the kernel's monotonic clock. False: it is no answer of ours. Pure; any thread. */
struct volley_tap;
bool tap_rings_read(struct tap_event *e, const struct volley_tap *record, size_t n,
		    uint64_t ahead_ns);

#endif
