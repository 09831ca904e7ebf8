/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* knot.conf(5), line by line. A word in the first column begins a section, and "- " an item. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "import/parse.h"

struct knot {
	struct import_tree *tree;
	struct import_node *section, *item;
};

struct line {
	const char *at, *file;
	unsigned int number;
};

static void skip_blanks(struct line *line)
{
	while (*line->at == ' ' || *line->at == '\t' || *line->at == '\r')
		line->at++;
	if (*line->at == '#')
		line->at += strcspn(line->at, "\n");
}

/* Skips space between the items of a list, which may span several lines. */
static void skip_space(struct line *line)
{
	for (skip_blanks(line); *line->at == '\n'; skip_blanks(line)) {
		line->at++;
		line->number++;
	}
}

static int take_quoted(struct knot *knot, struct line *line, struct import_node *node)
{
	char word[4096];
	size_t n = 0;

	for (line->at++; *line->at && *line->at != '\n' && *line->at != '"'; line->at++) {
		if (*line->at == '\\' && line->at[1] && line->at[1] != '\n')
			line->at++;
		if (n == sizeof(word))
			return import_tree_fail(knot->tree, line->file, line->number,
						"%s: a value is longer than 4096 octets",
						node->name);
		word[n++] = *line->at;
	}
	if (*line->at != '"')
		return import_tree_fail(knot->tree, line->file, line->number,
					"%s: a quote is not closed on this line", node->name);
	line->at++;
	return import_node_add_word(knot->tree, node, word, n);
}

static int take_value(struct knot *knot, struct line *line, struct import_node *node,
		      const char *ends)
{
	size_t n;

	if (*line->at == '"')
		return take_quoted(knot, line, node);
	n = strcspn(line->at, ends);
	line->at += n;
	return import_node_add_word(knot->tree, node, line->at - n, n);
}

static int take_list(struct knot *knot, struct line *line, struct import_node *node)
{
	int ret = 0;

	for (line->at++; !ret;) {
		skip_space(line);
		if (*line->at == ']')
			break;
		if (*line->at == ',')
			line->at++;
		else if (!*line->at)
			return import_tree_fail(knot->tree, line->file, node->line,
						"%s: the list is not closed", node->name);
		else
			ret = take_value(knot, line, node, ", \t\r\n]#");
	}
	line->at++;
	return ret;
}

static int take_values(struct knot *knot, struct line *line, struct import_node *node)
{
	int ret;

	skip_blanks(line);
	if (!*line->at || *line->at == '\n')
		return 0;
	ret = *line->at == '[' ? take_list(knot, line, node) :
				 take_value(knot, line, node, ", \t\r\n#");
	if (ret)
		return ret;
	skip_blanks(line);
	if (*line->at && *line->at != '\n')
		return import_tree_fail(
			knot->tree, line->file, line->number,
			"%s: there is more than one value: write a list in brackets", node->name);
	return 0;
}

static int parse_text(void *user, const char *file, const char *text, size_t len);

static int take_include(struct knot *knot, struct line *line)
{
	struct import_node node = { .name = "include", .file = line->file, .line = line->number };
	int ret = take_values(knot, line, &node);

	if (!ret)
		ret = import_parse_include(knot->tree, node.n_words ? node.words[0] : "",
					   line->file, node.line, parse_text, knot);
	node.name = NULL;
	import_node_clear(&node);
	knot->section = knot->item = NULL;
	return ret;
}

/* The parent of this line's option: the top for a new section, an item, or a section. */
static struct import_node *open_place(struct knot *knot, const struct line *line,
				      bool is_first_column, bool is_item)
{
	if (is_first_column) {
		knot->item = NULL;
		return &knot->tree->top;
	}
	if (!knot->section) {
		import_tree_fail(knot->tree, line->file, line->number,
				 "this option is in no section");
		return NULL;
	}
	if (is_item) {
		knot->item = import_node_add(knot->tree, knot->section, "item", 4, line->file,
					     line->number);
		if (knot->item)
			knot->item->is_block = true;
		return knot->item;
	}
	return knot->item ? knot->item : knot->section;
}

static int take_line(struct knot *knot, struct line *line)
{
	const char *start = line->at;
	struct import_node *place, *node;
	bool is_item;
	size_t n;

	skip_blanks(line);
	if (!*line->at || *line->at == '\n')
		return 0;
	is_item = *line->at == '-' && isblank(line->at[1]);
	if (is_item) {
		line->at++;
		skip_blanks(line);
	}
	n = strcspn(line->at, ": \t\r\n");
	if (!n || line->at[n] != ':')
		return import_tree_fail(knot->tree, line->file, line->number,
					"a name and a colon are expected, not \"%.*s\"",
					(int)strcspn(line->at, "\r\n"), line->at);
	if (start == line->at && n == 7 && !memcmp(line->at, "include", 7)) {
		line->at += 8;
		return take_include(knot, line);
	}
	place = open_place(knot, line, start == line->at, is_item);
	node = place ? import_node_add(knot->tree, place, line->at, n, line->file, line->number) :
		       NULL;
	if (!node)
		return -EINVAL;
	if (place == &knot->tree->top) {
		knot->section = node;
		node->is_block = true;
	}
	line->at += n + 1;
	return take_values(knot, line, node);
}

static int parse_text(void *user, const char *file, const char *text, size_t len)
{
	struct line line = { .at = text, .file = file, .number = 1 };
	struct knot *knot = user;

	(void)len; /* the text ends with a zero */
	knot->section = knot->item = NULL;
	for (;;) {
		int ret = take_line(knot, &line);

		if (ret)
			return ret;
		if (!*line.at)
			return 0;
		line.at++; /* skip the newline */
		line.number++;
	}
}

int import_parse_knot(struct import_tree *tree, const char *path)
{
	struct knot knot = { .tree = tree };

	return import_parse_file(tree, path, NULL, 0, parse_text, &knot) ? -EINVAL : 0;
}
