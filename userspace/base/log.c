/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#define CLOSE_MS        500
#define FIELD_BYTES_MIN 64 /* a cut field keeps at least this much */

static const char *log_ident = "volley";
static bool to_journal;
static _Atomic int shown_level = LOG_LEVEL_NOTICE;
static _Atomic int line_format = LOG_TEXT;

static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER; /* protects log.h and n_unsaid */
static uint64_t n_unsaid; /* dropped lines that were not reported yet */
static _Atomic uint64_t n_dropped;

static const struct {
	enum log_level level;
	const char *text;
} levels[] = {
#define LOG_ROW(name, number, text) { name, text },
	LOG_LEVEL_LIST(LOG_ROW)
#undef LOG_ROW
};

const char *log_level_text(enum log_level level)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (levels[i].level == level)
			return levels[i].text;
	return "log";
}

/* JOURNAL_STREAM is inherited; it is valid only if it names our present stderr. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	if (!stream || sscanf(stream, "%llu:%llu", &dev, &ino) != 2)
		return false;
	return !fstat(STDERR_FILENO, &st) && st.st_dev == dev && st.st_ino == ino;
}

void log_open(const char *ident, enum log_level level)
{
	log_ident = ident;
	to_journal = stderr_is_journal();
	pthread_mutex_lock(&out_lock);
	log_out_open();
	n_unsaid = 0;
	pthread_mutex_unlock(&out_lock);
	log_set_level(level);
}

void log_close(void)
{
	pthread_mutex_lock(&out_lock);
	(void)log_out_flush_within(CLOSE_MS);
	log_out_close();
	pthread_mutex_unlock(&out_lock);
}

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&shown_level, (int)level, memory_order_relaxed);
}

enum log_level log_get_level(void)
{
	return (enum log_level)atomic_load_explicit(&shown_level, memory_order_relaxed);
}

void log_set_format(enum log_format format)
{
	atomic_store_explicit(&line_format, (int)format, memory_order_relaxed);
}

enum log_format log_get_format(void)
{
	return (enum log_format)atomic_load_explicit(&line_format, memory_order_relaxed);
}

int log_level_from_text(const char *text)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(levels[i].text, text))
			return (int)levels[i].level;
	return ERR_CONFIG;
}

/* Converts snprintf's result to the bytes really written. */
static size_t written(int result, size_t cap)
{
	if (result < 0)
		return 0;
	return (size_t)result < cap ? (size_t)result : cap - 1;
}

/* The number of octets that follow the first one in UTF-8. 0: none do, or they are not all there,
 * as at the end of a text that was cut. */
static unsigned int n_following(const unsigned char *at, size_t n)
{
	const unsigned char c = at[0];
	const unsigned int n_more = c < 0xc2 || c > 0xf4 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

	for (unsigned int i = 1; i <= n_more; i++)
		if (i >= n || (at[i] & 0xc0) != 0x80)
			return 0;
	return n_more;
}

/*
 * The octets of a character that shows the text behind it in another order or on another line:
 * U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. 0: it is another one.
 */
static size_t n_of_order(const unsigned char *at, size_t n)
{
	if (n >= 2 && at[0] == 0xd8 && at[1] == 0x9c)
		return 2;
	if (n < 3 || at[0] != 0xe2)
		return 0;
	if (at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae)))
		return 3;
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9 ? 3 : 0;
}

/*
 * Replaces octets that a terminal could take for commands: below `lowest`, DEL, U+0080 to U+009F,
 * characters that change the order of the text, and octets from 0x80 on that belong to no
 * character.
 */
static void clean_from(char *text, size_t n, unsigned char lowest)
{
	unsigned int n_left = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)text[i];
		const size_t n_order = n_of_order((unsigned char *)text + i, n - i);

		if (n_left && (c & 0xc0) == 0x80) {
			n_left--;
			continue;
		}
		if (n_order) {
			memset(text + i, '?', n_order);
			n_left = 0;
			i += n_order - 1;
			continue;
		}
		n_left = n_following((unsigned char *)text + i, n - i);
		if (c < lowest || c == 0x7f || (c >= 0x80 && !n_left))
			text[i] = '?';
		if (c != 0xc2 || i + 1 == n || ((unsigned char)text[i + 1] & 0xe0) != 0x80)
			continue;
		text[i] = text[i + 1] = '?';
		n_left = 0;
		i++;
	}
}

