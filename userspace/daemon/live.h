/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view, `volleyctl top`: which clients ask in these seconds, and for which names. While
 * somebody watches, driver and workers report one answer in N (tap/tap.h), and names and prefixes
 * of clients are counted:
 *
 *      top ─► live_run_top() ─► taps_observe() ─► driver, workers ─► tap thread: live_note() ─► census/frequent.h
 *                 ▲                                                                                 │
 *                 └──────────────── names, prefixes ◄───────────────────────────────────────────────┘
 *
 * It ends by itself LIVE_REST_S after the last question. N follows the load, so that about
 * LIVE_EVENTS_PER_S events are told in a second, and all of them while there are fewer; it grows
 * within some milliseconds (live_fd()). Response codes, types, zones and ways are not estimated:
 * they are the exact counters of report/answers.h.
 *
 * Control's thread calls these, but live_note().
 */
#ifndef VOLLEY_DAEMON_LIVE_H
#define VOLLEY_DAEMON_LIVE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "tap/event.h"

#define LIVE_REST_S 10u
#define LIVE_EVENTS_PER_S \
	8192u /* some 0.3 us each in the driver and 1 us in the tap's thread: 1 % of a core */
#define LIVE_HALF_LIFE_S 5u  /* a question so long ago counts half */
#define LIVE_PREFIX4     24u /* bits of an address that make a client, as xdp/shed.h has them */
#define LIVE_PREFIX6     48u

struct live;
struct report_source;
struct taps;

/* NULL: no memory. The taps outlive it. */
struct live *live_new(struct taps *taps, const struct report_source *reports);
/* The tap calls live_note() no more. NULL is allowed. */
void live_free(struct live *live);

/* Readable when much more is told than there should be, since the load has grown: live_poll() sets
 * N anew. */
int live_fd(const struct live *live);
void live_poll(struct live *live, uint64_t now_ns);

/* Once a second: fades the counts, sets N anew, and ends a view that nobody watches. */
void live_tick(struct live *live, uint64_t now_ns);

/* A tap_observe_fn; ctx is a struct live. The tap's thread. */
void live_note(void *ctx, const struct tap_event *e);

/* The N by which about LIVE_EVENTS_PER_S of so many answers a second are told; at least 1. Pure. */
uint32_t live_every(double answers_per_s);

/* `top`: [-n N]; the run() of a struct ctl_command; the user is a struct live. It begins to watch,
 * or goes on. */
int live_run_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
