/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/metrics_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 16384u

static bool make_room(struct metrics_text *out, size_t n)
{
	size_t cap = out->cap ? out->cap : FIRST_CAP;
	char *text;

	if (out->is_failed)
		return false;
	while (cap - out->n <= n)
		cap *= 2;
	if (cap == out->cap)
		return true;
	text = realloc(out->text, cap);
	out->is_failed = !text;
	if (!text)
		return false;
	out->text = text;
	out->cap = cap;
	return true;
}

static void put(struct metrics_text *out, const char *text, size_t n)
{
	if (!make_room(out, n))
		return;
	memcpy(out->text + out->n, text, n);
	out->n += n;
	out->text[out->n] = '\0';
}

static void put_text(struct metrics_text *out, const char *text)
{
	put(out, text, strlen(text));
}

/* `escaped` are the characters that get a backslash; a line feed becomes \n. */
static void put_escaped(struct metrics_text *out, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\n') {
			put(out, "\\n", 2);
			continue;
		}
		if (strchr(escaped, *text))
			put(out, "\\", 1);
		put(out, text, 1);
	}
}

void metrics_text_family(struct metrics_text *out, enum metrics_type type, const char *name,
			 const char *help)
{
	bool is_counter = type == METRICS_COUNTER;

	snprintf(out->name, sizeof(out->name), METRICS_PREFIX "%s%s", name,
		 is_counter ? "_total" : "");
	put_text(out, "# HELP ");
	put_text(out, out->name);
	put_text(out, " ");
	put_escaped(out, help, "\\");
	put_text(out, "\n# TYPE ");
	put_text(out, out->name);
	put_text(out, is_counter ? " counter\n" : " gauge\n");
}

void metrics_text_sample(struct metrics_text *out, uint64_t value, ...)
{
	const char *label, *before = "{";
	char number[32];
	va_list args;

	put_text(out, out->name);
	va_start(args, value);
	while ((label = va_arg(args, const char *))) {
		put_text(out, before);
		put_text(out, label);
		put_text(out, "=\"");
		put_escaped(out, va_arg(args, const char *), "\\\"");
		put_text(out, "\"");
		before = ",";
	}
	va_end(args);
	snprintf(number, sizeof(number), "%s %" PRIu64 "\n", *before == ',' ? "}" : "", value);
	put_text(out, number);
}
