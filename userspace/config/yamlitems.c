/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/yamlitems.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- Characters ------------------------------------------------------------------------------- */

enum {
	WORD = 1,   /* inside of a word */
	BEGINS = 2, /* at its start, too */
	KEY = 4,
};

#define LETTER (WORD | BEGINS)

static const uint8_t class_of_item[256] = {
	['a' ... 'z'] = LETTER | KEY,
	['A' ... 'Z'] = LETTER,
	['0' ... '9'] = LETTER | KEY,
	['/'] = LETTER,
	['.'] = LETTER,
	['_'] = LETTER,
	['-'] = WORD | KEY,
	['+'] = WORD,
	['@'] = WORD,
	['%'] = WORD,
	['='] = WORD,
	['~'] = WORD,
};

static bool is_of_class(char c, uint8_t class)
{
	return class_of_item[(uint8_t)c] & class;
}

/* Printable ASCII. */
static bool is_shown(char c)
{
	return c >= ' ' && c <= '~';
}

/* --- One line --------------------------------------------------------------------------------- */

/* The text ends at END, and each function that returns a place returns NULL if there is no such
 * thing at AT. */

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

/* A text in quotes without escapes. */
static const char *read_quoted(const char *at, const char *end, const char **value, size_t *n)
{
	const char quote = *at++;

	*value = at;
	while (at < end && *at != quote && *at != '\\' && is_shown(*at))
		at++;
	*n = (size_t)(at - *value);
	return at < end && *at == quote ? at + 1 : NULL;
}

/* A word may have a colon inside, but not in a list. */
static const char *read_item_word(const char *at, const char *end, bool in_list, const char **value,
				  size_t *n)
{
	*value = at;
	if (at == end || !is_of_class(*at, BEGINS))
		return NULL;
	while (at < end && (is_of_class(*at, WORD) ||
			    (*at == ':' && !in_list && at + 1 < end && is_of_class(at[1], WORD))))
		at++;
	*n = (size_t)(at - *value);
	return at;
}

static const char *read_value(const char *at, const char *end, bool in_list, const char **value,
			      size_t *n)
{
	if (at < end && (*at == '"' || *at == '\''))
		return read_quoted(at, end, value, n);
	return read_item_word(at, end, in_list, value, n);
}

/* Values with commas between them, up to the bracket. */
static const char *read_item_list(const char *at, const char *end, struct yamlitems_pair *pair)
{
	const char *value;
	size_t n;

	pair->is_list = true;
	pair->value = ++at;
	at = skip_blanks(at, end);
	while (at < end && *at != ']') {
		at = read_value(at, end, true, &value, &n);
		at = at ? skip_blanks(at, end) : end;
		if (at < end && *at == ',') {
			at = skip_blanks(at + 1, end);
			if (at < end && *at == ']')
				return NULL;
		} else if (at < end && *at != ']') {
			return NULL;
		}
	}
	if (at >= end)
		return NULL;
	pair->n_value = (size_t)(at - pair->value);
	return at + 1;
}

/* KEY: VALUE. The end of the line, behind its newline. */
static const char *read_item_pair(const char *at, const char *end, struct yamlitems_pair *pair)
{
	pair->name = at;
	while (at < end && is_of_class(*at, KEY))
		at++;
	pair->n_name = (size_t)(at - pair->name);
	if (!pair->n_name || pair->n_name > YAMLITEMS_NAME_MAX || *pair->name == '-' ||
	    end - at < 2 || at[0] != ':' || at[1] != ' ')
		return NULL;
	at = skip_blanks(at + 1, end);
	pair->is_list = false;
	if (at < end && *at == '[')
		at = read_item_list(at, end, pair);
	else
		at = read_value(at, end, false, &pair->value, &pair->n_value);
	at = at ? skip_blanks(at, end) : end;
	return at < end && *at == '\n' ? at + 1 : NULL;
}

/* A line without text, or one that has only a comment. */
static const char *read_nothing(const char *at, const char *end)
{
	at = skip_blanks(at, end);
	if (at < end && *at == '\n')
		return at + 1;
	if (at == end || *at != '#')
		return NULL;
	while (at < end && is_shown(*at))
		at++;
	return at < end && *at == '\n' ? at + 1 : NULL;
}

enum line_kind {
	LINE_NOTHING,
	LINE_FIRST, /* "- KEY: VALUE" */
	LINE_MORE,  /* "KEY: VALUE" */
	LINE_OTHER,
};

struct line {
	enum line_kind kind;
	const char *next;
	size_t indent; /* blanks before it */
	struct yamlitems_pair pair;
};

static void read_line(struct line *line, const char *at, const char *end)
{
	const char *start = at, *next = read_nothing(at, end);

	line->kind = LINE_NOTHING;
	line->next = next;
	if (next)
		return;
	at = skip_blanks(at, end);
	line->indent = (size_t)(at - start);
	line->pair.is_first = end - at >= 2 && at[0] == '-' && at[1] == ' ';
	line->kind = line->pair.is_first ? LINE_FIRST : LINE_MORE;
	line->next = read_item_pair(line->pair.is_first ? at + 2 : at, end, &line->pair);
	if (line->next)
		return;
	line->kind = LINE_OTHER;
	next = memchr(at, '\n', (size_t)(end - at));
	line->next = next ? next + 1 : end;
}

/* --- Runs ------------------------------------------------------------------------------------- */

