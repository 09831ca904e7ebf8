/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/rights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN "..."

/* The end of the first ":NUMBER: " in the text; NULL: there is none. */
static char *find_quoted_place(char *text)
{
	for (char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
		size_t n = strspn(at + 1, "0123456789");

		if (n && !strncmp(at + 1 + n, ": ", 2))
			return at + 1 + n + 2;
	}
	return NULL;
}

/* The hidden words get no longer by this, unless they are shorter than HIDDEN: then they are
 * removed. */
void quoted_hide_text(char *text)
{
	char *at = find_quoted_place(text), *first = at ? strchr(at, '\'') : NULL;
	char *last = at ? strrchr(at, '\'') : NULL;
	size_t n;

	if (!first || last == first)
		return;
	n = (size_t)(last - first - 1) >= strlen(HIDDEN) ? strlen(HIDDEN) : 0;
	memcpy(first + 1, HIDDEN, n);
	memmove(first + 1 + n, last, strlen(last) + 1);
}

static int hide_string(json_t *string)
{
	char *text;
	int err;

	if (!strchr(json_string_value(string), '\''))
		return 0;
	text = strdup(json_string_value(string));
	if (!text)
		return -ENOMEM;
	quoted_hide_text(text);
	err = json_string_set(string, text) ? -ENOMEM : 0;
	free(text);
	return err;
}

int quoted_hide(json_t *value)
{
	const char *name;
	json_t *child;
	size_t i;
	int err = 0;

	if (json_is_string(value))
		return hide_string(value);
	json_array_foreach(value, i, child)
		if (!err)
			err = quoted_hide(child);
	json_object_foreach(value, name, child)
		if (!err)
			err = quoted_hide(child);
	return err;
}
