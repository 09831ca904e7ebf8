/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl capture: takes packets from the daemon (daemon/capture.h) 20 times a second and writes them as a pcap file of
 * LINKTYPE_RAW, until there are enough, the time is over, or SIGINT or SIGTERM comes.
 */
#ifndef VOLLEY_CLIENT_CAPTURE_CALL_H
#define VOLLEY_CLIENT_CAPTURE_CALL_H

#include <stdbool.h>
#include <stdio.h>

struct capture_call {
	const char *socket; /* the daemon's */
	int wait_ms;        /* for each reply, at most */
	bool is_json; /* the numbers at the end, on standard output where the packets go elsewhere */
	FILE *errors; /* sentences about what failed */
};

/* The N words behind "capture". An exit status of volleyctl; or -errno: no daemon was reached, and nothing was written. */
int capture_call(const struct capture_call *call, int n, char *const *words);

#endif
