/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl health: asks the daemon what it thinks of this host (report/health.h), asks its service
 * addresses a question where one is given (client/probe.h), and prints what there is to say:
 *
 *      healthy | not healthy: SENTENCE      a line for each reason
 *      warning: SENTENCE                    a line for each warning
 *
 * One thread.
 */
#ifndef VOLLEY_CLIENT_HEALTH_CALL_H
#define VOLLEY_CLIENT_HEALTH_CALL_H

#include <stdbool.h>
#include <stdio.h>

/* Exit codes of volleyctl. */
enum health_exit {
	HEALTH_EXIT_HEALTHY,
	HEALTH_EXIT_NOT,
	HEALTH_EXIT_USAGE,
	HEALTH_EXIT_NO_DAEMON, /* or the daemon did not reply in time */
};

/*
 * Runs with the N arguments after "health". SOCKET is the daemon's. It waits at most WAIT_MS for
 * the daemon, and as long again for each service address. With IS_JSON it prints the daemon's
 * object, to which it adds the reasons of the probes.
 */
enum health_exit health_call(FILE *out, const char *socket, int wait_ms, bool is_json, int n,
			     char *const *words);

#endif
