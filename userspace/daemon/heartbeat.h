/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heartbeat: until when XDP programs may answer without hearing from the daemon
 * (cache.orphan-serve).
 *
 *	heartbeat thread, 4 times a second ─► serve_until_s of the states that programs read
 *	                 └─ once a second ──► systemd's watchdog, unless a worker or control hangs
 *
 * The heartbeat has a thread of its own, so that work that takes control's thread long does not
 * look like a death. Control's thread calls all of these, and it alone changes `states`: it may
 * read them without the lock.
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
	struct volley_state *states[2]; /* under it: for programs; the second one during a resize */
	uint32_t *old[CONFIG_INTERFACES_MAX]; /* under it: deadlines of earlier programs */
	size_t n_old;
	uint32_t orphan_s; /* cache.orphan-serve */
	uint64_t well_ns;  /* when control's thread last saw all workers go round; 0: one hangs */
	bool is_watched;   /* by systemd's watchdog */
	bool has_thread;
	bool stops;
	pthread_t thread;
};

/* Also finds out whether systemd has a watchdog. No function below comes before it. */
void heartbeat_init(struct heartbeat *h, uint32_t orphan_s);
void heartbeat_fini(struct heartbeat *h);

/* Starts the thread. 0 or -errno. */
int heartbeat_start(struct heartbeat *h) __attribute__((warn_unused_result));
/*
 * From now on programs read these states: the second one, if any, serves as long as the first
 * one.
 */
void heartbeat_serve_by(struct heartbeat *h, struct volley_state *first,
			struct volley_state *second);

/* A program of an earlier daemon with this deadline answers on, until ours takes its place. */
void heartbeat_keep_old(struct heartbeat *h, uint32_t *until_s);
/* From now on the heartbeat does not renew these programs, which are about to be replaced. */
void heartbeat_let_old_go(struct heartbeat *h);
/* The same, and these programs answer no more. */
void heartbeat_silence_old(struct heartbeat *h);

/* Tells the programs which kinds of blocks there are. */
void heartbeat_put_block_kinds(struct heartbeat *h, uint32_t kinds);

/*
 * Once a second, behind health_facts_tick(): while all workers go on, the heartbeat feeds the
 * watchdog.
 */
void heartbeat_watch(struct heartbeat *h, const struct health_watch *watch, unsigned int n_workers);

/*
 * The end. A program that stays attached answers no more, unless `keep` lets it answer for a next
 * daemon.
 */
void heartbeat_stop(struct heartbeat *h, bool keep);

#endif
