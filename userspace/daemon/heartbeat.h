/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heartbeat sets the time until which XDP programs may answer without the daemon
 * (cache.orphan-serve).
 *
 *	heartbeat thread, 4 times a second ─► serve_until_s of the states that programs read
 *	                 └─ once a second ──► systemd's watchdog, unless a worker or control hangs
 *
 * The heartbeat has a thread of its own, so that long work of control's thread does not look like
 * the daemon's death. Control's thread calls all of these. It alone changes `states`, so it reads
 * them without the lock.
 */
#ifndef VOLLEY_DAEMON_HEARTBEAT_H
#define VOLLEY_DAEMON_HEARTBEAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "report/health.h"
#include "xdp/abi.h"

struct heartbeat {
	pthread_mutex_t lock;
	struct volley_state *states[2];       /* under the lock; the second one during a resize */
	uint32_t *old[CONFIG_INTERFACES_MAX]; /* under the lock: deadlines of earlier programs */
	size_t n_old;
	uint32_t orphan_s; /* cache.orphan-serve */
	uint64_t well_ns;  /* when it was last seen that no worker hangs; 0: a worker hangs */
	bool is_watched;   /* by systemd's watchdog */
	bool has_thread;
	bool stops;
	pthread_t thread;
};

/* Also finds out whether systemd has a watchdog. Called before all functions below. */
void heartbeat_init(struct heartbeat *h, uint32_t orphan_s);
void heartbeat_fini(struct heartbeat *h);

/* Starts the thread. 0 or -errno. */
int heartbeat_start(struct heartbeat *h) __attribute__((warn_unused_result));
/* From now on programs read these states, with one deadline. second: NULL but during a resize. */
void heartbeat_serve_by(struct heartbeat *h, struct volley_state *first,
			struct volley_state *second);

/* The heartbeat renews this deadline of an earlier daemon's program, until ours takes its place. */
void heartbeat_keep_old(struct heartbeat *h, uint32_t *until_s);
/* From now on the heartbeat does not renew these programs, which are about to be replaced. */
void heartbeat_let_old_go(struct heartbeat *h);
/* The same, and these programs stop answering at once. */
void heartbeat_silence_old(struct heartbeat *h);

/* Tells the programs which kinds of blocks exist. */
void heartbeat_put_block_kinds(struct heartbeat *h, uint32_t kinds);

/* Once a second, after health_facts_tick(): feeds systemd's watchdog only while no worker hangs. */
void heartbeat_watch(struct heartbeat *h, const struct health_watch *watch, unsigned int n_workers);

/* Ends the thread. Programs stop answering; with `keep` they answer on for cache.orphan-serve. */
void heartbeat_stop(struct heartbeat *h, bool keep);

#endif
