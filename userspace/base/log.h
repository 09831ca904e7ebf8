/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log: lines to stderr; lines of several threads never mix. No thread waits for it. What stderr
 * does not take now waits in memory (log_out_put()). If that is full, lines are dropped and
 * counted; as soon as there is room again, a line in their place says how many. Under systemd
 * (JOURNAL_STREAM names stderr) a line begins with "<N>", the syslog level, and without the
 * program's name, which the journal adds; else with "ident[pid]: level: ".
 *
 * With LOG_JSON each line is one JSON object, also in the journal: "time" (RFC 3339, UTC), "level",
 * "program", "pid", and then either "message", or "event" and the fields of an event.
 *
 * Only the floor that decides logs; the hot path counts and never logs. A line longer than
 * LOG_LINE_BYTES is cut; with LOG_JSON its longest fields are cut. Control characters (a name from
 * the network) are shown as '?'; in JSON, octets that are not UTF-8, too.
 */
#ifndef VOLLEY_BASE_LOG_H
#define VOLLEY_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_LINE_BYTES 2048

/* The numbers are syslog's (RFC 5424 section 6.2.1), as systemd wants them. */
#define LOG_LEVEL_LIST(X)                \
	X(LOG_LEVEL_ERROR, 3, "error")   \
	X(LOG_LEVEL_WARN, 4, "warning")  \
	X(LOG_LEVEL_NOTICE, 5, "notice") \
	X(LOG_LEVEL_INFO, 6, "info")     \
	X(LOG_LEVEL_DEBUG, 7, "debug")

enum log_level {
#define LOG_LEVEL(name, number, text) name = number,
	LOG_LEVEL_LIST(LOG_LEVEL)
#undef LOG_LEVEL
};

/* Set the ident (kept as a pointer: a static string or argv's) and the last level that is shown.
 * Call it once before threads start; without it the ident is "volley" and the level notice. */
void log_open(const char *ident, enum log_level level);

/* Call it at the end: gives stderr half a second for waiting lines. Later lines go to stderr as
 * before log_open(). */
void log_close(void);

/* Writes waiting lines, as far as stderr takes them now. Any thread calls it now and then. */
void log_flush(void);
/* Lines that were dropped since the start. Any thread. */
uint64_t log_n_dropped(void);

/* Change the level at run time. Any thread. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

enum log_format {
	LOG_TEXT,
	LOG_JSON,
};

/* Change the form of lines at run time; LOG_TEXT at first. Any thread. */
void log_set_format(enum log_format format);
enum log_format log_get_format(void);

/* The level's word; "log" for an unknown number. */
const char *log_level_text(enum log_level level);

/* The level's number for "error", "warning", "notice", "info", "debug", or ERR_CONFIG. */
int log_level_from_text(const char *text);

/* One line, without a newline at its end. Keeps errno. Any thread, not a signal handler. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_vline(enum log_level level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* A field of an event; text NULL: the field is left out. */
struct log_field {
	const char *name; /* lower-case letters and '-' */
	const char *text;
};

/*
 * One line about an event: its name and its fields in order. As text: "transfer-refused
 * client=192.0.2.1 zone=example. reason=\"no rule allows it\"". A value is quoted if it is empty or
 * has a space or a quote. Any thread, not a signal handler.
 */
void log_event(enum log_level level, const char *event, const struct log_field *fields, size_t n);

#define log_error(...)  log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)   log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_notice(...) log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)   log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)  log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

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
