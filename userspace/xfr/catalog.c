/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xfr/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"

#define BLOCK_BYTES (64u << 10)

/* A block of the octets that members point to. */
struct catalog_block {
	struct catalog_block *next;
	size_t n;
	uint8_t bytes[BLOCK_BYTES];
};

void catalog_init(struct catalog *c)
{
	*c = (struct catalog){ 0 };
}

void catalog_fini(struct catalog *c)
{
	while (c->blocks) {
		struct catalog_block *next = c->blocks->next;

		free(c->blocks);
		c->blocks = next;
	}
	free(c->members);
	catalog_init(c);
}

/* --- Building --------------------------------------------------------------------------------- */

/* Copies at most a name or a group. */
static uint8_t *keep_catalog(struct catalog *c, const uint8_t *bytes, size_t n)
{
	struct catalog_block *b = c->blocks;
	uint8_t *at;

	if (!b || BLOCK_BYTES - b->n < n) {
		b = malloc(sizeof(*b));
		if (!b)
			return NULL;
		b->next = c->blocks;
		b->n = 0;
		c->blocks = b;
	}
	at = b->bytes + b->n;
	memcpy(at, bytes, n);
	b->n += n;
	return at;
}

static const uint8_t *keep_folded(struct catalog *c, const uint8_t *bytes, size_t n)
{
	uint8_t folded[NAME_FOLDED_BYTES];

	name_fold(folded, bytes, n);
	return keep_catalog(c, folded, n);
}

static int grow_catalog(struct catalog *c)
{
	size_t cap = c->cap ? 2 * c->cap : 64;
	struct catalog_member *members;

	if (c->n < c->cap)
		return 0;
	members = reallocarray(c->members, cap, sizeof(*members));
	if (!members)
		return -ENOMEM;
	c->members = members;
	c->cap = cap;
	return 0;
}

int catalog_add(struct catalog *c, const struct catalog_member *m)
{
	struct catalog_member *to;

	if (grow_catalog(c))
		return -ENOMEM;
	to = &c->members[c->n];
	*to = *m;
	to->name = keep_folded(c, m->name, name_bytes(m->name));
	to->unique = keep_folded(c, m->unique, 1u + m->unique[0]);
	if (m->coo)
		to->coo = keep_folded(c, m->coo, name_bytes(m->coo));
	if (m->group)
		to->group = keep_catalog(c, m->group, m->group_bytes);
	if (!to->name || !to->unique || !to->coo != !m->coo || !to->group != !m->group)
		return -ENOMEM;
	c->n++;
	return 0;
}

/* A wire name ends with the root label, so no name is a prefix of another one. */
static int compare_catalog_names(const uint8_t *a, const uint8_t *b)
{
	size_t n = name_bytes(a), m = name_bytes(b);

	return memcmp(a, b, n < m ? n : m);
}

static int compare_members(const void *a, const void *b)
{
	const struct catalog_member *x = a, *y = b;

	return compare_catalog_names(x->name, y->name);
}

int catalog_sort(struct catalog *c)
{
	if (c->n)
		qsort(c->members, c->n, sizeof(*c->members), compare_members);
	for (size_t i = 1; i < c->n; i++)
		if (!compare_members(&c->members[i - 1], &c->members[i]))
			return ERR_FORMAT;
	return 0;
}

const struct catalog_member *catalog_find(const struct catalog *c, const uint8_t *name)
{
	struct catalog_member key = { .name = name };

	return c->n ? bsearch(&key, c->members, c->n, sizeof(key), compare_members) : NULL;
}

/* --- Comparing -------------------------------------------------------------------------------- */

static bool same_octets(const uint8_t *a, size_t n, const uint8_t *b, size_t m)
{
	if (!a || !b)
		return !a && !b;
	return n == m && !memcmp(a, b, n);
}

static bool same_name(const uint8_t *a, const uint8_t *b)
{
	return a && b ? !compare_catalog_names(a, b) : !a && !b;
}

static bool same_unique(const struct catalog_member *a, const struct catalog_member *b)
{
	return same_octets(a->unique, 1u + a->unique[0], b->unique, 1u + b->unique[0]);
}

static int tell_changed(const struct catalog_member *before, const struct catalog_member *now,
			catalog_visit *visit, void *user)
{
	if (!same_unique(before, now))
		return visit(user, CATALOG_RESET, before, now);
	if (same_octets(before->group, before->group_bytes, now->group, now->group_bytes) &&
	    same_name(before->coo, now->coo))
		return 0;
	return visit(user, CATALOG_GROUP, before, now);
}

static const struct catalog_member *member_at(const struct catalog *c, size_t i)
{
	return i < c->n ? &c->members[i] : NULL;
}

int catalog_compare(const struct catalog *before, const struct catalog *now, catalog_visit *visit,
		    void *user)
{
	int rc = 0;

	for (int pass = 0; pass < 2; pass++) {
		size_t i = 0, k = 0;

		while (!rc && (i < before->n || k < now->n)) {
			const struct catalog_member *b = member_at(before, i),
						    *n = member_at(now, k);
			int order = !b ? 1 : !n ? -1 : compare_members(b, n);

			if (order < 0 && !pass)
				rc = visit(user, CATALOG_GO, b, NULL);
			else if (order > 0 && pass)
				rc = visit(user, CATALOG_COME, NULL, n);
			else if (!order && pass)
				rc = tell_changed(b, n, visit, user);
			i += order <= 0;
			k += order >= 0;
		}
	}
	return rc;
}

enum catalog_move catalog_may_move(const struct catalog_member *from, const uint8_t *to,
				   const struct catalog_member *now)
{
	if (!from->coo || !same_name(from->coo, to))
		return CATALOG_STAYS;
	return same_unique(from, now) ? CATALOG_MOVES : CATALOG_MOVES_RESET;
}
