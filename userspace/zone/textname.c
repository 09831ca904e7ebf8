/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/text.h"

#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"

/* Longer names are not plain, so the loop need not check the length of the whole name. */
#define PLAIN_MAX 200

/* The characters of a plain label. */
static const uint8_t plain[256] = {
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['-'] = 1, ['_'] = 1, ['*'] = 1,
};

unsigned textname_read_plain(const char **cursor, const uint8_t *origin, unsigned origin_bytes,
			     uint8_t out[static 256])
{
	const char *text = *cursor;
	unsigned label = 0, at = 1; /* index of the label's length, and of the next character */

	for (;; text++) {
		uint8_t c = (uint8_t)*text;

		if (plain[c]) {
			if (at > PLAIN_MAX)
				return 0;
			out[at++] = c;
			continue;
		}
		if (c != '.')
			break;
		if (at == label + 1 || at - label - 1 > DNS_LABEL_MAX)
			return 0;
		out[label] = (uint8_t)(at - label - 1);
		label = at++;
	}
	if ((*text && *text != ' ' && *text != '\t') || text == *cursor)
		return 0;
	if (at == label + 1) { /* it ends with a dot */
		out[label] = 0;
		*cursor = text;
		return at;
	}
	if (at - label - 1 > DNS_LABEL_MAX || at + origin_bytes > DNS_NAME_MAX)
		return 0;
	*cursor = text;
	out[label] = (uint8_t)(at - label - 1);
	memcpy(out + at, origin, origin_bytes);
	return at + origin_bytes;
}

static bool is_absolute(const struct text_token *token)
{
	size_t backslashes = 0;

	if (!token->n || token->at[token->n - 1] != '.')
		return false;
	while (backslashes + 1 < token->n && token->at[token->n - 2 - backslashes] == '\\')
		backslashes++;
	return backslashes % 2 == 0;
}

static int read_odd(const struct text_token *token, const uint8_t *origin, unsigned origin_bytes,
		    uint8_t *out)
{
	int n = name_from_text(out, DNS_NAME_MAX, token->at, token->n);

	if (n < 0 || is_absolute(token))
		return n;
	if ((unsigned)n - 1 + origin_bytes > DNS_NAME_MAX)
		return ERR_NAME_LONG;
	memcpy(out + n - 1, origin, origin_bytes);
	return n - 1 + (int)origin_bytes;
}

int textname_read(const struct text_token *token, const uint8_t *origin, unsigned origin_bytes,
		  uint8_t out[static 256])
{
	if (token->quoted || !token->n)
		return ERR_NAME;
	if (token->n == 1 && token->at[0] == '@') {
		memcpy(out, origin, origin_bytes);
		return (int)origin_bytes;
	}
	if (token->n == 1 && token->at[0] == '.') {
		out[0] = 0;
		return 1;
	}
	return read_odd(token, origin, origin_bytes, out);
}
