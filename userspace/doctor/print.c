/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <string.h>

#define TEXT_AT 26 /* the column where sentences begin */

/* Names of drivers and processes must not control the terminal: control characters become "?". */
static void put_safe(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		fputc(c < ' ' || c == 0x7f ? '?' : c, out);
	}
}

static void put_doctor_wrapped(FILE *out, int width, const char *text)
{
	int column = TEXT_AT;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > TEXT_AT && column + 1 + (int)len > width) {
			fprintf(out, "\n%*s", TEXT_AT, "");
			column = TEXT_AT;
		} else if (column > TEXT_AT) {
			fputc(' ', out);
			column++;
		}
		put_safe(out, text, len);
		column += (int)len;
		text += len + (text[len] == ' ');
	}
	fputc('\n', out);
}

static const char *doctor_text(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static void put_doctor_row(FILE *out, int width, const json_t *row)
{
	const char *state = doctor_text(row, "state"), *fix = doctor_text(row, "do");

	fprintf(out, "  %-7s %-15s ", state, doctor_text(row, "check"));
	put_doctor_wrapped(out, width, doctor_text(row, "text"));
	if (!*fix)
		return;
	fprintf(out, "%*s-> ", TEXT_AT, "");
	put_safe(out, fix, strlen(fix));
	fputc('\n', out);
}

void doctor_print(FILE *out, const json_t *result, int width)
{
	const char *where = "";
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(result, "checks"), i, row) {
		if (strcmp(where, doctor_text(row, "where"))) {
			where = doctor_text(row, "where");
			fputs(i ? "\n" : "", out);
			put_safe(out, where, strlen(where));
			fputc('\n', out);
		}
		put_doctor_row(out, width, row);
	}
	fprintf(out, "\n%lld ok, %lld warnings, %lld failures, %lld not checked\n",
		(long long)json_integer_value(json_object_get(result, "ok")),
		(long long)json_integer_value(json_object_get(result, "warnings")),
		(long long)json_integer_value(json_object_get(result, "failures")),
		(long long)json_integer_value(json_object_get(result, "unknown")));
}
