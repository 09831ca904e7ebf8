/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/refusal.h"

#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdp/libxdp.h>

#include "base/err.h"
#include "base/kernel.h"
#include "base/log.h"

#define KERNEL_SAYS "Kernel error message: " /* libbpf prints it before the kernel's message */
/* libbpf prints these around the verifier's log, which is one text of any length. */
#define LOG_BEGINS   "-- BEGIN PROG LOAD LOG --\n"
#define LOG_ENDS     "-- END PROG LOAD LOG --"
#define OUR_PROGRAM  "prog 'volley': " /* libxdp also loads programs of its own */
#define N_LOG_LINES  20                /* of the verifier's log that we log */
#define N_WORD_LINES 2

/* libbpf gives the messages only to its printer, which has no context argument. */
static _Thread_local struct {
	char words[REFUSAL_CAP - 64]; /* leaves room for the sentence around it */
	bool is_verifier;
} last;

void refusal_forget(void)
{
	last.words[0] = 0;
	last.is_verifier = false;
}

const char *refusal_words(int code)
{
	return *last.words ? last.words : err_text(code);
}

/* --- The verifier's log ----------------------------------------------------------------------- */

/* The line that ends at `end`, at its newline or the text's end. *len excludes the newline. */
static const char *line_before(const char *text, const char *end, size_t *len)
{
	const char *line = end;

	while (line > text && line[-1] != '\n')
		line--;
	*len = (size_t)(end - line);
	return line;
}

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* The statistics that follow the verifier's verdict, and libbpf's additions. */
static bool is_trailer(const char *line, size_t len)
{
	return !len || begins(line, "processed ") || begins(line, "verification time") ||
	       begins(line, "stack depth");
}

/* "17: (bf) r6 = r1", "; the source", "from 3 to 9: ...", "R0=scalar() R1_w=ctx()" are steps, not a
 * verdict. */
static bool is_step(const char *line)
{
	const char *at = line;

	if (isdigit((unsigned char)*at) || *at == ';' || isspace((unsigned char)*at) ||
	    begins(at, "from "))
		return true;
	if (*at++ != 'R')
		return false;
	while (isdigit((unsigned char)*at))
		at++;
	return at > line + 1 && (*at == '=' || *at == '_');
}

void refusal_read_log(const char *log, char *words, size_t cap)
{
	const char *lines[N_WORD_LINES], *end = log + strlen(log), *line;
	size_t lens[N_WORD_LINES], len, used = 0;
	int n = 0;

	words[0] = 0;
	while (n < N_WORD_LINES) {
		line = line_before(log, end, &len);
		if (n || !is_trailer(line, len)) {
			if (!len || is_step(line))
				break;
			lines[n] = line;
			lens[n++] = len;
		}
		if (line == log)
			break;
		end = line - 1;
	}
	while (n-- > 0 && used < cap)
		used += (size_t)snprintf(words + used, cap - used, "%.*s%s", (int)lens[n], lines[n],
					 n ? "; " : "");
}

static void log_last_lines(const char *log)
{
	const char *end = log + strlen(log), *from = end;
	size_t len;

	for (int i = 0; i < N_LOG_LINES && from > log; i++)
		from = line_before(log, from - 1, &len);
	while (*from) {
		len = strcspn(from, "\n");
		log_debug("verifier: %.*s", (int)len, from);
		from += len + (from[len] == '\n');
	}
}

/* The log may have megabytes. */
static void take_log(const char *format, va_list args)
{
	char *text, *log, *end;

	if (vasprintf(&text, format, args) < 0)
		return;
	log = strstr(text, LOG_BEGINS) + strlen(LOG_BEGINS);
	end = strstr(log, LOG_ENDS);
	if (end)
		*end = 0;
	if (strstr(text, OUR_PROGRAM)) {
		refusal_read_log(log, last.words, sizeof(last.words));
		last.is_verifier = *last.words;
	}
	log_last_lines(log);
	free(text);
}

/* --- What the libraries print ----------------------------------------------------------------- */

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[512];
	const char *words;
	int n;

	(void)level;
	if (strstr(format, LOG_BEGINS)) {
		take_log(format, args);
		return 0;
	}
	n = vsnprintf(line, sizeof(line), format, args);
	while (n > 0 && n < (int)sizeof(line) && line[n - 1] == '\n')
		line[--n] = 0;
	words = strstr(line, KERNEL_SAYS);
	if (words) {
		snprintf(last.words, sizeof(last.words), "%.*s", (int)sizeof(last.words) - 1,
			 words + strlen(KERNEL_SAYS));
		last.is_verifier = false;
	}
	log_debug("%s", line);
	return 0;
}

static int print_libxdp(enum libxdp_print_level level, const char *format, va_list args)
{
	return print_libbpf((enum libbpf_print_level)level, format, args);
}

void refusal_listen(void)
{
	libbpf_set_print(print_libbpf);
	libxdp_set_print(print_libxdp);
}

/* --- A sentence ------------------------------------------------------------------------------- */

void refusal_explain(int code, char *text, size_t cap)
{
	char said[sizeof(last.words)], missing[NEEDS_HELPER_CAP];
	const bool is_verifier = last.is_verifier;

	snprintf(said, sizeof(said), "%s", refusal_words(code));
	if ((code == -EPERM || code == -EACCES) && !privilege_has_xdp())
		snprintf(text, cap, "%s: needs CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN",
			 err_text(code));
	else if (is_verifier && needs_find_missing(missing, sizeof(missing)))
		snprintf(text, cap, "this kernel has no %s", missing);
	else if (is_verifier)
		snprintf(text, cap, "the kernel's verifier refuses the program: %s", said);
	else
		snprintf(text, cap, "%s", said);
}