static void clean_log(char *text, size_t n)
{
	clean_from(text, n, ' ');
}

static size_t put_log_head(char line[static LOG_LINE_BYTES], enum log_level level)
{
	int n = to_journal ? snprintf(line, LOG_LINE_BYTES, "<%d>", (int)level) :
			     snprintf(line, LOG_LINE_BYTES, "%s[%d]: %s: ", log_ident,
				      (int)getpid(), log_level_text(level));

	return written(n, LOG_LINE_BYTES);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Takes the reference. Leaves room for the newline. 0: no memory, or longer than a line. */
static size_t put_log_object(char line[static LOG_LINE_BYTES], json_t *object)
{
	size_t n = object ? json_dumpb(object, line, LOG_LINE_BYTES - 1, JSON_COMPACT) : 0;

	json_decref(object);
	return n < LOG_LINE_BYTES ? n : 0;
}

/* Octets that are not UTF-8 are shown as '?'. NULL: no memory. */
static json_t *log_text(const char *text)
{
	json_t *string = json_string(text);
	char *copy;

	if (string)
		return string;
	copy = strdup(text);
	for (char *at = copy; at && *at; at++)
		if ((unsigned char)*at & 0x80)
			*at = '?';
	string = copy ? json_string(copy) : NULL;
	free(copy);
	return string;
}

static json_t *object_of(enum log_level level)
{
	char now[40], fraction[16];
	struct timespec at;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &at);
	gmtime_r(&at.tv_sec, &utc);
	strftime(now, sizeof(now) - sizeof(fraction), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(fraction, sizeof(fraction), ".%06uZ", (unsigned int)(at.tv_nsec / 1000) % 1000000);
	strcat(now, fraction);
	return json_pack("{s:s, s:s, s:s, s:i}", "time", now, "level", log_level_text(level),
			 "program", log_ident, "pid", (int)getpid());
}

/* 0: no memory, or the object is too long. */
static size_t put_message_json(char line[static LOG_LINE_BYTES], enum log_level level,
			       const char *message)
{
	json_t *object = object_of(level);

	if (object && !json_object_set_new(object, "message", log_text(message)))
		return put_log_object(line, object);
	json_decref(object);
	return 0;
}

/* Returns the length of the line in LINE, without the newline. */
static size_t put_message(char line[static LOG_LINE_BYTES], enum log_level level,
			  const char *message)
{
	size_t n = log_get_format() == LOG_JSON ? put_message_json(line, level, message) : 0;

	if (n)
		return n;
	n = put_log_head(line, level);
	return n +
	       written(snprintf(line + n, LOG_LINE_BYTES - n, "%s", message), LOG_LINE_BYTES - n);
}

/* The caller holds the lock. Waits until more than this line fits: else reports of one dropped line
 * would alternate with single lines. */
static void say_dropped(void)
{
	char line[LOG_LINE_BYTES], message[128];
	size_t n;

	if (!n_unsaid || !log_out_has_room())
		return;
	snprintf(message, sizeof(message),
		 "%" PRIu64 " lines of the log were dropped here: stderr did not take them",
		 n_unsaid);
	n = put_message(line, LOG_LEVEL_WARN, message);
	line[n++] = '\n'; /* over the NUL */
	if (log_out_put(line, n))
		n_unsaid = 0;
}

static void put_log(const char *line, size_t n)
{
	pthread_mutex_lock(&out_lock);
	(void)log_out_flush();
	say_dropped();
	if (n_unsaid || !log_out_put(line, n)) {
		n_unsaid++;
		atomic_fetch_add_explicit(&n_dropped, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&out_lock);
}

void log_flush(void)
{
	pthread_mutex_lock(&out_lock);
	(void)log_out_flush();
	say_dropped();
	pthread_mutex_unlock(&out_lock);
}

uint64_t log_n_dropped(void)
{
	return atomic_load_explicit(&n_dropped, memory_order_relaxed);
}

void log_vline(enum log_level level, const char *format, va_list args)
{
	char line[LOG_LINE_BYTES], message[LOG_LINE_BYTES];
	/* In JSON each octet of the message may take two; the members before it take about 100. */
	size_t cap = log_get_format() == LOG_JSON ? sizeof(message) * 2 / 5 : sizeof(message);
	int errno_kept = errno;
	size_t n;

	if (level > log_get_level())
		return;
	n = written(vsnprintf(message, cap, format, args), cap);
	clean_log(message, n);
	n = put_message(line, level, message);
	line[n++] = '\n'; /* over the NUL */
	put_log(line, n);
	errno = errno_kept;
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_vline(level, format, args);
	va_end(args);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static bool needs_quotes(const char *text)
{
	return !*text || strpbrk(text, " \"\\=");
}

/* Appends to the n octets of the line and returns the new length. Cuts what has no room. */
static size_t add_field(char line[static LOG_LINE_BYTES], size_t n, const struct log_field *field)
{
	const size_t cap = LOG_LINE_BYTES - 1; /* the newline */

	n += written(snprintf(line + n, cap - n, " %s=", field->name), cap - n);
	if (!needs_quotes(field->text))
		return n + written(snprintf(line + n, cap - n, "%s", field->text), cap - n);
	if (n + 3 > cap)
		return n;
	line[n++] = '"';
	for (const char *at = field->text; *at && n + 3 < cap; at++) {
		if (*at == '"' || *at == '\\')
			line[n++] = '\\';
		line[n++] = *at;
	}
	line[n++] = '"';
	return n;
}

static size_t put_event_text(char line[static LOG_LINE_BYTES], enum log_level level,
			     const char *event, const struct log_field *fields, size_t n_fields)
{
	size_t n = put_log_head(line, level), from = n;

	n += written(snprintf(line + n, LOG_LINE_BYTES - n, "%s", event), LOG_LINE_BYTES - n);
	for (size_t i = 0; i < n_fields; i++)
		if (fields[i].text)
			n = add_field(line, n, &fields[i]);
	clean_log(line + from, n - from);
	return n;
}

/* The first octets of a text, cut between characters. */
static json_t *begin_of(const char *text, size_t most)
{
	char begin[LOG_LINE_BYTES];
	size_t n = strnlen(text, most);

	if (text[n])
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	memcpy(begin, text, n);
	begin[n] = '\0';
	clean_from(begin, n, 0); /* JSON has a form for the others */
	return log_text(begin);
}

/* Cuts each field to `most` octets. 0: no memory, or the object is too long. */
static size_t put_fields_json(char line[static LOG_LINE_BYTES], enum log_level level,
			      const char *event, const struct log_field *fields, size_t n_fields,
			      size_t most)
{
	json_t *object = object_of(level);

	if (!object)
		return 0;
	json_object_set_new(object, "event", json_string(event));
	for (size_t i = 0; i < n_fields; i++) {
		assert(!json_object_get(object, fields[i].name)); /* "pid" is volleyd's own */
		if (fields[i].text)
			json_object_set_new(object, fields[i].name, begin_of(fields[i].text, most));
	}
	return put_log_object(line, object);
}

/* Cuts fields if the line is too long, because half a line would be no object. 0: no memory. */
static size_t put_event_json(char line[static LOG_LINE_BYTES], enum log_level level,
			     const char *event, const struct log_field *fields, size_t n_fields)
{
	size_t n = 0;

	for (size_t most = LOG_LINE_BYTES / 2; !n && most >= FIELD_BYTES_MIN; most /= 2)
		n = put_fields_json(line, level, event, fields, n_fields, most);
	return n;
}

void log_event(enum log_level level, const char *event, const struct log_field *fields,
	       size_t n_fields)
{
	char line[LOG_LINE_BYTES];
	int errno_kept = errno;
	size_t n = 0;

	if (level > log_get_level())
		return;
	if (log_get_format() == LOG_JSON)
		n = put_event_json(line, level, event, fields, n_fields);
	if (!n)
		n = put_event_text(line, level, event, fields, n_fields);
	line[n++] = '\n';
	put_log(line, n);
	errno = errno_kept;
}
