/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

static const char *log_ident = "volley";
static bool to_journal;
static _Atomic int shown_level = LOG_LEVEL_NOTICE;

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
	log_set_level(level);
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

void log_vline(enum log_level level, const char *format, va_list args)
{
	char line[LOG_LINE_BYTES];
	int errno_kept = errno;
	size_t n;

	if (level > log_get_level())
		return;
	if (to_journal)
		n = written(snprintf(line, sizeof(line), "<%d>", (int)level), sizeof(line));
	else
		n = written(snprintf(line, sizeof(line), "%s[%d]: %s: ", log_ident, (int)getpid(),
				     level_text(level)),
			    sizeof(line));
	errno = errno_kept; /* for %m */
	n += written(vsnprintf(line + n, sizeof(line) - n, format, args), sizeof(line) - n);
	clean(line, n);
	line[n++] = '\n'; /* over the NUL */
	/* Where stderr takes nothing there is nobody to tell. */
	while (write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
		;
	errno = errno_kept;
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_vline(level, format, args);
	va_end(args);
}
