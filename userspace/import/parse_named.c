/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* named.conf(5): words, braces and semicolons. A statement is a node, and the statements in its
 * braces are its children. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "import/parse.h"

#define DEPTH_MAX 32 /* nested braces */

struct within {
	struct import_tree *tree;
	struct import_node *place; /* the parent of the statements of this file */
};

struct reader {
	struct import_tree *tree;
	const char *at, *file;
	unsigned int line;
	struct import_node *place,
		*node; /* whose braces are open; the statement that has begun, or NULL */
	unsigned int depth;
};

static int skip_comment(struct reader *r)
{
	const char *end;

	if (*r->at == '#' || r->at[1] == '/') {
		r->at += strcspn(r->at, "\n");
		return 0;
	}
	end = strstr(r->at + 2, "*/");
	if (!end)
		return import_tree_fail(r->tree, r->file, r->line, "the comment is not closed");
	for (; r->at < end; r->at++)
		r->line += *r->at == '\n';
	r->at += 2;
	return 0;
}

static int skip_space(struct reader *r)
{
	int ret = 0;

	while (!ret) {
		if (*r->at == '#' || (*r->at == '/' && (r->at[1] == '/' || r->at[1] == '*')))
			ret = skip_comment(r);
		else if (*r->at && strchr(" \t\r\n", *r->at))
			r->line += *r->at++ == '\n';
		else
			break;
	}
	return ret;
}

/*
 * After a closed brace more words may follow, as in "response-policy { ... } qname-wait-recurse
 * no;". But one of these words begins the next statement.
 */
static bool is_section(const struct reader *r)
{
	static const char *const sections[] = {
		"acl",     "controls",  "dnssec-policy", "http", "key",  "logging", "masters",
		"options", "primaries", "server",        "tls",  "view", "zone",
	};

	if (r->place != &r->tree->top && strcmp(r->place->name, "view") != 0)
		return false;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (!strcmp(r->node->name, sections[i]))
			return true;
	return false;
}

/* A semicolon must follow the closed brace of a section. */
static int check_end(const struct reader *r)
{
	if (!r->node || !r->node->is_block || !is_section(r))
		return 0;
	return import_tree_fail(r->tree, r->file, r->line,
				"a semicolon is expected after the brace of \"%s\"", r->node->name);
}

static int add(struct reader *r, const char *word, size_t n)
{
	int ret = check_end(r);

	if (ret)
		return ret;
	if (r->node)
		return import_node_add_word(r->tree, r->node, word, n);
	r->node = import_node_add(r->tree, r->place, word, n, r->file, r->line);
	return r->node ? 0 : -ENOMEM;
}

static int take_quoted(struct reader *r)
{
	char word[8192];
	size_t n = 0;

	for (r->at++; *r->at && *r->at != '"'; r->at++) {
		if (*r->at == '\\' && r->at[1] == '"')
			r->at++;
		if (*r->at == '\n' || n == sizeof(word))
			return import_tree_fail(r->tree, r->file, r->line,
						"a quote is not closed on this line");
		word[n++] = *r->at;
	}
	if (!*r->at)
		return import_tree_fail(r->tree, r->file, r->line, "a quote is not closed");
	r->at++;
	return add(r, word, n);
}

static int take_word(struct reader *r)
{
	size_t n = 0;

	if (*r->at == '!') { /* a word of its own, with or without a space after it */
		r->at++;
		return add(r, "!", 1);
	}
	while (r->at[n] && !strchr(" \t\r\n{};\"", r->at[n]) &&
	       !(r->at[n] == '/' && (r->at[n + 1] == '/' || r->at[n + 1] == '*')))
		n++;
	r->at += n;
	return add(r, r->at - n, n);
}

static int open_brace(struct reader *r)
{
	int ret = check_end(r);

	if (ret)
		return ret;
	if (r->depth++ == DEPTH_MAX)
		return import_tree_fail(r->tree, r->file, r->line, "more than %d braces are open",
					DEPTH_MAX);
	if (!r->node)
		ret = add(r, "", 0);
	if (ret)
		return ret;
	r->at++;
	r->node->is_block = true;
	r->place = r->node;
	r->node = NULL;
	return 0;
}

static int close_brace(struct reader *r)
{
	if (r->node)
		return import_tree_fail(r->tree, r->file, r->line,
					"a semicolon is expected before the brace");
	if (!r->depth)
		return import_tree_fail(r->tree, r->file, r->line,
					"a brace is closed, but none is open");
	r->depth--;
	r->at++;
	r->node = r->place;
	r->place = r->node->parent;
	return 0;
}

static int parse_text(void *user, const char *file, const char *text, size_t len);

static int end_statement(struct reader *r)
{
	struct import_node *node = r->node;
	struct within within = { r->tree, r->place };

	r->at++;
	r->node = NULL;
	if (!node || strcmp(node->name, "include") || node->is_block)
		return 0;
	return import_parse_include(r->tree, node->n_words ? node->words[0] : "", r->file,
				    node->line, parse_text, &within);
}

static int take_token(struct reader *r)
{
	switch (*r->at) {
	case '{':
		return open_brace(r);
	case '}':
		return close_brace(r);
	case ';':
		return end_statement(r);
	case '"':
		return take_quoted(r);
	default:
		return take_word(r);
	}
}

static int parse_text(void *user, const char *file, const char *text, size_t len)
{
	struct within *within = user;
	struct reader r = { within->tree, text, file, 1, within->place, NULL, 0 };

	(void)len; /* the text ends with a zero */
	for (;;) {
		int ret = skip_space(&r);

		if (ret)
			return ret;
		if (!*r.at)
			break;
		ret = take_token(&r);
		if (ret)
			return ret;
	}
	if (r.depth)
		return import_tree_fail(r.tree, file, r.place->line,
					"the brace of \"%s\" is not closed", r.place->name);
	if (r.node)
		return import_tree_fail(r.tree, file, r.node->line,
					"a semicolon is expected after \"%s\"", r.node->name);
	return 0;
}

int import_parse_named(struct import_tree *tree, const char *path)
{
	struct within within = { tree, &tree->top };

	return import_parse_file(tree, path, NULL, 0, parse_text, &within) ? -EINVAL : 0;
}
