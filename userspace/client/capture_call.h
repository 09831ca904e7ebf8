/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl capture: takes packets from the daemon (daemon/capture.h) 20 times a second and writes
 * them as a pcap file of LINKTYPE_RAW, until there are enough, the time is over, or SIGINT or
 * SIGTERM comes.
 */
#ifndef VOLLEY_CLIENT_CAPTURE_CALL_H
#define VOLLEY_CLIENT_CAPTURE_CALL_H

#include <stdbool.h>
#include <stdio.h>

struct capture_call {
	const char *socket; /* of the daemon */
	int wait_ms;        /* the longest wait for each reply */
	/* print the final numbers as JSON on standard output, if the packets go elsewhere */
	bool is_json;
	FILE *errors; /* gets the error messages */
};

/* Runs with the N arguments after "capture". Returns an exit status of volleyctl; or -errno if no
 * daemon was reached and nothing was written. */
int capture_call(const struct capture_call *call, int n, char *const *words);

#endif
