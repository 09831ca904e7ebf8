/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree of nodes that know where they stand, joined and written as one text. */
#include "config/include.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define DEPTH_CAP 10 /* more than yamlwalk() goes down */

struct node {
	struct node *next, *first, *last;
	char *key; /* NULL: an item */
	char *scalar;
	enum yamlwalk_shape shape;
	struct source_line at;
};

struct reading {
	struct source *source;
	struct node *root;
	unsigned int depth; /* of files */
	uint32_t file;
	struct node *open[DEPTH_CAP]; /* from the top down */
	size_t len[DEPTH_CAP];        /* of their paths, each the begin of the next */
	char path[YAMLWALK_PATH_CAP];
	unsigned int n_open;
};

static void node_free(struct node *node)
{
	struct node *next;

	if (!node)
		return;
	for (struct node *child = node->first; child; child = next) {
		next = child->next;
		node_free(child);
	}
	if (node->scalar)
		explicit_bzero(node->scalar, strlen(node->scalar));
	free(node->scalar);
	free(node->key);
	free(node);
}

static void append(struct node *parent, struct node *child)
{
	child->next = NULL;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

static struct node *find_child(struct node *parent, const char *key)
{
	for (struct node *child = parent->first; child; child = child->next)
		if (child->key && !strcmp(child->key, key))
			return child;
	return NULL;
}

static struct node *take_child(struct node *parent, const char *key)
{
	struct node *found = find_child(parent, key), *all = parent->first, *next;

	if (!found)
		return NULL;
	parent->first = parent->last = NULL;
	for (; all; all = next) {
		next = all->next;
		if (all != found)
			append(parent, all);
	}
	return found;
}

/* --- Reading ------------------------------------------------------------------------------------- */

static struct node *make_node(const struct reading *r, const struct yamlwalk_node *from,
			      const char *key)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->shape = from->shape;
	node->at = (struct source_line){ r->file, (uint32_t)from->line };
	node->key = key ? strdup(key) : NULL;
	node->scalar = from->scalar ? strdup(from->scalar) : NULL;
	if ((!key || node->key) && (!from->scalar || node->scalar))
		return node;
	node_free(node);
	return NULL;
}

static void close_others(struct reading *r, const char *path)
{
	while (r->n_open > 1) {
		size_t len = r->len[r->n_open - 1];

		if (!strncmp(path, r->path, len) && (path[len] == '.' || path[len] == '['))
			return;
		r->path[r->len[--r->n_open - 1]] = '\0';
	}
}

static int read_node(void *user, const struct yamlwalk_node *from)
{
	struct reading *r = user;
	const char *leaf = NULL;
	struct node *node;

	if (*from->path) {
		close_others(r, from->path);
		leaf = from->path + r->len[r->n_open - 1];
		leaf = *leaf == '[' ? NULL : leaf + (*leaf == '.');
	} else if (from->shape != YAMLWALK_MAP) {
		source_fail(r->source, from->line, "",
			    "has the wrong shape, give keys such as \"server:\" at its top");
		return r->source->failed;
	}
	node = make_node(r, from, leaf);
	if (!node)
		return -ENOMEM;
	if (*from->path)
		append(r->open[r->n_open - 1], node);
	else
		r->root = node;
	if (from->shape == YAMLWALK_SCALAR)
		return 0;
	snprintf(r->path, sizeof(r->path), "%s", from->path);
	r->len[r->n_open] = strlen(from->path);
	r->open[r->n_open++] = node;
	return 0;
}

/* TEXT as a tree; NULL: it has no keys, or source_fail() was called. */
static struct node *read_tree(struct source *source, const char *text, size_t len, uint32_t file)
{
	struct reading r = { .source = source, .file = file };
	struct yamlwalk_error error;
	int err = yamlwalk(text, len, read_node, &r, &error);

	if (err == -ENOMEM)
		source_fail_memory(source);
	else if (err && !source->failed)
		source_fail(source, error.line, error.path, "%s", error.text);
	if (!source->failed)
		return r.root;
	node_free(r.root);
	return NULL;
}

/* --- Joining ------------------------------------------------------------------------------------- */

