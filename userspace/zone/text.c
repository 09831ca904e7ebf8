/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nearly all lines are plain: the entry is the line, in its place in the buffer. Other entries are
 * copied in one pass over the characters with two bits of state: inside quotes, inside parentheses.
 */
#include "zone/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "dns/proto.h"

#define BUFFER_BYTES (256 * 1024)
#define BUFFER_MIN   4096

void text_reader_init(struct text_reader *r, FILE *fp)
{
	*r = (struct text_reader){ .fp = fp, .line = 1, .cap = BUFFER_BYTES };
}

/* One octet more shows the end of the file. */
void text_reader_expect(struct text_reader *r, uint64_t n_bytes)
{
	if (n_bytes < BUFFER_BYTES)
		r->cap = n_bytes < BUFFER_MIN ? BUFFER_MIN : (size_t)n_bytes + 1;
}

void text_reader_fini(struct text_reader *r)
{
	free(r->own);
	free(r->buffer);
}

/* --- The buffer --- */

/* Reads more of the file into the buffer; false at its end or if the buffer is full. */
static bool fill_zone_text(struct text_reader *r)
{
	size_t n;

	if (r->at) {
		memmove(r->buffer, r->buffer + r->at, r->end - r->at);
		r->end -= r->at;
		r->at = 0;
	}
	n = fread(r->buffer + r->end, 1, r->cap - r->end, r->fp);
	r->end += n;
	r->n_read += n;
	if (n)
		r->last = r->buffer[r->end - 1];
	return n != 0;
}

/* The next character, or EOF. */
static int next_char(struct text_reader *r)
{
	if (r->at == r->end && !fill_zone_text(r))
		return EOF;
	return (unsigned char)r->buffer[r->at++];
}

/* --- Plain lines --- */

enum {
	SPECIAL = 1, /* the line is not plain */
	QUOTE = 2,
};

static const uint8_t class_of[256] = {
	['\0'] = SPECIAL, ['\r'] = SPECIAL, ['('] = SPECIAL, [')'] = SPECIAL,
	[';'] = SPECIAL,  ['\\'] = SPECIAL, ['"'] = QUOTE,
};

/* Without branches, since most lines have no such character. */
static unsigned classes_in(const char *p, size_t n)
{
	unsigned seen = 0;

	for (size_t i = 0; i < n; i++)
		seen |= class_of[(unsigned char)p[i]];
	return seen;
}

static bool quotes_pair(const char *p, size_t n)
{
	unsigned quotes = 0;

	for (size_t i = 0; i < n; i++)
		quotes += p[i] == '"';
	return quotes % 2 == 0;
}

/*
 * Makes the next line the entry if it is plain: no comment, parenthesis or escape, quotes in pairs,
 * not empty. Otherwise nothing is read.
 */
static bool read_text_plain(struct text_reader *r)
{
	char *line = r->buffer + r->at;
	char *newline = memchr(line, '\n', r->end - r->at);
	unsigned seen;
	size_t n;

	if (!newline && fill_zone_text(r)) {
		line = r->buffer + r->at;
		newline = memchr(line, '\n', r->end - r->at);
	}
	if (!newline)
		return false;
	n = (size_t)(newline - line);
	seen = classes_in(line, n);
	if (seen & SPECIAL || (seen & QUOTE && !quotes_pair(line, n)))
		return false;
	r->blank_start = *line == ' ' || *line == '\t';
	while (*line == ' ' || *line == '\t')
		line++;
	if (line == newline)
		return false;
	*newline = '\0';
	r->column = (uint32_t)(line - (r->buffer + r->at)) + 1;
	r->text = line;
	r->n = (size_t)(newline - line);
	r->entry_line = r->line++;
	r->at = (size_t)(newline + 1 - r->buffer);
	return true;
}

/* --- Other entries --- */

/* The state of the entry that is being read. */
struct entry {
	bool quote, paren, started;
	uint32_t open_line; /* of the quote or parenthesis */
	const char **why;
};

static int fault_text(struct text_reader *r, struct entry *e, uint32_t line, const char *why)
{
	r->entry_line = line;
	*e->why = why;
	return ERR_ZONE;
}

static int append_text(struct text_reader *r, struct entry *e, int c)
{
	if (r->n + 2 > r->own_cap) {
		size_t cap = r->own_cap ? r->own_cap * 2 : 1024;
		char *own = realloc(r->own, cap);

		if (!own)
			return -ENOMEM;
		r->own = own;
		r->own_cap = cap;
	}
	if (r->n >= TEXT_ENTRY_MAX)
		return fault_text(r, e, r->entry_line, "this entry is too long for any record");
	r->own[r->n++] = (char)c;
	r->own[r->n] = '\0';
	return 0;
}

/* Appends a blank, except at the start. */
static int append_blank(struct text_reader *r, struct entry *e)
{
	return r->n ? append_text(r, e, ' ') : 0;
}

static void skip_comment(struct text_reader *r)
{
	int c;

	do
		c = next_char(r);
	while (c != EOF && c != '\n');
	if (c == '\n')
		r->at--;
}

static int take_escape(struct text_reader *r, struct entry *e)
{
	int next = next_char(r), rc;

	if (next == EOF || next == '\n' || next == '\r' || next == '\0')
		return fault_text(r, e, r->line, "a backslash stands at the end of the line");
	rc = append_text(r, e, '\\');
	return rc ? rc : append_text(r, e, next);
}

