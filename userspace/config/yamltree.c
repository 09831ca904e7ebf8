/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descends recursively through libyaml's events; each event that begins a value makes a node.
 *
 * libyaml does not see runs of plain items (config/yamlitems.h). It reads one item instead of each:
 *
 *	zones:                      zones:
 *	  - name: a                   - volley-items        line 2, column 5
 *	    file: b          ─►       - {name: c}
 *	  - name: b
 *	  - {name: c}
 *
 * If its event for that text comes at that line and column, as an item of a list, then libyaml was
 * where it expects the next item of a list in lines, and is there again after it. In this state it
 * would have read the items of the run, too, because each of them is whole. If one event does not
 * come so, if there is a fault anywhere, or if the text has this word itself, libyaml reads the
 * whole text.
 */
#include "config/yamltree.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "config/yamlitems.h"

#define DEPTH_CAP 16   /* the deepest key has three levels and two lists */
#define KEY_MAX   63   /* octets of a key */
#define KEYS_CAP  256u /* in one map; the largest has 60 */
#define MARK      "volley-items"
#define MARK_LINE (YAMLITEMS_INDENT_MAX + sizeof("- " MARK "\n"))

/* The text that libyaml reads, piece by piece. */
struct input {
	size_t n_runs; /* those that were passed */
	size_t at;     /* in the text */
	char mark[MARK_LINE];
	size_t mark_at, mark_end;
};

struct walk {
	yaml_parser_t parser;
	const char *text;
	size_t len;
	uint32_t file;
	int depth;
	struct yamltree *top;
	struct yamltree_error *err;
	const struct yamlitems *items; /* NULL: libyaml reads the whole text */
	size_t n_runs;                 /* whose items are in the tree */
	size_t n_hidden_lines;         /* lines of these runs that libyaml has not seen */
	const char *without;           /* the list whose items stay out of the tree, or NULL */
	struct input input;
};

/* --- Nodes ------------------------------------------------------------------------------------ */

/* Node, name and value are one block, since a large configuration has millions of nodes. */
static struct yamltree *new_node(enum yamltree_shape shape, const char *name, size_t n_name,
				 const char *text, size_t n_text)
{
	struct yamltree *node = malloc(sizeof(*node) + n_name + 1 + n_text + 1);
	char *behind = (char *)(node + 1);

	if (!node)
		return NULL;
	*node = (struct yamltree){ .shape = shape };
	if (name) {
		node->name = memcpy(behind, name, n_name);
		behind[n_name] = '\0';
		behind += n_name + 1;
	}
	if (text) {
		node->text = memcpy(behind, text, n_text);
		behind[n_text] = '\0';
	}
	return node;
}

struct yamltree *yamltree_new_map(void)
{
	struct yamltree *map = new_node(YAMLTREE_MAP, NULL, 0, NULL, 0);

	if (map)
		map->line = 1;
	return map;
}

void yamltree_add(struct yamltree *parent, struct yamltree *child)
{
	child->parent = parent;
	child->next = NULL;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->n++;
}

struct yamltree *yamltree_child(const struct yamltree *map, const char *name)
{
	struct yamltree *child = map ? map->first : NULL;

	while (child && (!child->name || strcmp(child->name, name) != 0))
		child = child->next;
	return child;
}

struct yamltree *yamltree_take(struct yamltree *map, const char *name)
{
	struct yamltree *found = yamltree_child(map, name), *child = map->first, *next;

	if (!found)
		return NULL;
	map->first = map->last = NULL;
	map->n = 0;
	for (; child; child = next) {
		next = child->next;
		if (child != found)
			yamltree_add(map, child);
	}
	found->parent = NULL;
	found->next = NULL;
	return found;
}

void yamltree_free(struct yamltree *tree)
{
	struct yamltree *next;

	if (!tree)
		return;
	for (struct yamltree *child = tree->first; child; child = next) {
		next = child->next;
		yamltree_free(child);
	}
	if (tree->text)
		explicit_bzero(tree->text, strlen(tree->text));
	free(tree);
}

/* The child for the first part of *PATH; *PATH moves past that part. */
static const struct yamltree *find_step(const struct yamltree *from, const char **path)
{
	const struct yamltree *child = from->first;
	size_t len = strcspn(*path, ".[");
	unsigned long at;
	char *end;

	if (**path == '[') {
		for (at = strtoul(*path + 1, &end, 10); child && at; at--)
			child = child->next;
		*path = end + (*end == ']');
	} else {
		while (child && (!child->name || strlen(child->name) != len ||
				 strncmp(child->name, *path, len) != 0))
			child = child->next;
		*path += len;
	}
	*path += **path == '.';
	return child;
}

