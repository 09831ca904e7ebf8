/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl top: asks the daemon once a second (daemon/live.h) and shows what is asked in these
 * seconds (client/top_view.h): on a terminal until q is typed or a signal comes, else once, as text
 * or JSON.
 *
 * Each return restores the terminal. One thread, which handles SIGINT, SIGTERM, SIGHUP, SIGQUIT and
 * SIGWINCH while it runs.
 */
#ifndef VOLLEY_CLIENT_TOP_H
#define VOLLEY_CLIENT_TOP_H

#include <stdbool.h>
#include <stdio.h>

struct top_call {
	const char *socket; /* of the daemon */
	int wait_ms;        /* the longest wait for each reply */
	bool is_json;       /* print one view, as JSON */
	FILE *errors;       /* gets the error messages */
};

/*
 * Runs with the N arguments after "top", and writes to standard output. Returns an exit status of
 * volleyctl; or -errno if no daemon was reached and nothing was written.
 */
int top_call(const struct top_call *call, int n, char *const *words);

#endif
