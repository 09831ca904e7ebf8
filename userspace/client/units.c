/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One small function for each kind of value writes it to a memory stream. */
#include "client/result_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const no_counts[] = {
	"pid",  "ifindex", "program_id", "abi", "serial", "queue",
	"core", "cores",   "port",       "id",  "tag",    "algorithm",
};

struct scale {
	uint64_t factor; /* how many of the unit before make this unit */
	const char *name;
};

static const struct scale byte_scales[] = {
	{ 1, "B" }, { 1024, "KiB" }, { 1024, "MiB" }, { 1024, "GiB" }, { 1024, "TiB" }, { 0, NULL },
};
static const struct scale ns_scales[] = {
	{ 1, "ns" }, { 1000, "us" }, { 1000, "ms" }, { 1000, "s" }, { 0, NULL },
};
static const struct scale ms_scales[] = { { 1, "ms" }, { 1000, "s" }, { 0, NULL } };

/* Uses the largest unit with a value of at least 1; whole numbers in the first unit. */
static void put_scaled(FILE *out, uint64_t value, const struct scale *scale)
{
	uint64_t divisor = 1;

	while (scale[1].name && value >= divisor * scale[1].factor) {
		scale++;
		divisor *= scale->factor;
	}
	if (divisor == 1)
		fprintf(out, "%" PRIu64 " %s", value, scale->name);
	else
		fprintf(out, "%.1f %s", (double)value / (double)divisor, scale->name);
}

/* Writes the two largest parts; smaller parts do not matter to a reader. */
static void put_duration(FILE *out, uint64_t s)
{
	if (s < 60)
		fprintf(out, "%" PRIu64 " s", s);
	else if (s < 3600)
		fprintf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else if (s < 86400)
		fprintf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	else
		fprintf(out, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s % 86400 / 3600);
}

static void put_unit_time(FILE *out, uint64_t s)
{
	time_t when = (time_t)s;
	struct tm tm;
	char text[32] = "";

	if (s && localtime_r(&when, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fputs(*text ? text : "-", out);
}

static void put_unit_count(FILE *out, uint64_t value)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			fputc(',', out);
		fputc(digits[i], out);
	}
}

static bool is_count(const char *key)
{
	for (size_t i = 0; i < sizeof(no_counts) / sizeof(no_counts[0]); i++)
		if (!strcmp(key, no_counts[i]))
			return false;
	return true;
}

/* The unit at the end of KEY, with its underscore; "" if there is none. */
static const char *get_suffix(const char *key)
{
	static const char *const suffixes[] = { "_bytes", "_ns", "_ms", "_s", "_at" };
	size_t len = strlen(key);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i]);

		if (len > n && !strcmp(key + len - n, suffixes[i]))
			return key + len - n;
	}
	return "";
}

static void put_integer(FILE *out, const char *key, json_int_t value)
{
	const char *suffix = get_suffix(key);
	uint64_t size = (uint64_t)value;

	if (value < 0)
		fprintf(out, "%" JSON_INTEGER_FORMAT, value);
	else if (!strcmp(suffix, "_bytes"))
		put_scaled(out, size, byte_scales);
	else if (!strcmp(suffix, "_ns"))
		put_scaled(out, size, ns_scales);
	else if (!strcmp(suffix, "_ms"))
		put_scaled(out, size, ms_scales);
	else if (!strcmp(suffix, "_s"))
		put_duration(out, size);
	else if (!strcmp(suffix, "_at"))
		put_unit_time(out, size);
	else if (is_count(key))
		put_unit_count(out, size);
	else
		fprintf(out, "%" PRIu64, size);
}

/* Replaces control characters, since names of zones and files may come from elsewhere. */
static void put_string(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(iscntrl((unsigned char)*text) ? '?' : *text, out);
}

static void put_unit_value(FILE *out, const char *key, const json_t *value);

static void put_unit_array(FILE *out, const char *key, const json_t *value)
{
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item) {
		fputs(i ? ", " : "", out);
		put_unit_value(out, key, item);
	}
	if (!json_array_size(value))
		fputs("none", out);
}

static void put_unit_object(FILE *out, const json_t *value)
{
	const char *glue = "", *key;
	json_t *item;

	json_object_foreach((json_t *)value, key, item) {
		fprintf(out, "%s", glue);
		put_string(out, key);
		fputc('=', out);
		put_unit_value(out, key, item);
		glue = " ";
	}
}

static void put_unit_value(FILE *out, const char *key, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		put_integer(out, key, json_integer_value(value));
		break;
	case JSON_REAL:
		fprintf(out, "%.3g", json_real_value(value));
		break;
	case JSON_STRING:
		put_string(out, *json_string_value(value) ? json_string_value(value) : "-");
		break;
	case JSON_ARRAY:
		put_unit_array(out, key, value);
		break;
	case JSON_OBJECT:
		put_unit_object(out, value);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		fputs(json_is_true(value) ? "yes" : "no", out);
		break;
	case JSON_NULL:
		fputc('-', out);
		break;
	}
}

char *units_put(const char *key, const json_t *value)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	put_unit_value(out, key, value);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

void units_put_label(const char *key, char *buf, size_t cap)
{
	size_t len = (size_t)(strlen(key) - strlen(get_suffix(key)));
	size_t n = len < cap ? len : cap - 1;

	/* Keeps "_at": "loaded" alone would look like a count. */
	if (!strcmp(key + len, "_at"))
		n = strlen(key) < cap ? strlen(key) : cap - 1;
	for (size_t i = 0; i < n; i++)
		buf[i] = key[i] == '_' ? ' ' : iscntrl((unsigned char)key[i]) ? '?' : key[i];
	buf[n] = '\0';
}

size_t units_width(const char *text)
{
	size_t width = 0;

	/* Bytes that continue a UTF-8 character take no column. */
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}
