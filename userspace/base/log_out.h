/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of the log on their way to stderr, which may take none for a while: a pipe that nobody
 * reads, a journal that is behind, a full disk. What it does not take waits in memory, up to
 * LOG_OUT_BYTES, and goes with the next line or the next log_flush(). Nobody who logs waits.
 *
 *      line ─► room? ─► stderr, as far as it takes ─► the rest waits ─► stderr
 *                └► none: the line is dropped; the caller counts it
 *
 * For log.c only, which holds a lock.
 */
#ifndef VOLLEY_BASE_LOG_OUT_H
#define VOLLEY_BASE_LOG_OUT_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_OUT_BYTES (1u << 20)

/*
 * Finds out what stderr is. Where it could wait it is opened once more, for without that the
 * setting not to wait would hold for everybody who shares it. Before it is called, or where that
 * fails, stderr is asked before each write.
 */
void log_out_open(void);
/* What waits is forgotten, and stderr is as before log_out_open(). */
void log_out_close(void);

/* False: there is no room for all of the line, or nobody reads stderr any more, and none of it is
 * taken. */
bool log_out_put(const char *line, size_t n) __attribute__((warn_unused_result));
/* As much as stderr takes now of what waits. True: nothing waits any more. */
bool log_out_flush(void);
/* The same, but waits for stderr, @wait_ms at most. */
bool log_out_flush_within(int wait_ms);
/* Is most of what waited gone? So that after a line was dropped some more fit. */
bool log_out_has_room(void);

#endif
