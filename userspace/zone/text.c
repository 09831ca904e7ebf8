/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One pass over the characters with two bits of state: inside quotes, inside parentheses.
 */
#include "zone/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "dns/proto.h"

void text_reader_init(struct text_reader *r, FILE *fp)
{
	*r = (struct text_reader){ .fp = fp, .line = 1 };
}

void text_reader_fini(struct text_reader *r)
{
	free(r->text);
}

/* State of the entry that is being read. */
struct entry {
	bool quote, paren, started;
	uint32_t open_line; /* of the quote or parenthesis */
	const char **why;
};

static int fault(struct text_reader *r, struct entry *e, uint32_t line, const char *why)
{
	r->entry_line = line;
	*e->why = why;
	return ERR_ZONE;
}

static int append(struct text_reader *r, struct entry *e, int c)
{
	if (r->n + 2 > r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 1024;
		char *text = realloc(r->text, cap);

		if (!text)
			return -ENOMEM;
		r->text = text;
		r->cap = cap;
	}
	if (r->n >= TEXT_ENTRY_MAX)
		return fault(r, e, r->entry_line, "this entry is too long for any record");
	r->text[r->n++] = (char)c;
	r->text[r->n] = '\0';
	return 0;
}

/* A blank, unless nothing stands before it. */
static int append_blank(struct text_reader *r, struct entry *e)
{
	return r->n ? append(r, e, ' ') : 0;
}

static void skip_comment(struct text_reader *r)
{
	int c;

	do
		c = getc_unlocked(r->fp);
	while (c != EOF && c != '\n');
	if (c == '\n')
		ungetc(c, r->fp);
}

static int take_escape(struct text_reader *r, struct entry *e)
{
	int next = getc_unlocked(r->fp), rc;

	if (next == EOF || next == '\n' || next == '\r' || next == '\0')
		return fault(r, e, r->line, "a backslash stands at the end of the line");
	rc = append(r, e, '\\');
	return rc ? rc : append(r, e, next);
}

static int take_paren(struct text_reader *r, struct entry *e, bool open)
{
	if (open == e->paren)
		return fault(r, e, r->line,
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
	return append(r, e, '"');
}

/* One character that is no line end. */
static int take(struct text_reader *r, struct entry *e, int c)
{
	if (c == '\0')
		return fault(r, e, r->line, "a NUL octet stands in the text");
	if (c == '"')
		return take_quote(r, e);
	if (c == '\\')
		return take_escape(r, e);
	if (e->quote)
		return append(r, e, c);
	if (c == '(' || c == ')')
		return take_paren(r, e, c == '(');
	if (c == ' ' || c == '\t' || c == '\r')
		return append_blank(r, e);
	return append(r, e, c);
}

/* A line end: 1 when the entry ends with it. */
static int take_line_end(struct text_reader *r, struct entry *e)
{
	uint32_t line = r->line++;

	if (e->quote)
		return fault(r, e, line, "a quote is not closed on its line");
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
		return fault(r, e, r->line, "a quote is not closed on its line");
	if (e->paren)
		return fault(r, e, e->open_line, "a parenthesis is not closed");
	return r->n != 0;
}

int text_read(struct text_reader *r, const char **why)
{
	struct entry e = { .why = why };
	int rc = 0;

	r->n = 0;
	while (!rc) {
		int c = getc_unlocked(r->fp);

		if (c == EOF)
			return take_end_of_file(r, &e);
		if (!e.started) {
			r->blank_start = c == ' ' || c == '\t';
			e.started = true;
		}
		if (!r->n)
			r->entry_line = r->line;
		if (c == ';' && !e.quote)
			skip_comment(r);
		else if (c == '\n')
			rc = take_line_end(r, &e);
		else
			rc = take(r, &e, c);
	}
	return rc;
}

bool text_next(const char **cursor, struct text_token *token)
{
	const char *p = *cursor + strspn(*cursor, " \t");
	char end = '\0';

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

int text_to_number(const struct text_token *token, uint32_t max, uint32_t *value)
{
	uint64_t v = 0;

	if (!token->n || token->quoted)
		return ERR_ZONE;
	for (size_t i = 0; i < token->n; i++) {
		if (!isdigit((unsigned char)token->at[i]))
			return ERR_ZONE;
		v = v * 10 + (unsigned)(token->at[i] - '0');
		if (v > max)
			return ERR_ZONE;
	}
	*value = (uint32_t)v;
	return 0;
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

int text_to_ttl(const struct text_token *token, uint32_t *seconds)
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
		if (part > DNS_TTL_MAX || sum > DNS_TTL_MAX)
			return ERR_ZONE;
	}
	sum += part;
	if (sum > DNS_TTL_MAX)
		return ERR_ZONE;
	*seconds = (uint32_t)sum;
	return 0;
}
