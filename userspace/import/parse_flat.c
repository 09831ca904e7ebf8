/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nsd.conf(5) and unbound.conf(5), which share a syntax. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "import/parse.h"

static const char *const sections[] = {
	"server", "remote-control", "zone",      "pattern",      "key",       "tls-auth",
	"verify", "dnstap",         "stub-zone", "forward-zone", "auth-zone", "rpz",
	"view",   "python",         "dynlib",    "cachedb",      "dnscrypt",  "ipset",
};

struct flat {
	struct import_tree *tree;
	struct import_node *section; /* NULL: before the first section */
};

/* A position in the text, and the last word. Quotes around a word are not part of it. */
struct cursor {
	const char *at, *word;
	size_t len;
	unsigned int line;
	bool is_quoted;
	bool has_next; /* next_word() found a word on the line */
};

static void skip_blanks(struct cursor *c)
{
	while (*c->at == ' ' || *c->at == '\t' || *c->at == '\r')
		c->at++;
	if (*c->at == '#')
		c->at += strcspn(c->at, "\n");
}

/* Reads the next word of this line. -EINVAL: a quote is not closed on the line. */
static int next_word(struct cursor *c)
{
	char quote;

	skip_blanks(c);
	c->has_next = *c->at && *c->at != '\n';
	if (!c->has_next)
		return 0;
	quote = *c->at;
	c->is_quoted = quote == '"' || quote == '\'';
	if (!c->is_quoted) {
		c->word = c->at;
		c->len = strcspn(c->at, " \t\r\n#");
		c->at += c->len;
		return 0;
	}
	c->word = ++c->at;
	while (*c->at && *c->at != '\n' && *c->at != quote)
		c->at++;
	c->len = (size_t)(c->at - c->word);
	return *c->at == quote ? (c->at++, 0) : -EINVAL;
}

/* True for "port:", but not for "::1" or "fe80::". */
static bool is_option(const struct cursor *c)
{
	if (c->is_quoted || c->len < 2 || c->word[c->len - 1] != ':' || !isalpha(*c->word))
		return false;
	for (size_t i = 0; i < c->len - 1; i++)
		if (!isalnum(c->word[i]) && !strchr("-_", c->word[i]))
			return false;
	return true;
}

static bool is_section(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strlen(sections[i]) == len && !memcmp(sections[i], name, len))
			return true;
	return false;
}

/* Some files have "port:53" without a space. */
static void split_option(struct cursor *c)
{
	size_t n = strcspn(c->word, ": \t\r\n");

	if (c->is_quoted || n >= c->len || c->word[n] != ':' || n + 1 == c->len ||
	    !isalpha(*c->word))
		return;
	c->at = c->word + n + 1;
	c->len = n + 1;
}

static int parse_text(void *user, const char *file, const char *text, size_t len);

static int include(struct flat *flat, const struct import_node *node, bool is_toplevel)
{
	const char *pattern = import_node_word(node, 0);
	int ret;

	if (is_toplevel)
		flat->section = NULL;
	ret = import_parse_include(flat->tree, pattern ? pattern : "", node->file, node->line,
				   parse_text, flat);
	if (is_toplevel)
		flat->section = NULL;
	return ret;
}

/* Reads the words of the option, up to the end of the line or the next option. */
static int take_words(struct flat *flat, struct cursor *c, struct import_node *node)
{
	for (;;) {
		if (next_word(c))
			return import_tree_fail(flat->tree, node->file, c->line,
						"%s: a quote is not closed on this line",
						node->name);
		if (!c->has_next)
			return 0;
		if (is_option(c)) {
			c->at = c->word;
			return 0;
		}
		if (import_node_add_word(flat->tree, node, c->word, c->len))
			return -ENOMEM;
	}
}

static int take_section(struct flat *flat, struct cursor *c, const char *file)
{
	flat->section =
		import_node_add(flat->tree, &flat->tree->top, c->word, c->len - 1, file, c->line);
	if (!flat->section)
		return -ENOMEM;
	flat->section->is_block = true;
	return 0;
}

static int take_option(struct flat *flat, struct cursor *c, const char *file)
{
	struct import_node scratch = { .name = "include" }, *node;
	bool is_include, is_toplevel;
	int ret;

	split_option(c);
	if (!is_option(c))
		return import_tree_fail(flat->tree, file, c->line,
					"\"%.*s\" is no option: a name and a colon are expected",
					(int)c->len, c->word);
	if (is_section(c->word, c->len - 1))
		return take_section(flat, c, file);
	is_toplevel = c->len == 17 && !memcmp(c->word, "include-toplevel:", 17);
	is_include = is_toplevel || (c->len == 8 && !memcmp(c->word, "include:", 8));
	if (!flat->section && !is_include)
		return import_tree_fail(
			flat->tree, file, c->line,
			"%.*s is in no section: \"server:\" or another section is expected before "
			"it",
			(int)c->len - 1, c->word);
	node = is_include ? &scratch :
			    import_node_add(flat->tree, flat->section, c->word, c->len - 1, file,
					    c->line);
	if (!node)
		return -ENOMEM;
	node->file = file;
	node->line = c->line;
	ret = take_words(flat, c, node);
	if (!is_include)
		return ret;
	if (!ret)
		ret = include(flat, node, is_toplevel);
	scratch.name = NULL;
	import_node_clear(&scratch);
	return ret;
}

static int parse_text(void *user, const char *file, const char *text, size_t len)
{
	struct cursor c = { .at = text, .line = 1 };
	struct flat *flat = user;
	int ret = 0;

	(void)len; /* the text ends with a zero */
	while (!ret) {
		ret = next_word(&c);
		if (ret)
			return import_tree_fail(flat->tree, file, c.line,
						"a quote is not closed on this line");
		if (c.has_next)
			ret = take_option(flat, &c, file);
		else if (*c.at == '\n')
			c.at++, c.line++;
		else
			break;
	}
	return ret;
}

int import_parse_flat(struct import_tree *tree, const char *path)
{
	struct flat flat = { .tree = tree };

	return import_parse_file(tree, path, NULL, 0, parse_text, &flat) ? -EINVAL : 0;
}
