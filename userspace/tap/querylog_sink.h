/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of the query log: a file, or systemd's journal. */
#ifndef VOLLEY_TAP_QUERYLOG_SINK_H
#define VOLLEY_TAP_QUERYLOG_SINK_H

#include "tap/record_writer.h"

/* Comes before each line that goes to the journal. */
#define QUERYLOG_LEAD "MESSAGE="

struct querylog_file;

/*
 * Makes *sink for tap_writer_open(); its close() frees it. Opens a path at once, to report
 * mistakes: -errno. The path must live as long. NULL: the journal, and then *file is NULL. `out`
 * will point to the output.
 */
int querylog_sink_new(struct tap_sink *sink, struct querylog_file **file, const char *path,
		      struct tap_writer *const *out) __attribute__((warn_unused_result));

/*
 * If the path no longer leads to the open file, because that was renamed or removed, opens the path
 * anew: the next lines go there. 0; or -errno, and lines go on to the open file. NULL is allowed.
 * Control's thread.
 */
int querylog_file_reopen(struct querylog_file *file) __attribute__((warn_unused_result));

#endif
