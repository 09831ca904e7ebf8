/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define WIDTH_MAX 255

struct out {
	char *at, *end; /* one octet is left for the NUL */
};

static int fault_generate(const char **why, const char *what)
{
	*why = what;
	return ERR_ZONE;
}

/* Reads a decimal without a sign at *@p and moves *@p past it. */
static bool read_generate_number(const char **p, const char *end, uint32_t *value)
{
	const char *begin = *p;
	uint64_t v = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		v = v * 10 + (unsigned)(**p - '0');
		if (v > INT32_MAX)
			return false;
	}
	*value = (uint32_t)v;
	return *p > begin;
}

int generate_read_range(struct generate_range *range, const struct text_token *token,
			const char **why)
{
	const char *p = token->at, *end = p + token->n;
	bool ok = !token->quoted && read_generate_number(&p, end, &range->first) && p < end &&
		  *p++ == '-' && read_generate_number(&p, end, &range->last);

	range->step = 1;
	if (ok && p < end)
		ok = *p++ == '/' && read_generate_number(&p, end, &range->step);
	if (!ok || p != end || !range->step || range->first > range->last)
		return fault_generate(
			why, "the range of $GENERATE is not FIRST-LAST or FIRST-LAST/STEP");
	if ((range->last - range->first) / range->step >= GENERATE_MAX)
		return fault_generate(why, "$GENERATE makes more than 65536 records");
	return 0;
}

static bool put_generate(struct out *o, const char *from, size_t n)
{
	if ((size_t)(o->end - o->at) < n)
		return false;
	memcpy(o->at, from, n);
	o->at += n;
	return true;
}

/* Writes hex digits, the last first, dots between: @width characters or more, all of @value. */
static bool put_nibbles(struct out *o, uint32_t value, unsigned width, bool capitals)
{
	const char *digits = capitals ? "0123456789ABCDEF" : "0123456789abcdef";

	for (;;) {
		if (!put_generate(o, &digits[value & 15], 1))
			return false;
		value >>= 4;
		width -= width > 0;
		if (!width && !value)
			return true;
		if (!put_generate(o, ".", 1))
			return false;
		width -= width > 0;
		if (!width && !value)
			return true;
	}
}

static bool put_generate_number(struct out *o, uint32_t value, unsigned width, char base)
{
	char text[WIDTH_MAX + 1];
	int n;

	switch (base) {
	case 'd':
		n = snprintf(text, sizeof(text), "%0*u", (int)width, value);
		break;
	case 'o':
		n = snprintf(text, sizeof(text), "%0*o", (int)width, value);
		break;
	case 'x':
		n = snprintf(text, sizeof(text), "%0*x", (int)width, value);
		break;
	case 'X':
		n = snprintf(text, sizeof(text), "%0*X", (int)width, value);
		break;
	default:
		return put_nibbles(o, value, width, base == 'N');
	}
	return put_generate(o, text, (size_t)n);
}

/* After "${": OFFSET, then optional WIDTH and BASE, then "}". */
static int put_braces(struct out *o, const char **text, uint32_t number, const char **why)
{
	static const char form[] = "a ${ } of $GENERATE is not ${OFFSET}, ${OFFSET,WIDTH} or "
				   "${OFFSET,WIDTH,BASE}, with a base of d, o, x, X, n, N";
	const char *p = *text, *end = p + strlen(p);
	bool negative = *p == '-';
	uint32_t offset, width = 0;
	char base = 'd';
	int64_t value;

	p += negative;
	if (!read_generate_number(&p, end, &offset))
		return fault_generate(why, form);
	if (*p == ',') {
		p++;
		if (!read_generate_number(&p, end, &width) || width > WIDTH_MAX)
			return fault_generate(why, form);
	}
	if (*p == ',' && p[1] && strchr("doxXnN", p[1])) {
		base = p[1];
		p += 2;
	}
	if (*p != '}')
		return fault_generate(why, form);
	value = (int64_t)number + (negative ? -(int64_t)offset : (int64_t)offset);
	if (value < 0 || value > UINT32_MAX)
		return fault_generate(why, "a number of $GENERATE is below 0 or above 4294967295");
	*text = p + 1;
	return put_generate_number(o, (uint32_t)value, width, base) ?
		       0 :
		       fault_generate(why, "a line of $GENERATE is too long");
}

int generate_line(char dst[GENERATE_LINE_MAX], const char *text, uint32_t number, const char **why)
{
	struct out o = { .at = dst, .end = dst + GENERATE_LINE_MAX - 1 };

	while (*text) {
		bool ok;

		if (text[0] == '$' && text[1] == '{') {
			int rc;

			text += 2;
			rc = put_braces(&o, &text, number, why);
			if (rc)
				return rc;
			continue;
		}
		if (text[0] == '$' && text[1] == '$') {
			ok = put_generate(&o, "\\$", 2);
			text += 2;
		} else if (text[0] == '$') {
			ok = put_generate_number(&o, number, 0, 'd');
			text++;
		} else {
			size_t n = text[0] == '\\' && text[1] ? 2 : 1;

			ok = put_generate(&o, text, n);
			text += n;
		}
		if (!ok)
			return fault_generate(why, "a line of $GENERATE is too long");
	}
	*o.at = '\0';
	return 0;
}
