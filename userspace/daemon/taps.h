/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receivers of answers: dnstap and query-log of the configuration, put in place at the start and by each reload, for workers
 * and driver alike. Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_TAPS_H
#define VOLLEY_DAEMON_TAPS_H

#include <jansson.h>

#include "bpf/tap_rings.h"
#include "tap/tap.h"

struct config;
struct daemon;

/* Makes d->tap, d->live and d->capture; before the workers. 0 or -ENOMEM, logged. */
int taps_open(struct daemon *d) __attribute__((warn_unused_result));
/* The end of the workers, and of all other producers, has come. */
void taps_close(struct daemon *d);

/* A receiver that cannot be opened stays off; this is logged, and `volleyctl status` says so. */
void taps_configure(struct daemon *d, const struct config *config);

/* Tells programs how often to tell a hit; during a resize those of both caches. */
void taps_tell_driver(const struct daemon *d);

/* As tap_observe(), and the driver tells, too. */
int taps_observe(struct daemon *d, enum tap_observer who, uint32_t every, tap_observe_fn *fn,
		 void *ctx) __attribute__((warn_unused_result));

#endif
