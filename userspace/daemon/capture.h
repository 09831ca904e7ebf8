/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `volleyctl capture`: queries and answers over UDP as packets, including those of the driver,
 * which no other program of the host can see. While a capture runs, the tap reports each answer
 * (tap/tap.h):
 *
 *      driver, workers ─► tap thread: capture_note(): filter, packets (tap/event.h) ─► room
 *      room ─► capture_run(next) ─► volleyctl
 *
 * One capture runs at a time. It ends when volleyctl says so, or has sent no `next` for
 * CAPTURE_REST_S. Packets for which there is no room are lost and counted.
 *
 * Control's thread calls all of these except capture_note().
 */
#ifndef VOLLEY_DAEMON_CAPTURE_H
#define VOLLEY_DAEMON_CAPTURE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "tap/event.h"

#define CAPTURE_REST_S     10u
#define CAPTURE_ROOM_BYTES (4u << 20) /* volleyctl empties it 20 times a second */

struct capture;
struct report_source;
struct taps;

/* NULL: no memory. The taps outlive it. */
struct capture *capture_new(struct taps *taps, const struct report_source *reports);
/* The tap no longer calls capture_note(). NULL is allowed. */
void capture_free(struct capture *capture);

/* Once a second: ends a capture that volleyctl no longer asks for. */
void capture_tick(struct capture *capture, uint64_t now_ns);

/* A tap_observe_fn; ctx is a struct capture. The tap's thread. */
void capture_note(void *ctx, const struct tap_event *e);

/*
 * The run() of a struct ctl_command; the user is a struct capture. client/capture_call.c sends:
 *
 *      begin COUNT [name NAME] [type TYPE] [client PREFIX] [rcode RCODE]    {"id"}
 *      next ID                        {"packets", "bytes", "records", "lost", "not_udp"}
 *      end ID                         the same: the last ones
 *
 * "records" are records of a pcap file with nanoseconds, in this host's byte order, as base64. The
 * numbers count from `begin`.
 */
int capture_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
