/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receivers of answers: dnstap and query-log of the configuration, put in place at the start
 * and by each reload, for workers and driver alike. Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_TAPS_H
#define VOLLEY_DAEMON_TAPS_H

#include "bpf/tap_rings.h"
#include "config/config.h"
#include "daemon/answer_cache.h"
#include "daemon/heartbeat.h"
#include "engine/engine.h"
#include "tap/tap.h"

struct taps {
	struct tap *tap;
	struct tap_rings *rings; /* NULL: the driver tells nothing, and never did */
	char error[640];         /* dnstap or the query log is off; "" */

	/* The parts that it works with; they outlive it. */
	struct engine_data *published;
	const struct answer_cache *cache;
	const struct heartbeat *heartbeat;
};

/* With the pointers set; before the workers. 0 or -ENOMEM, logged. */
int taps_open(struct taps *t, const struct config *config) __attribute__((warn_unused_result));
/* The end of the workers, and of all other producers, has come. */
void taps_close(struct taps *t);

/* A receiver that cannot be opened stays off; this is logged, and `volleyctl status` says so. */
void taps_configure(struct taps *t, const struct config *config);

/* Tells programs how often to tell a hit; during a resize those of both caches. */
void taps_tell_driver(const struct taps *t);

/* As tap_observe(), and the driver tells, too. */
int taps_observe(struct taps *t, enum tap_observer who, uint32_t every, tap_observe_fn *fn,
		 void *ctx) __attribute__((warn_unused_result));

#endif
