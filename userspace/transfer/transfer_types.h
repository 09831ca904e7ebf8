/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types that control and the transfer thread share: environment, state of a zone, counters.
 */
#ifndef VOLLEY_TRANSFER_TRANSFER_TYPES_H
#define VOLLEY_TRANSFER_TRANSFER_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "engine/engine.h"
#include "store/store.h"
#include "worker/handover_queue.h"

struct tap;
struct tcp_intake;

struct transfer_env {
	struct engine_data *published;             /* RCU: the served zones */
	const struct engine_config *engine_config; /* for questions that no worker answers */
	struct handover *handover;                 /* messages from the workers */
	struct tcp_intake *intake; /* gives TLS connections to workers; NULL: they are closed */
	struct store *store;       /* changes for IXFR out; NULL: none */
	struct tap *tap;           /* gets replies; NULL: none */
};

/* The state of a zone from before a restart. */
struct transfer_past {
	uint64_t checked_wall_s; /* 0: never */
	uint64_t expires_wall_s;
};

/* The state of a zone, for reports. */
struct transfer_status {
	bool is_known;
	bool is_secondary;
	bool is_running;         /* a round is running */
	uint64_t checked_wall_s; /* 0: never */
	uint64_t refresh_wall_s; /* when the primaries are asked next */
	uint64_t expires_wall_s; /* 0: never */
	uint64_t n_bytes;        /* of the running transfer */
	char error[256];         /* why the last round failed; or "" */
	char remote[128];        /* the remote that gave the zone last */
};
/* E(name, words) */
#define TRANSFER_COUNTERS(E)                                                  \
	E(soa_asked, "SOA queries sent to primaries")                         \
	E(axfr_in, "whole zones received")                                    \
	E(ixfr_in, "transfers of changes received")                           \
	E(in_failed, "transfers from primaries that failed")                  \
	E(axfr_out, "whole zones sent")                                       \
	E(ixfr_out, "transfers of changes sent")                              \
	E(out_refused, "transfers refused to clients that may not have them") \
	E(out_failed, "transfers out that failed")                            \
	E(notify_in, "NOTIFY messages from clients that may send them")       \
	E(notify_refused, "NOTIFY messages from clients that may not")        \
	E(notify_sent, "NOTIFY messages sent")                                \
	E(notify_failed, "secondaries that did not answer NOTIFY")            \
	E(update_in, "UPDATE messages that were checked")                     \
	E(update_refused, "UPDATE messages refused")                          \
	E(tsig_bad, "messages whose signature does not hold")                 \
	E(tls_failed, "TLS connections that could not be established")        \
	E(connections, "connections over TCP or TLS with messages for this thread")

struct transfer_counters {
#define TRANSFER_COUNTER_FIELD(name, words) uint64_t name;
	TRANSFER_COUNTERS(TRANSFER_COUNTER_FIELD)
#undef TRANSFER_COUNTER_FIELD
};

#endif
