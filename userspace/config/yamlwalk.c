/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recursive descent over libyaml's events; the path grows and shrinks with the levels. */
#include "config/yamlwalk.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_CAP 8 /* the deepest key today has three levels and a list */

struct walk {
	yaml_parser_t parser;
	const char *text;
	size_t len;
	char path[YAMLWALK_PATH_CAP];
	char generic[YAMLWALK_PATH_CAP];
	int depth;
	int (*visit)(void *, const struct yamlwalk_node *);
	void *user;
	struct yamlwalk_error *err;
};

/* Lengths of both paths, to come back to when a level ends. */
struct mark {
	size_t path;
	size_t generic;
};

static size_t event_line(const yaml_event_t *event)
{
	return event->start_mark.line + 1;
}

__attribute__((format(printf, 3, 4))) static int fail(struct walk *walk, size_t line,
						      const char *format, ...)
{
	struct yamlwalk_error *err = walk->err;
	va_list args;

	err->line = line;
	snprintf(err->path, sizeof(err->path), "%s", walk->path);
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	for (char *c = err->text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return -EINVAL;
}

/* What to do about what libyaml says. */
static const char *find_remedy(const char *problem)
{
	if (strstr(problem, "cannot start any token"))
		return ": indent with spaces, no tabs; quote what begins with @ or %";
	if (strstr(problem, "did not find expected key"))
		return ": look at the indentation of this line and the one before";
	return "";
}

/* libyaml gives a place for bad syntax, but for bad bytes only an offset. */
static int fail_syntax(struct walk *walk)
{
	const yaml_parser_t *parser = &walk->parser;
	const char *problem = parser->problem ? parser->problem : "cannot be read";
	size_t line = parser->problem_mark.line + 1;

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (parser->error == YAML_READER_ERROR) {
		line = 1;
		for (size_t i = 0; i < parser->problem_offset && i < walk->len; i++)
			line += walk->text[i] == '\n';
	}
	walk->path[0] = '\0';
	return fail(walk, line, "this is not YAML: %s%s%s%s", problem, parser->context ? ", " : "",
		    parser->context ? parser->context : "", find_remedy(problem));
}

static int next_event(struct walk *walk, yaml_event_t *event)
{
	return yaml_parser_parse(&walk->parser, event) ? 0 : fail_syntax(walk);
}

static struct mark get_mark(const struct walk *walk)
{
	return (struct mark){ strlen(walk->path), strlen(walk->generic) };
}

static void go_back(struct walk *walk, struct mark mark)
{
	walk->path[mark.path] = '\0';
	walk->generic[mark.generic] = '\0';
}

/* The generic path is never the longer one, so that one bound does for both. */
static int enter_key(struct walk *walk, const char *key, size_t line)
{
	struct mark mark = get_mark(walk);
	const char *dot = mark.path ? "." : "";

	if (mark.path + strlen(key) + 2 > sizeof(walk->path))
		return fail(walk, line, "a key below it is too long to be one: %.40s...", key);
	snprintf(walk->path + mark.path, sizeof(walk->path) - mark.path, "%s%s", dot, key);
	snprintf(walk->generic + mark.generic, sizeof(walk->generic) - mark.generic, "%s%s", dot,
		 key);
	return 0;
}

static int enter_item(struct walk *walk, size_t index, size_t line)
{
	struct mark mark = get_mark(walk);
	size_t room = sizeof(walk->path) - mark.path;

	if ((size_t)snprintf(walk->path + mark.path, room, "[%zu]", index) >= room) {
		go_back(walk, mark);
		return fail(walk, line, "a list below it is nested too deep");
	}
	snprintf(walk->generic + mark.generic, sizeof(walk->generic) - mark.generic, "[]");
	return 0;
}

static int walk_value(struct walk *walk, const yaml_event_t *event, size_t line);

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Remembers KEY among those of its map. */
static int add_key(struct walk *walk, void **seen, const char *key, size_t line)
{
	char *copy = strdup(key);
	char **node;

	if (!copy)
		return -ENOMEM;
	node = tsearch(copy, seen, compare_keys);
	if (node && *node == copy)
		return 0;
	free(copy);
	return node ? fail(walk, line, "is given twice: keep one of them") : -ENOMEM;
}

/* Nothing that would make the path of a key look like that of another. */
static int is_word(const yaml_event_t *key)
{
	const char *text = (const char *)key->data.scalar.value;

	return *text && !text[strcspn(text, ".[] \t\r\n")] &&
	       strlen(text) == key->data.scalar.length;
}

static int walk_pair(struct walk *walk, const yaml_event_t *key, void **seen)
{
	struct mark mark = get_mark(walk);
	size_t line = event_line(key);
	yaml_event_t value;
	int err;

	if (key->type != YAML_SCALAR_EVENT || !is_word(key))
		return fail(walk, line, "a key here is not a plain word");
	err = enter_key(walk, (const char *)key->data.scalar.value, line);
	if (!err)
		err = add_key(walk, seen, (const char *)key->data.scalar.value, line);
	if (!err)
		err = next_event(walk, &value);
	if (err)
		return err;
	err = walk_value(walk, &value, line);
	yaml_event_delete(&value);
	if (!err)
		go_back(walk, mark);
	return err;
}

static int walk_map(struct walk *walk)
{
	void *seen = NULL;
	int err = 0;

	while (!err) {
		yaml_event_t event;
		int is_end;

		err = next_event(walk, &event);
		if (err)
			break;
		is_end = event.type == YAML_MAPPING_END_EVENT;
		if (!is_end)
			err = walk_pair(walk, &event, &seen);
		yaml_event_delete(&event);
		if (is_end)
			break;
	}
	tdestroy(seen, free);
	return err;
}

static int walk_list(struct walk *walk)
{
	struct mark mark = get_mark(walk);
	int err = 0;

	for (size_t i = 0; !err; i++) {
		yaml_event_t event;
		int is_end;

		err = next_event(walk, &event);
		if (err)
			break;
		is_end = event.type == YAML_SEQUENCE_END_EVENT;
		if (!is_end)
			err = enter_item(walk, i, event_line(&event));
		if (!is_end && !err)
			err = walk_value(walk, &event, event_line(&event));
		yaml_event_delete(&event);
		if (is_end)
			break;
		if (!err)
			go_back(walk, mark);
	}
	return err;
}

static int visit(struct walk *walk, const yaml_event_t *event, enum yamlwalk_shape shape,
		 size_t line)
{
	struct yamlwalk_node node = {
		.path = walk->path,
		.generic = walk->generic,
		.shape = shape,
		.line = line,
	};

	if (shape == YAMLWALK_SCALAR) {
		node.scalar = (const char *)event->data.scalar.value;
		if (strlen(node.scalar) != event->data.scalar.length)
			return fail(walk, line, "has a zero byte in its value");
	}
	return walk->visit(walk->user, &node);
}

/* EVENT opens the value; its children are read from the parser. */
static int walk_value(struct walk *walk, const yaml_event_t *event, size_t line)
{
	int err;

	if (walk->depth == DEPTH_CAP)
		return fail(walk, line, "is nested too deep");
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return visit(walk, event, YAMLWALK_SCALAR, line);
	case YAML_MAPPING_START_EVENT:
		err = visit(walk, event, YAMLWALK_MAP, line);
		walk->depth++;
		err = err ? err : walk_map(walk);
		walk->depth--;
		return err;
	case YAML_SEQUENCE_START_EVENT:
		err = visit(walk, event, YAMLWALK_LIST, line);
		walk->depth++;
		err = err ? err : walk_list(walk);
		walk->depth--;
		return err;
	default:
		return fail(walk, line, "is an alias (*): write the value out");
	}
}

