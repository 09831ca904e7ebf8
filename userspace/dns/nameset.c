/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/nameset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nameset_init(struct nameset *s, size_t cap)
{
	*s = (struct nameset){ .cap = cap };
	s->members = calloc(cap ? cap : 1, sizeof(*s->members));
	return s->members ? 0 : -ENOMEM;
}

void nameset_fini(struct nameset *s)
{
	free(s->members);
	*s = (struct nameset){ 0 };
}

/* The bit of the last label; 0 for the root, which has none. */
static uint64_t top_of(const uint8_t *folded)
{
	const uint8_t *label = folded;
	uint32_t hash = 0;

	for (; *folded; folded += 1 + *folded)
		label = folded;
	for (unsigned int i = 0; i <= *label; i++)
		hash = hash * 31 + label[i];
	return *label ? 1ull << (hash & 63) : 0;
}

int nameset_add(struct nameset *s, const char *text)
{
	uint8_t *name = s->members[s->n].name;
	int bytes = name_from_text(name, DNS_NAME_MAX, text, strlen(text));

	if (bytes < 0)
		return bytes;
	name_fold(name, name, (size_t)bytes);
	s->tops |= *name ? top_of(name) : UINT64_MAX;
	s->n++;
	return 0;
}

int nameset_add_all(struct nameset *s, const char *const *list)
{
	int err = 0;

	for (; list && *list && !err; list++)
		err = nameset_add(s, *list);
	return err;
}

size_t nameset_length(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int compare_nameset(const void *a, const void *b)
{
	const struct nameset_member *first = a, *second = b;

	return name_canonical_cmp(first->name, second->name);
}

/* 1 + the place of the deepest member that is `folded` or above it: the member at place n - 1, or
 * one above that; 0: none. */
static size_t climb(const struct nameset *s, size_t n, const uint8_t *folded)
{
	while (n && !name_is_under(folded, s->members[n - 1].name))
		n = s->members[n - 1].above;
	return n;
}

void nameset_sort(struct nameset *s)
{
	qsort(s->members, s->n, sizeof(*s->members), compare_nameset);
	for (size_t i = 0; i < s->n; i++)
		s->members[i].above = climb(s, i, s->members[i].name);
}

/* The number of members before `folded`; with_equal: or equal to it. */
static size_t count_before(const struct nameset *s, const uint8_t *folded, bool with_equal)
{
	size_t first = 0, end = s->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int order = name_canonical_cmp(s->members[middle].name, folded);

		if (order < 0 || (with_equal && !order))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

size_t nameset_place(const struct nameset *s, const uint8_t *folded)
{
	if (s->tops != UINT64_MAX && !(s->tops & top_of(folded)))
		return 0;
	return climb(s, count_before(s, folded, true), folded);
}

const uint8_t *nameset_find(const struct nameset *s, const uint8_t *folded)
{
	size_t n = nameset_place(s, folded);

	if (!n)
		return NULL;
	return folded + name_bytes(folded) - name_bytes(s->members[n - 1].name);
}

/* Only the first member that is not before `folded` can be at or below it. */
bool nameset_has_under(const struct nameset *s, const uint8_t *folded)
{
	size_t n = count_before(s, folded, false);

	return n < s->n && name_is_under(s->members[n].name, folded);
}
