/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of the log on their way to stderr, which may take none for a while: a pipe without a
 * reader, a journal that is behind, a full disk. The rest waits in memory, up to LOG_OUT_BYTES, and
 * goes with the next line or the next log_flush(). A thread that logs never waits.
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
 * Finds out what stderr is. If writing could block, opens it once more, because O_NONBLOCK on
 * stderr itself would hold for all processes that share it. Before this call, or if it fails,
 * stderr is polled before each write.
 */
void log_out_open(void);
/* Forgets waiting bytes; stderr is as before log_out_open(). */
void log_out_close(void);

/* False: the whole line has no room, or stderr has no reader any more; none of it is taken. */
bool log_out_put(const char *line, size_t n) __attribute__((warn_unused_result));
/* Writes as much as stderr takes now. True: nothing waits any more. */
bool log_out_flush(void);
/* The same, but waits for stderr, at most @wait_ms. */
bool log_out_flush_within(int wait_ms);
/* True if at most half of the memory is in use, so that more than one line fits after a drop. */
bool log_out_has_room(void);

#endif
