/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log_out.h"

#define CLOSE_MS 500

static const char *log_ident = "volley";
static bool to_journal;
static _Atomic int shown_level = LOG_LEVEL_NOTICE;

static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER; /* of log_out.h and n_unsaid */
static uint64_t n_unsaid;                                    /* lines dropped since it was said */
static _Atomic uint64_t n_dropped;

static const struct {
	enum log_level level;
	const char *text;
} levels[] = {
#define LOG_ROW(name, number, text) { name, text },
	LOG_LEVEL_LIST(LOG_ROW)
#undef LOG_ROW
};

static const char *level_text(enum log_level level)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (levels[i].level == level)
			return levels[i].text;
	return "log";
}

/* JOURNAL_STREAM is inherited; it is about us only where it names what stderr is now. */
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

int log_level_from_text(const char *text)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(levels[i].text, text))
			return (int)levels[i].level;
	return ERR_CONFIG;
}

/* snprintf's result as the bytes that it has really written. */
static size_t written(int result, size_t cap)
{
	if (result < 0)
		return 0;
	return (size_t)result < cap ? (size_t)result : cap - 1;
}

static void clean(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
}

static size_t put_head(char line[static LOG_LINE_BYTES], enum log_level level)
{
	int n = to_journal ? snprintf(line, LOG_LINE_BYTES, "<%d>", (int)level) :
			     snprintf(line, LOG_LINE_BYTES, "%s[%d]: %s: ", log_ident,
				      (int)getpid(), level_text(level));

	return written(n, LOG_LINE_BYTES);
}

/* With the lock held. Not until there is room for more than this line: else one would tell of each other. */
static void say_dropped(void)
{
	char line[LOG_LINE_BYTES];
	size_t n;

	if (!n_unsaid || !log_out_has_room())
		return;
	n = put_head(line, LOG_LEVEL_WARN);
	n += written(snprintf(line + n, sizeof(line) - n,
			      "%" PRIu64 " lines of the log were dropped here: stderr did not take "
			      "them\n",
			      n_unsaid),
		     sizeof(line) - n);
	if (log_out_put(line, n))
		n_unsaid = 0;
}

static void put(const char *line, size_t n)
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
	char line[LOG_LINE_BYTES];
	int errno_kept = errno;
	size_t n;

	if (level > log_get_level())
		return;
	n = put_head(line, level);
	errno = errno_kept; /* for %m */
	n += written(vsnprintf(line + n, sizeof(line) - n, format, args), sizeof(line) - n);
	clean(line, n);
	line[n++] = '\n'; /* over the NUL */
	put(line, n);
	errno = errno_kept;
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_vline(level, format, args);
	va_end(args);
}