/* The stream's own events open and close around the one document. */
static int walk_stream(struct walk *walk)
{
	int n_documents = 0;

	for (;;) {
		yaml_event_t event;
		yaml_event_type_t type;
		int err = next_event(walk, &event);

		if (err)
			return err;
		type = event.type;
		if (type == YAML_DOCUMENT_START_EVENT && n_documents++)
			err = fail(walk, event_line(&event),
				   "a second document (---) is not allowed");
		else if (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT ||
			 type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT)
			err = walk_value(walk, &event, event_line(&event));
		yaml_event_delete(&event);
		if (err || type == YAML_STREAM_END_EVENT)
			return err;
	}
}

int yamlwalk(const char *text, size_t len, int (*visit_node)(void *, const struct yamlwalk_node *),
	     void *user, struct yamlwalk_error *err)
{
	struct walk walk = {
		.text = text, .len = len, .visit = visit_node, .user = user, .err = err
	};
	int ret;

	*err = (struct yamlwalk_error){ 0 };
	if (!yaml_parser_initialize(&walk.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&walk.parser, (const unsigned char *)text, len);
	ret = walk_stream(&walk);
	yaml_parser_delete(&walk.parser);
	return ret;
}

struct find {
	const char *path;
	size_t matched; /* bytes of the path that the best node so far covers */
	size_t line;
};

static int find_node(void *user, const struct yamlwalk_node *node)
{
	struct find *find = user;
	size_t len = strlen(node->path);
	char behind;

	if (len < find->matched || strncmp(node->path, find->path, len))
		return 0;
	behind = find->path[len];
	if (len && behind && behind != '.' && behind != '[')
		return 0;
	find->matched = len;
	find->line = node->line;
	return !behind;
}

size_t yamlwalk_find_line(const char *text, size_t len, const char *path)
{
	struct find find = { .path = path, .line = 1 };
	struct yamlwalk_error err;

	/* The text was walked before, so that an error cannot be; the line found until then is good. */
	if (yamlwalk(text, len, find_node, &find, &err) < 0)
		return find.line;
	return find.line;
}