const struct yamltree *yamltree_find(const struct yamltree *from, const char *path, int *is_there)
{
	const struct yamltree *child = from;

	while (child && *path) {
		from = child;
		child = find_step(from, &path);
	}
	*is_there = child != NULL;
	return child ? child : from;
}

const char *yamltree_path(const struct yamltree *node, char path[YAMLTREE_PATH_CAP])
{
	const struct yamltree *child;
	unsigned int at = 0;
	size_t used;

	path[0] = '\0';
	if (!node || !node->parent)
		return path;
	yamltree_path(node->parent, path);
	used = strlen(path);
	if (node->name) {
		snprintf(path + used, YAMLTREE_PATH_CAP - used, "%s%s", used ? "." : "",
			 node->name);
		return path;
	}
	for (child = node->parent->first; child && child != node; child = child->next)
		at++;
	snprintf(path + used, YAMLTREE_PATH_CAP - used, "[%u]", at);
	return path;
}

/* --- Faults ----------------------------------------------------------------------------------- */

/* Sets the error for the key AT; NULL: no key is at fault. */
__attribute__((format(printf, 4, 5))) static int fail(struct walk *walk, const struct yamltree *at,
						      size_t line, const char *format, ...)
{
	struct yamltree_error *err = walk->err;
	va_list args;

	err->line = line;
	yamltree_path(at, err->path);
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	for (char *c = err->text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return -EINVAL;
}

/* The remedy for an error of libyaml. */
static const char *find_remedy(const char *problem)
{
	if (strstr(problem, "cannot start any token"))
		return ": indent with spaces, no tabs; quote what begins with @ or %";
	if (strstr(problem, "did not find expected key"))
		return ": look at the indentation of this line and the one before";
	return "";
}

/* libyaml gives a line for bad syntax, but only an offset for bad octets. */
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
	return fail(walk, NULL, line, "this is not YAML: %s%s%s%s", problem,
		    parser->context ? ", " : "", parser->context ? parser->context : "",
		    find_remedy(problem));
}

/* --- Events ----------------------------------------------------------------------------------- */

static int next_event(struct walk *walk, yaml_event_t *event)
{
	return yaml_parser_parse(&walk->parser, event) ? 0 : fail_syntax(walk);
}

static size_t event_line(const struct walk *walk, const yaml_event_t *event)
{
	return event->start_mark.line + 1 + walk->n_hidden_lines;
}

/* The place of a new node. */
struct place {
	struct yamltree *parent; /* NULL: it is the top */
	const char *name;
	size_t line;
};

static int read_yaml_value(struct walk *walk, const yaml_event_t *event, struct place place);

/* True if the key has no character that would make its path look like another path. */
static int is_word(const yaml_event_t *key)
{
	const char *text = (const char *)key->data.scalar.value;

	return *text && !text[strcspn(text, ".[] \t\r\n")] &&
	       strlen(text) == key->data.scalar.length;
}

/* KEY is the event of a key; the next event begins its value. */
static int read_pair(struct walk *walk, const yaml_event_t *key, struct yamltree *map)
{
	const char *name = (const char *)key->data.scalar.value;
	const struct yamltree *before;
	size_t line = event_line(walk, key);
	yaml_event_t value;
	int err;

	if (key->type != YAML_SCALAR_EVENT || !is_word(key))
		return fail(walk, map, line, "a key here is not a plain word");
	if (strlen(name) > KEY_MAX)
		return fail(walk, map, line, "a key below it is too long to be one: %.40s...",
			    name);
	if (map->n == KEYS_CAP)
		return fail(walk, map, line, "has more than %u keys: no map has so many", KEYS_CAP);
	before = yamltree_child(map, name);
	if (before)
		return fail(walk, before, line, "is given twice: keep one of them");
	err = next_event(walk, &value);
	if (err)
		return err;
	err = read_yaml_value(walk, &value, (struct place){ map, name, line });
	yaml_event_delete(&value);
	return err;
}