static void refuse_twice(struct source *source, const char *path, const struct node *first,
			 const struct node *second)
{
	source->path = source->files[second->at.file];
	source_fail(source, second->at.line, path,
		    "is given twice, first in %s:%u: keep one of them",
		    source->files[first->at.file], first->at.line);
}

/* Moves all that MORE has into INTO, both of one shape, and frees it. */
static void join(struct source *source, struct node *into, struct node *more, const char *path)
{
	char below[YAMLWALK_PATH_CAP];
	struct node *next, *there;

	for (struct node *child = more->first; child; child = next) {
		next = child->next;
		there = child->key ? find_child(into, child->key) : NULL;
		if (!there) {
			append(into, child);
			continue;
		}
		if (snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", child->key) <
		    0)
			*below = '\0';
		if (there->shape == child->shape && child->shape != YAMLWALK_SCALAR) {
			join(source, there, child, below);
			continue;
		}
		refuse_twice(source, below, there, child);
		node_free(child);
	}
	more->first = more->last = NULL;
	node_free(more);
}

/* --- Files --------------------------------------------------------------------------------------- */

static void read_file(struct source *source, struct node *all, uint32_t file, const char *text,
		      size_t len, unsigned int depth);

static int add_file(struct source *source, const char *path)
{
	char **files = realloc(source->files, (source->n_files + 1) * sizeof(*files));

	if (files)
		source->files = files;
	if (!files || !(files[source->n_files] = strdup(path))) {
		source_fail_memory(source);
		return -ENOMEM;
	}
	source->n_files++;
	return 0;
}

/* The file PATH, which AT includes. */
static void include_file(struct source *source, struct node *all, const char *path,
			 const struct source_line *at, unsigned int depth)
{
	struct source one = { .path = path, .err = source->err, .err_cap = source->err_cap };
	uint32_t file = source->n_files;

	if (depth > INCLUDE_DEPTH_MAX || file == INCLUDE_FILES_MAX) {
		source_fail(source, at->line, "include",
			    "%s: files are included %s: does one include itself?", path,
			    file == INCLUDE_FILES_MAX ? "10000 times" : "8 levels deep");
		return;
	}
	if (add_file(source, path))
		return;
	source_read(&one);
	if (one.failed == -ENOMEM)
		source_fail_memory(source);
	else if (one.failed)
		source_fail(source, at->line, "include", "%s cannot be read: %s", path,
			    err_text(one.failed));
	else
		read_file(source, all, file, one.text, one.len, depth);
	source_fini(&one);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A folder that is not there has no file that fits. */
static int is_trouble(const char *path, int error)
{
	(void)path;
	return error != ENOENT && error != ENOTDIR;
}

/* Relative patterns start at the folder of the file FROM. */
static void include_pattern(struct source *source, struct node *all, const struct node *pattern,
			    const char *from, unsigned int depth)
{
	const char *text = pattern->scalar, *slash = strrchr(from, '/');
	int folder = slash && *text != '/' ? (int)(slash - from) + 1 : 0, err;
	char *path;
	glob_t found;

	if (asprintf(&path, "%.*s%s", folder, from, text) < 0) {
		source_fail_memory(source);
		return;
	}
	err = *text ? glob(path, GLOB_NOSORT, is_trouble, &found) : GLOB_NOMATCH;
	if (err == GLOB_NOMATCH && !(*text && text[strcspn(text, "*?[")]))
		source_fail(source, pattern->at.line, "include", "%s cannot be read: %s", path,
			    err_text(-ENOENT));
	else if (err && err != GLOB_NOMATCH)
		source_fail(source, pattern->at.line, "include", "%s: a folder cannot be read",
			    path);
	free(path);
	if (err)
		return;
	qsort(found.gl_pathv, found.gl_pathc, sizeof(char *), compare_names);
	for (size_t i = 0; i < found.gl_pathc && !source->failed; i++)
		include_file(source, all, found.gl_pathv[i], &pattern->at, depth + 1);
	globfree(&found);
}

static void include_all(struct source *source, struct node *all, const struct node *include,
			const char *from, unsigned int depth)
{
	const struct node *one = include->shape == YAMLWALK_LIST ? include->first : include;

	for (; one && !source->failed; one = one->next) {
		if (one->shape != YAMLWALK_SCALAR)
			source_fail(source, one->at.line, "include",
				    "has the wrong shape, give a path, or a list of paths");
		else
			include_pattern(source, all, one, from, depth);
		if (include->shape != YAMLWALK_LIST)
			return;
	}
}

/* Puts the keys of TEXT, and of all that it includes, into ALL. Sentences name this file meanwhile. */
static void read_file(struct source *source, struct node *all, uint32_t file, const char *text,
		      size_t len, unsigned int depth)
{
	const char *above = source->path;
	struct node *tree, *include;

	source->path = source->files[file];
	tree = read_tree(source, text, len, file);
	include = tree ? take_child(tree, "include") : NULL;
	if (tree)
		join(source, all, tree, "");
	if (include && !source->failed)
		include_all(source, all, include, depth ? source->path : source->base, depth);
	node_free(include);
	source->path = above;
}

/* --- Writing ------------------------------------------------------------------------------------- */

struct writing {
	struct source *source;
	FILE *out;
	size_t cap;
};

static void end_line(struct writing *w, const struct source_line *at)
{
	struct source *source = w->source;

	fputc('\n', w->out);
	if (source->n_lines == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 1024;
		struct source_line *grown = realloc(source->lines, cap * sizeof(*grown));

		if (!grown) {
			source_fail_memory(source);
			return;
		}
		source->lines = grown;
		w->cap = cap;
	}
	source->lines[source->n_lines++] = *at;
}

/* Octets from *AT on as one character; they are UTF-8, as libyaml has seen to. */
static uint32_t read_character(const unsigned char **at)
{
	unsigned char first = *(*at)++;
	unsigned int n = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
	uint32_t value = n ? first & (0x3fu >> n) : first;

	while (n-- && **at)
		value = value << 6 | (*(*at)++ & 0x3f);
	return value;
}

static void put_quoted(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		uint32_t c = read_character(&at);

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (c >= ' ' && c < 127)
			fputc((int)c, out);
		else
			fprintf(out, "\\U%08x", c);
	}
	fputc('"', out);
}

