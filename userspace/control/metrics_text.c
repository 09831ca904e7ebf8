/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/metrics_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 16384u

static bool make_metrics_text_room(struct metrics_text *out, size_t n)
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

static void put_metrics_text(struct metrics_text *out, const char *text, size_t n)
{
	if (!make_metrics_text_room(out, n))
		return;
	memcpy(out->text + out->n, text, n);
	out->n += n;
	out->text[out->n] = '\0';
}

static void put_control_metrics_text(struct metrics_text *out, const char *text)
{
	put_metrics_text(out, text, strlen(text));
}

/* `escaped` are the characters that get a backslash; a line feed becomes \n. */
static void put_escaped(struct metrics_text *out, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\n') {
			put_metrics_text(out, "\\n", 2);
			continue;
		}
		if (strchr(escaped, *text))
			put_metrics_text(out, "\\", 1);
		put_metrics_text(out, text, 1);
	}
}

static void begin_metrics_text(struct metrics_text *out, enum metrics_type type, const char *help)
{
	static const char *const types[] = { " counter\n", " gauge\n", " histogram\n" };

	put_control_metrics_text(out, "# HELP ");
	put_control_metrics_text(out, out->name);
	put_control_metrics_text(out, " ");
	put_escaped(out, help, "\\");
	put_control_metrics_text(out, "\n# TYPE ");
	put_control_metrics_text(out, out->name);
	put_control_metrics_text(out, types[type]);
}

void metrics_text_family(struct metrics_text *out, enum metrics_type type, const char *name,
			 const char *help)
{
	snprintf(out->name, sizeof(out->name), METRICS_PREFIX "%s%s", name,
		 type == METRICS_COUNTER ? "_total" : "");
	begin_metrics_text(out, type, help);
}

void metrics_text_standard(struct metrics_text *out, enum metrics_type type, const char *name,
			   const char *help)
{
	snprintf(out->name, sizeof(out->name), "%s", name);
	begin_metrics_text(out, type, help);
}

#define VALUE_CAP 32

static void seconds(char text[VALUE_CAP], uint64_t ns)
{
	snprintf(text, VALUE_CAP, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* A line of a histogram: the family with a suffix, its label, and `le` unless that is NULL. */
static void put_metrics_text_line(struct metrics_text *out, const char *suffix,
				  const char *const label[2], const char *le, const char *value)
{
	put_control_metrics_text(out, out->name);
	put_control_metrics_text(out, suffix);
	if (label[0] || le)
		put_control_metrics_text(out, "{");
	if (label[0]) {
		put_control_metrics_text(out, label[0]);
		put_control_metrics_text(out, "=\"");
		put_escaped(out, label[1], "\\\"");
		put_control_metrics_text(out, le ? "\"," : "\"");
	}
	if (le) {
		put_control_metrics_text(out, "le=\"");
		put_control_metrics_text(out, le);
		put_control_metrics_text(out, "\"");
	}
	put_control_metrics_text(out, label[0] || le ? "} " : " ");
	put_control_metrics_text(out, value);
	put_control_metrics_text(out, "\n");
}

void metrics_text_decimal(struct metrics_text *out, uint64_t ns)
{
	const char *const no_label[2] = { NULL, NULL };
	char value[VALUE_CAP];

	seconds(value, ns);
	put_metrics_text_line(out, "", no_label, NULL, value);
}

void metrics_text_histogram(struct metrics_text *out, const struct histogram *h, const char *label,
			    const char *text)
{
#define BOUND_TEXT(ns, bound) bound,
	static const char *const bounds[] = { HISTOGRAM_BOUNDS(BOUND_TEXT) "+Inf" };
#undef BOUND_TEXT
	const char *const pair[2] = { label, text };
	uint64_t n = 0;
	char value[VALUE_CAP];

	for (size_t i = 0; i < HISTOGRAM_N; i++) {
		n += h->n[i];
		snprintf(value, sizeof(value), "%" PRIu64, n);
		put_metrics_text_line(out, "_bucket", pair, bounds[i], value);
	}
	put_metrics_text_line(out, "_count", pair, NULL, value);
	seconds(value, h->sum_ns);
	put_metrics_text_line(out, "_sum", pair, NULL, value);
}

void metrics_text_sample(struct metrics_text *out, uint64_t value, ...)
{
	const char *label, *before = "{";
	char number[32];
	va_list args;

	put_control_metrics_text(out, out->name);
	va_start(args, value);
	while ((label = va_arg(args, const char *))) {
		put_control_metrics_text(out, before);
		put_control_metrics_text(out, label);
		put_control_metrics_text(out, "=\"");
		put_escaped(out, va_arg(args, const char *), "\\\"");
		put_control_metrics_text(out, "\"");
		before = ",";
	}
	va_end(args);
	snprintf(number, sizeof(number), "%s %" PRIu64 "\n", *before == ',' ? "}" : "", value);
	put_control_metrics_text(out, number);
}
