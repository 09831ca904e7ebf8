/* SPDX-License-Identifier: GPL-2.0-only */
#include "zone/textname.h"

#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"

/* No longer one: no check of the whole name's length within. */
#define PLAIN_MAX 200

/* What may stand in a plain label. */
static const uint8_t plain[256] = {
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['-'] = 1, ['_'] = 1, ['*'] = 1,
};

/* Labels of plain characters only, as nearly all names are. 0: not such a name. */
static unsigned read_plain(const char *text, size_t n, const uint8_t *origin, unsigned origin_bytes,
			   uint8_t *out)
{
	unsigned label = 0, at = 1; /* where the length of the label goes, and the next character */

	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)text[i];

		if (plain[c]) {
			out[at++] = c;
			continue;
		}
		if (c != '.' || at == label + 1 || at - label - 1 > DNS_LABEL_MAX)
			return 0;
		out[label] = (uint8_t)(at - label - 1);
		label = at++;
	}
	if (at == label + 1) { /* it ended in a dot */
		out[label] = 0;
		return at;
	}
	if (at - label - 1 > DNS_LABEL_MAX || at + origin_bytes > DNS_NAME_MAX)
		return 0;
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
	unsigned n = 0;

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
	if (token->n <= PLAIN_MAX)
		n = read_plain(token->at, token->n, origin, origin_bytes, out);
	return n ? (int)n : read_odd(token, origin, origin_bytes, out);
}
