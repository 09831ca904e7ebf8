/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls of each kind of thread (base/sandbox.h), as rows. */
#ifndef VOLLEY_BASE_SANDBOX_CALLS_H
#define VOLLEY_BASE_SANDBOX_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(ENUM, word for people)
 *
 * A closed kind makes the calls that its rows allow. PARENT and RUNNER are open: other programs
 * inherit their filter, so they make all calls but those that a row refuses.
 */
#define SANDBOX_KINDS(X)                                                  \
	X(CONTROL, control)   /* starts, commands, interfaces */          \
	X(WORKER, worker)     /* queries */                               \
	X(LISTENER, listener) /* TLS handshakes, metrics */               \
	X(TRANSFER, transfer) /* other name servers */                    \
	X(RESOLVER, resolver) /* upstream */                              \
	X(FILES, files)       /* zones, snapshots, lists */               \
	X(REPORTER, reporter) /* dnstap and the query log */              \
	X(QUIET, quiet)       /* memory only: keeper, heartbeat */        \
	/* processes: from here on no thread of the daemon */             \
	X(BROKER, broker)       /* programs, maps, sockets, ports */      \
	X(CONNECTOR, connector) /* the parent where systemd starts all */ \
	X(PARENT, parent)       /* forks the others */                    \
	X(RUNNER, runner)       /* executes the operator's commands */

enum sandbox_kind {
#define SANDBOX_ENUM(id, word) SANDBOX_##id,
	SANDBOX_KINDS(SANDBOX_ENUM)
#undef SANDBOX_ENUM
		SANDBOX_N_KINDS,
	SANDBOX_N_OF_THREADS = SANDBOX_BROKER,
};

static inline bool sandbox_is_open(enum sandbox_kind kind)
{
	return kind == SANDBOX_PARENT || kind == SANDBOX_RUNNER;
}

/* The arguments with which a call is allowed. */
enum sandbox_when {
	SANDBOX_ALWAYS,
	SANDBOX_OWN_PROCESS, /* the first is our process id, or 0 */
	SANDBOX_THREAD,      /* the first has CLONE_THREAD */
	SANDBOX_NO_FLAG,     /* argument n_arg has none of the flags in the first of `values` */
	SANDBOX_ONE_OF,      /* argument n_arg, under mask, is in `values` */
	SANDBOX_PAIRS,       /* `values` has pairs: family, type; type 0: each */
	SANDBOX_READ_ONLY,   /* argument n_arg has flags of open(2) that only read what exists */
	/* Refused to these open kinds; with values: if argument n_arg has one of these flags. */
	SANDBOX_REFUSED,
};

#define SANDBOX_VALUES_MAX 12

/* No kinds, or SANDBOX_REFUSED: no closed kind needs the call, and each attempt is counted. */
struct sandbox_row {
	uint32_t kinds; /* a bit for each enum sandbox_kind */
	const char *
		names; /* with spaces between them; one that libseccomp does not know is left out */
	enum sandbox_when when;
	uint8_t n_arg, n_values;
	uint32_t values[SANDBOX_VALUES_MAX];
	const char *why;
};

extern const struct sandbox_row sandbox_rows[];
extern const unsigned int sandbox_n_rows;

#endif