static void put_node(struct writing *w, const struct node *node, int indent)
{
	fprintf(w->out, "%*s", indent, "");
	if (node->key) {
		put_quoted(w->out, node->key);
		fputc(':', w->out);
	} else {
		fputc('-', w->out);
	}
	if (node->shape == YAMLWALK_SCALAR) {
		fputc(' ', w->out);
		put_quoted(w->out, node->scalar);
	} else if (!node->first) {
		fputs(node->shape == YAMLWALK_MAP ? " {}" : " []", w->out);
	}
	end_line(w, &node->at);
	for (const struct node *child = node->first; child; child = child->next)
		put_node(w, child, indent + 1);
}

static void write_text(struct source *source, const struct node *all)
{
	struct writing w = { .source = source };
	char *text = NULL;
	size_t len;

	w.out = open_memstream(&text, &len);
	for (const struct node *child = all->first; child && w.out; child = child->next)
		put_node(&w, child, 0);
	if (!w.out || fclose(w.out)) {
		free(text);
		source_fail_memory(source);
		return;
	}
	explicit_bzero(source->text, source->len);
	free(source->text);
	source->text = text;
	source->len = len;
}

/* --- All of it ----------------------------------------------------------------------------------- */

static int find_include(void *user, const struct yamlwalk_node *node)
{
	*(bool *)user |= !strcmp(node->path, "include");
	return *(bool *)user;
}

/* Most have none. What is no YAML is for source_check_shape() to tell. */
static bool has_include(const struct source *source)
{
	struct yamlwalk_error error;
	bool has = false;

	if (!strstr(source->text, "include"))
		return false;
	return yamlwalk(source->text, source->len, find_include, &has, &error) > 0 && has;
}

void include_run(struct source *source)
{
	struct node *all;

	if (source->failed || !has_include(source))
		return;
	all = calloc(1, sizeof(*all));
	if (!all) {
		source_fail_memory(source);
		return;
	}
	if (!add_file(source, source->path))
		read_file(source, all, 0, source->text, source->len, 0);
	if (!source->failed)
		write_text(source, all);
	node_free(all);
}
