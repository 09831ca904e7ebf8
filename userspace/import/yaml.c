/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/yaml.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* True for a text that YAML reads as itself without quotes: letters and digits with a few other
 * characters between them. */
static bool is_plain(const char *text)
{
	if (!isalnum((unsigned char)*text) && *text != '/')
		return false;
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("./_-@%", *c))
			return false;
	return strcmp(text, "null") != 0;
}

static void put_text(FILE *out, const char *text)
{
	if (is_plain(text)) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || *text == 127)
			fprintf(out, "\\x%02X", (unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put_object(FILE *out, const json_t *object, int indent, bool is_open);

static void put_list(FILE *out, const json_t *list, int indent)
{
	const json_t *item;
	size_t i, n = 0;

	json_array_foreach(list, i, item)
		n += json_is_string(item) ? json_string_length(item) + 4 : 100;
	if (n < 100) {
		fputs(" [", out);
		json_array_foreach(list, i, item) {
			fputs(i ? ", " : "", out);
			put_text(out, json_string_value(item));
		}
		fputs("]\n", out);
		return;
	}
	fputc('\n', out);
	json_array_foreach(list, i, item) {
		fprintf(out, "%*s- ", indent, "");
		if (json_is_object(item)) {
			put_object(out, item, indent + 2, true);
			continue;
		}
		put_text(out, json_string_value(item));
		fputc('\n', out);
	}
}

/* IS_OPEN: the first key is written on the line that has begun. */
static void put_object(FILE *out, const json_t *object, int indent, bool is_open)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		if (!is_open)
			fprintf(out, "%*s", indent, "");
		is_open = false;
		fprintf(out, "%s:", key);
		if (json_is_array(value)) {
			put_list(out, value, indent + 2);
		} else if (json_is_object(value)) {
			fputc('\n', out);
			put_object(out, value, indent + 2, false);
		} else {
			fputc(' ', out);
			put_text(out, json_string_value(value));
			fputc('\n', out);
		}
	}
}

void import_yaml_put(FILE *out, const json_t *root)
{
	put_object(out, root, 0, false);
}
