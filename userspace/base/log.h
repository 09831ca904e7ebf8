/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log: lines to stderr, where those of several threads never mix. Nobody waits for it: what
 * stderr does not take now waits in memory (base/log_out.h), and when that is full lines are
 * dropped and counted; a line says how many, where they would be, as soon as there is room again.
 * Under systemd (JOURNAL_STREAM names what stderr is) a line begins with "<N>", the syslog level,
 * and without the program's name, which the journal adds; else with "ident[pid]: level: ".
 *
 * With LOG_JSON each line is one JSON object, in the journal too: "time" (RFC 3339, UTC), "level",
 * "program", "pid", and then either "message", or "event" and the fields of an event.
 *
 * Only the floor that decides logs; the hot path counts and never logs. A line longer than
 * LOG_LINE_BYTES is cut, with LOG_JSON the longest fields of it; control characters (a name from
 * the network) are shown as '?', and in JSON also octets that are not UTF-8.
 */
#ifndef VOLLEY_BASE_LOG_H
#define VOLLEY_BASE_LOG_H

#include <stdarg.h>
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

/*
 * Set the ident (kept as a pointer: a static string or argv's) and the last level that is
 * shown. Call it once before threads start; without it the ident is "volley" and the level notice.
 */
void log_open(const char *ident, enum log_level level);

/* At the end: what waits for stderr has half a second. Afterwards lines go to stderr as before
 * log_open(). */
void log_close(void);

/* Writes what waits, as far as stderr takes it now. To be called now and then, by any thread. */
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

/* The level's word; "log" for a number that is none. */
const char *log_level_text(enum log_level level);

/* The level's number for "error", "warning", "notice", "info", "debug", or ERR_CONFIG. */
int log_level_from_text(const char *text);

/* One line, without a newline at its end. errno is kept. Any thread, not a signal handler. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_vline(enum log_level level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* A field of an event: text NULL is left out. */
struct log_field {
	const char *name; /* lower-case letters and '-' */
	const char *text;
};

/*
 * One line about an event: its name and its fields, in their order. As text: "transfer-refused
 * client=192.0.2.1 zone=example. reason=\"no rule allows it\"", where a value with a space, a quote
 * or nothing in it stands in quotes. Any thread, not a signal handler.
 */
void log_event(enum log_level level, const char *event, const struct log_field *fields, size_t n);

#define log_error(...)  log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)   log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_notice(...) log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)   log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)  log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
