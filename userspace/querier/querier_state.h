/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A querier's parts, for querier.c, watching.c and inspect.c. */
#ifndef VOLLEY_QUERIER_QUERIER_STATE_H
#define VOLLEY_QUERIER_QUERIER_STATE_H

#include <pthread.h>
#include <sched.h>

#include "dns/nameset.h"
#include "querier/worker_desk.h"
#include "resolver/resolver_counters.h"
#include "resolver/targets.h"

#define WATCH_STARTS 128 /* the times of the last starts: two for each question that crashes */

struct querier {
	uint8_t *config; /* of config_wire_write(), for each process */
	struct session_config session_config;
	struct targets targets; /* the zones of the rows; rows is NULL if the forwarder asks */
	struct target_counters none;

	struct session *now; /* atomic: what serves, or NULL */
	uint64_t ended_ns;   /* atomic */
	struct suspects *suspects;
	unsigned int n_desks;
	struct worker_desk *desks;

	/* The watching thread, which alone changes the fields below. */
	pthread_t watch;
	bool has_watch;
	int wake_fd;          /* an eventfd */
	bool stops;           /* atomic */
	struct session *past; /* ended; their memory is perhaps still used by a desk */
	uint64_t starts_ns[WATCH_STARTS];
	uint64_t n_starts;
	uint64_t isolated_until_ns; /* the latest end of the isolation of `now` */
	bool has_failed;            /* the last process; it was not killed */
	uint64_t memory_max_bytes;  /* 0: no limit */
	cpu_set_t cpus;             /* of this thread, as the process was told */

	/* Under the lock: what others read of it. The watching thread may read them without. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool has_started; /* the first start has ended: with first_code */
	int first_code;
	char first_err[448];
	struct session *shown;            /* its memory is mapped while it is here */
	struct resolver_counters counted; /* of processes that have ended */
	uint64_t n_restarts;
	char libunbound[32];
	char problem[192];
};

/* Runs until stops; argument: the querier. */
void *watch_run(void *querier);

/* What all processes have counted. Under the lock. */
void querier_count(struct querier *q, struct resolver_counters *out);

#endif
