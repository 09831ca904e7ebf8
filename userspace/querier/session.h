/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session: one life of the resolver's process, with the memory that it shares with the server.
 *
 *	session_new(): memory, sockets ─► session_start(): process, "started" ─► serves
 *	    ─► the socket ends, or session_kill() ─► session_reap() ─► session_free(): memory
 *
 * Without a parent (base/parent.h), the thread that starts the process must live as long as it,
 * because the process ends with that thread.
 */
#ifndef VOLLEY_QUERIER_SESSION_H
#define VOLLEY_QUERIER_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "querier/bells.h"
#include "base/started.h"
#include "resolver/board.h"
#include "resolver/resolver_config.h"
#include "resolver/shared_memory.h"
#include "tap/outlet.h"

struct session_config {
	const struct executable *program;
	const struct bells *bells; /* one for each desk */
	const uint8_t *config;     /* of config_wire_write() */
	struct shared_sizes sizes;
	struct tap *tap; /* or NULL */
};

struct session {
	struct shared_layout layout;
	uint8_t *memory;
	struct resolver_boards boards;
	int socket_fd;
	int memory_fd; /* until the process has it */
	pid_t pid;     /* 0: there is no process */
	struct started started;
	int doors[RESOLVER_THREADS_MAX]
		 [2]; /* [0]: for knocking; [1]: the process's, until it has it */
	struct tap_outlet outlets[RESOLVER_THREADS_MAX];
	struct tap *tap;
	uint64_t started_ns;
	uint64_t weighed_ns;                       /* when its memory was looked at */
	uint64_t resident_bytes;                   /* atomic; 0: not known */
	uint64_t knocked_ns[RESOLVER_THREADS_MAX]; /* 0: the thread has made a round since */
	bool is_nonsense; /* atomic: a worker has read from a ring what no resolver of ours writes */
	bool is_isolated; /* atomic: only questions that are tried may be sent */
	bool was_killed;  /* from outside; it has not failed. Known before desks see the end */
	bool is_quiet;    /* atomic: a thread has not answered a knock yet; perhaps it hangs */
	struct session *next;
};

/* 0 or -errno. */
int session_new(struct session **out, const struct session_config *config)
	__attribute__((warn_unused_result));

/* Starts the process. 0; or a negative code, then call session_fail(). */
int session_start(struct session *s, const struct session_config *config)
	__attribute__((warn_unused_result));

/*
 * Waits at most wait_ms for the end of the start. 0, and started->libunbound is set; -ETIMEDOUT:
 * not yet; or another negative code, perhaps with a sentence in started->err.
 */
int session_hear(struct session *s, int wait_ms, struct shared_started *started)
	__attribute__((warn_unused_result));

/* The start has failed with this code: ends the process, and gives started->err a sentence if it
 * has none. */
void session_fail(struct session *s, const struct session_config *config, int code,
		  struct shared_started *started);

/* Gives the process the present level and form of the log. */
void session_tell_log(const struct session *s);

/* Ends the process at once. */
void session_kill(const struct session *s);

/* Closes the socket, so that the process ends by itself; kills it after wait_ms. */
void session_end(struct session *s, int wait_ms);

/* Waits for the end of the process, which must have been told to end, and returns the status of
 * waitpid(). 0: there was no process, or there is no status. */
int session_reap(struct session *s);

/* Sets resident_bytes. The watching thread. */
void session_weigh(struct session *s);

/* When no thread uses the memory any more. NULL is allowed. */
void session_free(struct session *s);

/* The rings of desk i, and a knock at the door of its thread. */
void *session_questions(const struct session *s, unsigned int desk);
void *session_replies(const struct session *s, unsigned int desk);
void session_knock(const struct session *s, unsigned int desk);

#endif
