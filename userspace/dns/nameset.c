/* SPDX-License-Identifier: GPL-2.0-only */
#include "dns/nameset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nameset_init(struct nameset *s, size_t cap)
{
	*s = (struct nameset){ .cap = cap };
	s->names = calloc(cap ? cap : 1, sizeof(*s->names));
	return s->names ? 0 : -ENOMEM;
}

void nameset_fini(struct nameset *s)
{
	free(s->names);
	*s = (struct nameset){ 0 };
}

/* The bit of the last label; of the root, which has none, 0. */
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
	uint8_t *name = s->names[s->n];
	int bytes = name_from_text(name, DNS_NAME_MAX, text, strlen(text));

	if (bytes < 0)
		return bytes;
	name_fold(name, name, (size_t)bytes);
	s->tops |= *name ? top_of(name) : UINT64_MAX;
	s->n++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return name_canonical_cmp(a, b);
}

void nameset_sort(struct nameset *s)
{
	qsort(s->names, s->n, sizeof(*s->names), compare);
}

const uint8_t *nameset_find(const struct nameset *s, const uint8_t *folded)
{
	if (s->tops != UINT64_MAX && !(s->tops & top_of(folded)))
		return NULL;
	for (const uint8_t *at = folded; at; at = name_parent(at))
		if (bsearch(at, s->names, s->n, sizeof(*s->names), compare))
			return at;
	return NULL;
}

/* The first member that is not before `folded` is under it, or none is. */
bool nameset_has_under(const struct nameset *s, const uint8_t *folded)
{
	size_t first = 0, end = s->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (name_canonical_cmp(s->names[middle], folded) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first < s->n && name_is_under(s->names[first], folded);
}
