/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view, `volleyctl top`: the clients that ask most now, and the names that they ask for.
 * While a client watches, driver and workers report one answer in N (tap/tap.h), and names and
 * prefixes of clients are counted:
 *
 *      top ─► live_run_top() ─► taps_observe() ─► driver, workers ─► tap thread: live_note()
 *                 ▲                                                        │
 *                 └──────────── names, prefixes ◄── census/frequent.h ◄────┘
 *
 * It ends LIVE_REST_S after the last `top`. N follows the load, so that about LIVE_EVENTS_PER_S
 * events are reported in a second; with fewer answers all are reported. N grows within some
 * milliseconds (live_fd()). Response codes, types, zones and ways are not estimated: they come from
 * the exact counters of report/answers.h.
 *
 * Control's thread calls all of these except live_note().
 */
#ifndef VOLLEY_DAEMON_LIVE_H
#define VOLLEY_DAEMON_LIVE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "tap/event.h"

#define LIVE_REST_S 10u
/* An event takes some 0.3 us in the driver and 1 us in the tap's thread: all take 1 % of a core. */
#define LIVE_EVENTS_PER_S 8192u
#define LIVE_HALF_LIFE_S  5u  /* a question of that age counts half */
#define LIVE_PREFIX4      24u /* a client is a prefix of so many bits, as in xdp/shed.h */
#define LIVE_PREFIX6      48u

struct live;
struct report_source;
struct taps;

/* NULL: no memory. The taps outlive it. */
struct live *live_new(struct taps *taps, const struct report_source *reports);
/* The tap no longer calls live_note(). NULL is allowed. */
void live_free(struct live *live);

/* Readable when the load has grown, with far too many events: live_poll() sets N anew. */
int live_fd(const struct live *live);
void live_poll(struct live *live, uint64_t now_ns);

/* Once a second: fades the counts, sets N anew, and ends a view that no client watches. */
void live_tick(struct live *live, uint64_t now_ns);

/* A tap_observe_fn; ctx is a struct live. The tap's thread. */
void live_note(void *ctx, const struct tap_event *e);

/* The N that reports about LIVE_EVENTS_PER_S of so many answers a second; at least 1. Pure. */
uint32_t live_every(double answers_per_s);

/* `top` [-n N]: the run() of a command; user: a struct live. Begins a view or prolongs it. */
int live_run_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
