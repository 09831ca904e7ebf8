/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/carry.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- Notes ------------------------------------------------------------------------------------ */

static void say(struct import *import, const struct import_node *node, const char *kind,
		const char *form, va_list args)
{
	char text[1024], line[2048];

	vsnprintf(text, sizeof(text), form, args);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	snprintf(line, sizeof(line), "%s:%u: %s: %s: %s", node->file, node->line, node->name, kind,
		 text);
	if (json_object_get(import->said, line))
		return; /* an option of a template or a pattern, which another zone has used */
	json_object_set_new(import->said, line, json_true());
	fprintf(import->notes, "%s\n", line);
}

void import_lost(struct import *import, const struct import_node *node, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	say(import, node, "not carried over", form, args);
	va_end(args);
	import->n_lost++;
}

void import_note(struct import *import, const struct import_node *node, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	say(import, node, "note", form, args);
	va_end(args);
}

void import_idle(struct import *import, const struct import_node *node, const char *why)
{
	if (json_object_get(import->said, node->name))
		return;
	json_object_set_new(import->said, node->name, json_true());
	fprintf(import->notes, "%s:%u: %s: without meaning here: %s\n", node->file, node->line,
		node->name, why);
}

/* --- The configuration ------------------------------------------------------------------------ */

static json_t *make_at(struct import *import, json_t *object, const char *key, json_t *made)
{
	json_t *there = json_object_get(object, key);

	if (there) {
		json_decref(made);
		return there;
	}
	if (json_object_set_new(object, key, made)) {
		import->has_no_memory = true;
		return NULL;
	}
	return made;
}

json_t *import_object(struct import *import, json_t *object, const char *key)
{
	return make_at(import, object, key, json_object());
}

json_t *import_list(struct import *import, json_t *object, const char *key)
{
	return make_at(import, object, key, json_array());
}

json_t *import_item(struct import *import, json_t *object, const char *key)
{
	json_t *item = json_object();

	if (!json_array_append_new(import_list(import, object, key), item))
		return item;
	import->has_no_memory = true;
	return NULL;
}

/* NULL, with a flag set: no memory, or the text may not be in the configuration. */
static json_t *make_text(struct import *import, const char *text)
{
	json_t *string = json_string(text);

	if (!string && import_is_utf8(text))
		import->has_no_memory = true;
	import->is_not_utf8 |= !string;
	return string;
}

bool import_is_utf8(const char *text)
{
	bool is_ascii = true;
	json_t *string;

	for (const char *at = text; *at; at++)
		is_ascii &= !((unsigned char)*at & 0x80);
	string = is_ascii ? NULL : json_string(text);
	json_decref(string);
	return is_ascii || string;
}

void import_put(struct import *import, json_t *object, const char *key, const char *text)
{
	json_t *string = make_text(import, text);

	if (string && json_object_set_new(object, key, string))
		import->has_no_memory = true;
}

void import_append(struct import *import, json_t *object, const char *key, const char *text)
{
	json_t *list = import_list(import, object, key), *item, *string;
	size_t i;

	json_array_foreach(list, i, item)
		if (!strcmp(json_string_value(item), text))
			return;
	string = make_text(import, text);
	if (string && json_array_append_new(list, string))
		import->has_no_memory = true;
}

const char *import_path(const struct import *import, const char *path, char buf[IMPORT_PATH_CAP])
{
	if (*path == '/' || !import->folder)
		snprintf(buf, IMPORT_PATH_CAP, "%s", path);
	else
		snprintf(buf, IMPORT_PATH_CAP, "%s/%s", import->folder, path);
	return buf;
}

/* --- Values of other servers ------------------------------------------------------------------ */

bool import_is_yes(const char *text)
{
	static const char *const words[] = { "yes", "on", "true", "1" };

	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(text, words[i]))
			return true;
	return false;
}

/* M is a month in Knot and in ISO 8601, but a minute after the T of ISO 8601. m is a minute. */
static long long unit_seconds(char unit, bool is_time)
{
	switch (unit) {
	case 0:
	case 's':
	case 'S':
		return 1;
	case 'm':
		return 60;
	case 'M':
		return is_time ? 60 : 30 * 86400;
	case 'h':
	case 'H':
		return 3600;
	case 'd':
	case 'D':
		return 86400;
	case 'w':
	case 'W':
		return 7 * 86400;
	case 'y':
	case 'Y':
		return 365 * 86400;
	default:
		return -1;
	}
}

long long import_seconds(const char *text)
{
	bool is_time = false;
	long long sum = 0;

	text += *text == 'P';
	if (!*text)
		return -1;
	while (*text) {
		char *end;
		long long n, unit;

		if (*text == 'T') {
			is_time = true;
			text++;
		}
		if (!isdigit((unsigned char)*text))
			return -1;
		n = strtoll(text, &end, 10);
		unit = unit_seconds(*end, is_time);
		if (unit < 0 || n > 1000000000000ll / unit)
			return -1;
		sum += n * unit;
		text = end + (*end != 0);
	}
	return sum;
}

/* --- Tables ----------------------------------------------------------------------------------- */

static bool has_name(const char *names, const char *name)
{
	size_t len = strlen(name);

	if (!len) /* a block of named.conf(5) without a name */
		return false;
	for (const char *at = names; (at = strstr(at, name)); at += len)
		if ((at == names || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

static void carry_one(struct import *import, struct import_node *node,
		      const struct import_rule *rule, json_t *at)
{
	const char *word = import_node_word(node, 0);

	switch (rule->what) {
	case IMPORT_SET:
		import_set(import, node, at, rule->text, word ? word : "");
		break;
	case IMPORT_IDLE:
		import_idle(import, node, rule->text);
		break;
	case IMPORT_UNLESS_NO:
		if (import_is_yes(word))
			import_lost(import, node, "%s", rule->text);
		break;
	case IMPORT_UNLESS_YES:
		if (!import_is_yes(word))
			import_lost(import, node, "%s", rule->text);
		break;
	case IMPORT_LOST:
		import_lost(import, node, "%s", rule->text);
		break;
	case IMPORT_CALL:
		rule->call(import, node, at);
		break;
	case IMPORT_READ:
		break;
	}
}

void import_carry(struct import *import, const struct import_node *section,
		  const struct import_rule *rules, json_t *at)
{
	for (struct import_node *node = section->child; node; node = node->next) {
		const struct import_rule *rule = rules;

		while (rule->options && !has_name(rule->options, node->name))
			rule++;
		if (rule->options)
			carry_one(import, node, rule, at);
		else if (strcmp(node->name, "include"))
			import_lost(import, node, "Volley does not know this option");
	}
}