#define UNKNOWN SIZE_MAX

struct finder {
	struct yamlitems *items;
	const char *text;
	size_t line;   /* the present one */
	bool in_list;  /* a key of the top was the last one, and it has no value in its line */
	size_t indent; /* of its items; UNKNOWN: there was none yet */

	bool is_on; /* a run is */
	size_t run_at, run_line;
	size_t item_at, item_line; /* its last item, to which the present line may belong */
	const char *keys[YAMLITEMS_KEYS_MAX];
	size_t n_keys;
};

/* "zones:" at the start of a line, perhaps with a comment behind it. */
static bool is_list_key(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && is_of_class(*at, KEY))
		at++;
	if (at == start || *start == '-' || at == end || *at != ':')
		return false;
	at++;
	return at < end && (*at == '\n' || *at == ' ') && read_nothing(at, end);
}

/* False: the item has this key already, or too many. */
static bool note_key(struct finder *f, const struct yamlitems_pair *pair)
{
	/* with the colon, so that no key is the start of another */
	for (size_t i = 0; i < f->n_keys; i++)
		if (!memcmp(f->keys[i], pair->name, pair->n_name + 1))
			return false;
	if (f->n_keys == YAMLITEMS_KEYS_MAX)
		return false;
	f->keys[f->n_keys++] = pair->name;
	return true;
}

static void begin_item(struct finder *f, const char *at, const struct yamlitems_pair *pair)
{
	f->item_at = (size_t)(at - f->text);
	f->item_line = f->line;
	f->n_keys = 0;
	(void)note_key(f, pair);
}

static int push_run(struct finder *f, size_t end, size_t end_line)
{
	struct yamlitems *items = f->items;
	size_t cap = items->cap ? 2 * items->cap : 16;
	struct yamlitems_run *grown = items->runs;

	f->is_on = false;
	if (end == f->run_at)
		return 0;
	if (items->n == items->cap) {
		grown = realloc(items->runs, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		items->runs = grown;
		items->cap = cap;
	}
	grown[items->n++] = (struct yamlitems_run){ f->run_at, end, f->run_line,
						    end_line - f->run_line, (unsigned)f->indent };
	return 0;
}

/* Ends the run before the line at AT. A line that is indented more than the items may continue the
 * last one, which is then left out. So may a line that begins with another octet: YAML has line
 * breaks besides '\n', behind which blanks would follow, and a tab is no indentation. */
static int end_run(struct finder *f, const char *at, const char *end, const struct line *line)
{
	const char *word = at + line->indent;
	const bool is_whole = line->indent <= f->indent && (word == end || is_shown(*word));

	return is_whole ? push_run(f, (size_t)(at - f->text), f->line) :
			  push_run(f, f->item_at, f->item_line);
}

/* True if the line belongs to the run. */
static bool continues_run(struct finder *f, const char *at, const struct line *line)
{
	switch (line->kind) {
	case LINE_NOTHING:
		return true;
	case LINE_FIRST:
		if (line->indent != f->indent)
			return false;
		begin_item(f, at, &line->pair);
		return true;
	case LINE_MORE:
		return line->indent == f->indent + 2 && note_key(f, &line->pair);
	case LINE_OTHER:
		break;
	}
	return false;
}

static void look_for_run(struct finder *f, const char *at, const char *end, const struct line *line)
{
	if (line->kind == LINE_NOTHING)
		return;
	if (line->kind == LINE_FIRST && f->in_list && line->indent <= YAMLITEMS_INDENT_MAX &&
	    (f->indent == UNKNOWN || f->indent == line->indent)) {
		f->indent = line->indent;
		f->is_on = true;
		f->run_at = (size_t)(at - f->text);
		f->run_line = f->line;
		begin_item(f, at, &line->pair);
	} else if (!line->indent && *at != '-') {
		f->in_list = is_list_key(at, end);
		f->indent = UNKNOWN;
	}
}

int yamlitems_find(struct yamlitems *items, const char *text, size_t len)
{
	struct finder f = { .items = items, .text = text, .line = 1 };
	const char *at = text, *end = text + len;
	struct line line;
	int err = 0;

	*items = (struct yamlitems){ 0 };
	for (; at < end && !err; at = line.next, f.line++) {
		read_line(&line, at, end);
		if (f.is_on && continues_run(&f, at, &line))
			continue;
		if (f.is_on)
			err = end_run(&f, at, end, &line);
		look_for_run(&f, at, end, &line);
	}
	return f.is_on && !err ? push_run(&f, len, f.line) : err;
}

void yamlitems_fini(struct yamlitems *items)
{
	free(items->runs);
	*items = (struct yamlitems){ 0 };
}

/* --- The items of a run ----------------------------------------------------------------------- */

bool yamlitems_next(const char **at, const char *end, size_t *line, struct yamlitems_pair *pair)
{
	struct line now;

	while (*at < end) {
		read_line(&now, *at, end);
		*at = now.next;
		++*line;
		if (now.kind == LINE_NOTHING)
			continue;
		*pair = now.pair;
		return true;
	}
	return false;
}

bool yamlitems_next_value(const char **at, const char *end, const char **value, size_t *n)
{
	const char *next = *at;

	while (next < end && (*next == ' ' || *next == ','))
		next++;
	if (next == end)
		return false;
	*at = read_value(next, end, true, value, n);
	return *at;
}
