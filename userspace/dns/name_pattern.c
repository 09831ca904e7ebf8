/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fnmatch(3) is not used: its time grows exponentially with the number of stars. */
#include <ctype.h>
#include <string.h>

#include "dns/name.h"

/* The length without the last dot, unless a backslash makes it a part of a label. In "a\\." the
 * backslash is the letter, and the dot is the last one. */
static size_t measure_without_dot(const char *text)
{
	size_t n = strlen(text), n_before = 0;

	if (!n || text[n - 1] != '.')
		return n;
	while (n_before < n - 1 && text[n - 2 - n_before] == '\\')
		n_before++;
	return n_before % 2 ? n : n - 1;
}

static bool is_same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * After a mismatch the last star takes one character more. Earlier stars need no second try: what
 * follows them was found as early as possible.
 */
bool name_is_like(const char *text, const char *pattern)
{
	const char *text_end = text + measure_without_dot(text);
	const char *end = pattern + measure_without_dot(pattern);
	const char *star = NULL, *star_text = NULL;

	while (text < text_end) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			star_text = text;
		} else if (pattern < end && (*pattern == '?' || is_same_letter(*pattern, *text))) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++star_text;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

/* The labels of the pattern behind the last * or ?: "*" and "a.b*" have none. */
static const char *find_plain_labels(const char *pattern)
{
	const char *wild = strpbrk(pattern, "*?"), *dot;

	if (!wild)
		return pattern;
	while ((dot = strpbrk(wild + 1, "*?")))
		wild = dot;
	dot = strchr(wild, '.');
	return dot ? dot + 1 : "";
}

/* A dot behind a backslash ends no label: such patterns get the root. */
unsigned int name_of_pattern(uint8_t folded[static NAME_FOLDED_BYTES], const char *pattern)
{
	const char *plain = find_plain_labels(pattern);
	uint8_t wire[DNS_NAME_MAX] = { 0 };
	int len = strchr(pattern, '\\') ? 0 :
					  name_from_text(wire, sizeof(wire), plain, strlen(plain));

	if (len <= 0) {
		len = 1;
		wire[0] = 0;
	}
	name_fold(folded, wire, (size_t)len);
	return (unsigned int)len;
}