static int take_paren(struct text_reader *r, struct entry *e, bool open)
{
	if (open == e->paren)
		return fault_text(r, e, r->line,
				  open ? "a parenthesis is opened inside parentheses" :
					 "a parenthesis is closed that was never opened");
	e->paren = open;
	e->open_line = r->line;
	return append_blank(r, e);
}

static int take_quote(struct text_reader *r, struct entry *e)
{
	e->quote = !e->quote;
	if (!e->paren)
		e->open_line = r->line;
	return append_text(r, e, '"');
}

/* Adds a character that is no line end. */
static int take_zone_text(struct text_reader *r, struct entry *e, int c)
{
	if (c == '\0')
		return fault_text(r, e, r->line, "a NUL octet stands in the text");
	if (c == '"')
		return take_quote(r, e);
	if (c == '\\')
		return take_escape(r, e);
	if (e->quote)
		return append_text(r, e, c);
	if (c == '(' || c == ')')
		return take_paren(r, e, c == '(');
	if (c == ' ' || c == '\t' || c == '\r')
		return append_blank(r, e);
	return append_text(r, e, c);
}

/* Handles a line end. Returns 1 if the entry ends with it. */
static int take_line_end(struct text_reader *r, struct entry *e)
{
	uint32_t line = r->line++;

	if (e->quote)
		return fault_text(r, e, line, "a quote is not closed on its line");
	if (e->paren)
		return append_blank(r, e);
	if (r->n)
		return 1;
	e->started = false;
	return 0;
}

static int take_end_of_file(struct text_reader *r, struct entry *e)
{
	if (ferror(r->fp))
		return -EIO;
	if (e->quote)
		return fault_text(r, e, r->line, "a quote is not closed on its line");
	if (e->paren)
		return fault_text(r, e, e->open_line, "a parenthesis is not closed");
	return r->n != 0;
}

static int read_slowly(struct text_reader *r, const char **why)
{
	struct entry e = { .why = why };
	int rc = 0;

	r->n = 0;
	r->entry_line = 0;
	while (!rc) {
		int c = next_char(r);

		if (c == EOF) {
			rc = take_end_of_file(r, &e);
			break;
		}
		if (!e.started) {
			r->blank_start = c == ' ' || c == '\t';
			e.started = true;
		}
		if (!r->n) {
			r->column = r->entry_line == r->line ? r->column + 1 : 1;
			r->entry_line = r->line;
		}
		if (c == ';' && !e.quote)
			skip_comment(r);
		else if (c == '\n')
			rc = take_line_end(r, &e);
		else
			rc = take_zone_text(r, &e, c);
	}
	if (r->line > r->entry_line + 1)
		r->column = 0;
	r->text = r->own;
	return rc;
}

int text_read(struct text_reader *r, const char **why)
{
	if (!r->buffer) {
		r->buffer = malloc(r->cap);
		if (!r->buffer)
			return -ENOMEM;
	}
	return read_text_plain(r) ? 1 : read_slowly(r, why);
}

/* --- Tokens --- */

bool text_next(const char **cursor, struct text_token *token)
{
	const char *p = *cursor;
	char end = '\0';

	while (*p == ' ' || *p == '\t')
		p++;
	*token = (struct text_token){ .at = p, .quoted = *p == '"' };
	if (!*p)
		return false;
	if (token->quoted) {
		token->at = ++p;
		end = '"';
	}
	for (; *p && *p != end; p++) {
		if (!token->quoted && (*p == ' ' || *p == '\t' || *p == '"'))
			break;
		if (*p == '\\' && p[1])
			p++;
	}
	token->n = (size_t)(p - token->at);
	*cursor = token->quoted && *p ? p + 1 : p;
	return true;
}

bool text_is(const struct text_token *token, const char *word)
{
	return token->n == strlen(word) && !strncasecmp(token->at, word, token->n);
}

static uint32_t unit_seconds(char c)
{
	switch (c | 0x20) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	case 'w':
		return 604800;
	default:
		return 0;
	}
}

int text_to_period(const struct text_token *token, uint32_t max, uint32_t *seconds)
{
	uint64_t sum = 0, part = 0;
	bool digits = false;

	if (!token->n || token->quoted || !isdigit((unsigned char)token->at[0]))
		return ERR_ZONE;
	for (size_t i = 0; i < token->n; i++) {
		char c = token->at[i];

		if (isdigit((unsigned char)c)) {
			part = part * 10 + (unsigned)(c - '0');
			digits = true;
		} else {
			if (!digits || !unit_seconds(c))
				return ERR_ZONE;
			sum += part * unit_seconds(c);
			part = 0;
			digits = false;
		}
		if (part > max || sum > max)
			return ERR_ZONE;
	}
	sum += part;
	if (sum > max)
		return ERR_ZONE;
	*seconds = (uint32_t)sum;
	return 0;
}

int text_to_ttl(const struct text_token *token, uint32_t *seconds)
{
	int rc = text_to_period(token, UINT32_MAX, seconds);

	if (!rc && *seconds > DNS_TTL_MAX)
		*seconds = 0;
	return rc;
}