/* Reads the children of a map or a list, up to its end. */
static int read_below(struct walk *walk, struct yamltree *node)
{
	int err = 0, is_end = 0;

	while (!err && !is_end) {
		yaml_event_t event;

		err = next_event(walk, &event);
		if (err)
			break;
		is_end = event.type == YAML_MAPPING_END_EVENT ||
			 event.type == YAML_SEQUENCE_END_EVENT;
		if (!is_end && node->shape == YAMLTREE_MAP)
			err = read_pair(walk, &event, node);
		else if (!is_end)
			err = read_yaml_value(walk, &event,
					      (struct place){ node, NULL,
							      event_line(walk, &event) });
		yaml_event_delete(&event);
	}
	return err;
}

static int read_node(struct walk *walk, enum yamltree_shape shape, struct place place,
		     const char *text)
{
	struct yamltree *node = new_node(shape, place.name, place.name ? strlen(place.name) : 0,
					 text, text ? strlen(text) : 0);
	int err = 0;

	if (!node)
		return -ENOMEM;
	node->line = (uint32_t)place.line;
	node->file = walk->file;
	if (place.parent)
		yamltree_add(place.parent, node);
	else
		walk->top = node;
	if (walk->depth == DEPTH_CAP)
		return fail(walk, node, place.line, "is nested too deep");
	walk->depth++;
	if (shape != YAMLTREE_SCALAR)
		err = read_below(walk, node);
	walk->depth--;
	return err;
}

/* --- Plain items ------------------------------------------------------------------------------ */

/* For yaml_parser_set_input(). */
static int read_input(void *user, unsigned char *buffer, size_t size, size_t *n_read)
{
	struct walk *walk = user;
	struct input *in = &walk->input;
	const struct yamlitems_run *run =
		in->n_runs < walk->items->n ? &walk->items->runs[in->n_runs] : NULL;
	const size_t end = run ? run->at : walk->len;

	if (in->mark_at == in->mark_end && run && in->at == end) {
		in->mark_at = 0;
		in->mark_end = (size_t)snprintf(in->mark, sizeof(in->mark), "%*s- " MARK "\n",
						(int)run->indent, "");
		in->at = run->end;
		in->n_runs++;
	}
	if (in->mark_at < in->mark_end) {
		*n_read = in->mark_end - in->mark_at < size ? in->mark_end - in->mark_at : size;
		memcpy(buffer, in->mark + in->mark_at, *n_read);
		in->mark_at += *n_read;
		return 1;
	}
	*n_read = end - in->at < size ? end - in->at : size;
	memcpy(buffer, walk->text + in->at, *n_read);
	in->at += *n_read;
	return 1;
}

/* True if EVENT is the item in the place of the next run. */
static bool is_mark(const struct walk *walk, const yaml_event_t *event, const struct place *place)
{
	const struct yamlitems_run *run;

	if (!walk->items || walk->n_runs == walk->items->n || !place->parent ||
	    place->parent->shape != YAMLTREE_LIST)
		return false;
	run = &walk->items->runs[walk->n_runs];
	return event_line(walk, event) == run->line &&
	       event->start_mark.column == run->indent + 2 &&
	       event->end_mark.line == event->start_mark.line &&
	       event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.anchor &&
	       !event->data.scalar.tag && !strcmp((const char *)event->data.scalar.value, MARK);
}

static struct yamltree *add_plain_node(const struct walk *walk, struct yamltree *parent,
				       struct yamltree *node, size_t line)
{
	if (!node)
		return NULL;
	node->file = walk->file;
	node->line = (uint32_t)line;
	yamltree_add(parent, node);
	return node;
}

static bool add_plain_pair(const struct walk *walk, struct yamltree *item, size_t line,
			   const struct yamlitems_pair *pair)
{
	const char *at = pair->value, *end = at + pair->n_value, *value;
	struct yamltree *node;
	size_t n;

	node = new_node(pair->is_list ? YAMLTREE_LIST : YAMLTREE_SCALAR, pair->name, pair->n_name,
			pair->is_list ? NULL : pair->value, pair->is_list ? 0 : pair->n_value);
	node = add_plain_node(walk, item, node, line);
	while (node && pair->is_list && yamlitems_next_value(&at, end, &value, &n))
		if (!add_plain_node(walk, node, new_node(YAMLTREE_SCALAR, NULL, 0, value, n), line))
			return false;
	return node;
}

static int is_left_out(const struct walk *walk, const struct yamltree *list)
{
	return walk->without && list->name && !strcmp(list->name, walk->without) &&
	       list->parent == walk->top;
}

