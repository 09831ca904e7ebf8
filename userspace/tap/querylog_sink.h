/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where lines of the query log go: a file, or systemd's journal. */
#ifndef VOLLEY_TAP_QUERYLOG_SINK_H
#define VOLLEY_TAP_QUERYLOG_SINK_H

#include "tap/record_writer.h"

/* Stands before each line that goes to the journal. */
#define QUERYLOG_LEAD "MESSAGE="

/*
 * Makes *sink for tap_writer_open(), whose close() frees it. A path, which lives as long, is opened
 * at once, so that a mistake is
 * seen: -errno. NULL: the journal. `out` is where the output's pointer is going to be.
 */
int querylog_sink_new(struct tap_sink *sink, const char *path, struct tap_writer *const *out)
	__attribute__((warn_unused_result));

#endif
