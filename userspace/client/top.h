/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl top: asks the daemon once a second (daemon/live.h) and shows what is asked in these seconds (client/top_view.h): on a
 * terminal until q is typed or a signal comes, else once, as text or JSON.
 *
 * The terminal is as it was at each return. One thread, which has SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGWINCH for this time.
 */
#ifndef VOLLEY_CLIENT_TOP_H
#define VOLLEY_CLIENT_TOP_H

#include <stdbool.h>
#include <stdio.h>

struct top_call {
	const char *socket; /* the daemon's */
	int wait_ms;        /* for each reply, at most */
	bool is_json;       /* once, as JSON */
	FILE *errors;       /* sentences about what failed */
};

/*
 * The N words behind "top". Writes to standard output. An exit status of volleyctl; or -errno: no daemon was reached, and nothing
 * was written.
 */
int top_call(const struct top_call *call, int n, char *const *words);

#endif