/* Makes the nodes of the next run, as items of LIST. */
static int add_plain_items(struct walk *walk, struct yamltree *list)
{
	const struct yamlitems_run *run = &walk->items->runs[walk->n_runs++];
	const char *at = walk->text + run->at, *end = walk->text + run->end;
	size_t line = run->line - 1; /* of the last pair */
	struct yamltree *item = NULL;
	struct yamlitems_pair pair;

	if (walk->depth + 3 > DEPTH_CAP)
		return -EINVAL; /* libyaml reads all, and read_node() says where that is */
	while (!is_left_out(walk, list) && yamlitems_next(&at, end, &line, &pair)) {
		if (pair.is_first)
			item = add_plain_node(walk, list, new_node(YAMLTREE_MAP, NULL, 0, NULL, 0),
					      line);
		if (!item || !add_plain_pair(walk, item, line, &pair))
			return -ENOMEM;
	}
	walk->n_hidden_lines += run->n_lines - 1;
	return 0;
}

/* EVENT begins the value; its children come from the parser. */
static int read_yaml_value(struct walk *walk, const yaml_event_t *event, struct place place)
{
	const struct yamltree alias = { .parent = place.parent, .name = place.name };
	const char *text = (const char *)event->data.scalar.value;
	int err;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		if (is_mark(walk, event, &place))
			return add_plain_items(walk, place.parent);
		err = read_node(walk, YAMLTREE_SCALAR, place, text);
		if (!err && strlen(text) != event->data.scalar.length)
			err = fail(walk, place.parent ? place.parent->last : NULL, place.line,
				   "has a zero byte in its value");
		return err;
	case YAML_MAPPING_START_EVENT:
		return read_node(walk, YAMLTREE_MAP, place, NULL);
	case YAML_SEQUENCE_START_EVENT:
		return read_node(walk, YAMLTREE_LIST, place, NULL);
	default:
		return fail(walk, &alias, place.line, "is an alias (*): write the value out");
	}
}

/* The stream begins and ends with events of its own, around the one document. */
static int read_stream(struct walk *walk)
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
			err = fail(walk, NULL, event_line(walk, &event),
				   "a second document (---) is not allowed");
		else if (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT ||
			 type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT)
			err = read_yaml_value(walk, &event,
					      (struct place){ .line = event_line(walk, &event) });
		yaml_event_delete(&event);
		if (err || type == YAML_STREAM_END_EVENT)
			return err;
	}
}

/* With walk->items as they are. */
static int read_all_yaml(struct walk *walk)
{
	int err;

	if (!yaml_parser_initialize(&walk->parser))
		return -ENOMEM;
	if (walk->items)
		yaml_parser_set_input(&walk->parser, read_input, walk);
	else
		yaml_parser_set_input_string(&walk->parser, (const unsigned char *)walk->text,
					     walk->len);
	err = read_stream(walk);
	yaml_parser_delete(&walk->parser);
	return err;
}

/* By yamlitems, if that goes; else libyaml reads all of it. */
static int read_yaml(struct walk whole, struct yamltree **out)
{
	struct walk walk = whole;
	struct yamlitems items;
	int ret;

	*out = NULL;
	*walk.err = (struct yamltree_error){ 0 };
	ret = yamlitems_find(&items, walk.text, walk.len);
	if (!ret && items.n && !memmem(walk.text, walk.len, MARK, strlen(MARK))) {
		walk.items = &items;
		ret = read_all_yaml(&walk);
	}
	if (ret != -ENOMEM && (!items.n || ret || walk.n_runs < items.n)) {
		yamltree_free(walk.top);
		walk = whole;
		*walk.err = (struct yamltree_error){ 0 };
		ret = read_all_yaml(&walk);
	}
	yamlitems_fini(&items);
	*out = walk.top;
	return ret;
}

int yamltree_read(struct yamltree **out, const char *text, size_t len, uint32_t file,
		  struct yamltree_error *err)
{
	return read_yaml((struct walk){ .text = text, .len = len, .file = file, .err = err }, out);
}

int yamltree_read_rest(struct yamltree **out, const char *text, size_t len, uint32_t file,
		       const char *without, struct yamltree_error *err)
{
	const struct walk walk = {
		.text = text, .len = len, .file = file, .err = err, .without = without
	};

	return read_yaml(walk, out);
}
