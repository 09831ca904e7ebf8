/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receivers of events about answers: dnstap and query-log of the configuration, set up for
 * workers and driver at the start and by each reload. Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_TAPS_H
#define VOLLEY_DAEMON_TAPS_H

#include "bpf/tap_rings.h"
#include "config/config.h"
#include "daemon/answer_cache.h"
#include "daemon/heartbeat.h"
#include "engine/engine.h"
#include "tap/tap.h"

#define TAPS_ERROR_CAP 640

struct taps {
	struct tap *tap;
	struct tap_rings *rings;    /* NULL: the driver has never reported events */
	char error[TAPS_ERROR_CAP]; /* why dnstap or the query log is off; "": neither failed */
	char *dnstap_file;          /* dnstap.file; NULL: none */

	/* The parts that it works with; they outlive it. */
	struct engine_data *published;
	const struct answer_cache *cache;
	const struct heartbeat *heartbeat;
};

/* The pointers in *t are set, and there are no workers yet. 0 or -ENOMEM, logged. */
int taps_open(struct taps *t, const struct config *config) __attribute__((warn_unused_result));
/* The workers and all other producers of events have ended. */
void taps_close(struct taps *t);

/* A receiver that cannot be opened stays off; this is logged, and `volleyctl status` says so. */
void taps_configure(struct taps *t, const struct config *config);

/*
 * Opens the files of query-log and dnstap anew if they were renamed or removed, and tries again
 * what is off by a fault. 0, or -errno with t->error set, logged.
 */
int taps_reopen(struct taps *t, const struct config *config) __attribute__((warn_unused_result));

/* Why dnstap or the query log is off, or why dnstap.file gets nothing: looks at the file anew. "":
 * no fault is known. */
void taps_error(const struct taps *t, char text[TAPS_ERROR_CAP]);

/*
 * Writes the sentence of the first file of query-log and dnstap that could not be opened, as
 * taps_error() would after a start. "": there is none. Makes and opens nothing.
 */
void taps_check(const struct config *config, char text[TAPS_ERROR_CAP]);

/* Tells programs how often to report a hit; during a resize the programs of both caches. */
void taps_tell_driver(const struct taps *t);

/* As tap_observe(), and the driver reports, too. */
int taps_observe(struct taps *t, enum tap_observer who, uint32_t every, tap_observe_fn *fn,
		 void *ctx) __attribute__((warn_unused_result));

#endif
