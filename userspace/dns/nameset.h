/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of domain names. It tells which member is the deepest at or above a name, and whether a
 * member is at or below it.
 *
 * Members stand in canonical order, so those below a name follow right behind it. One binary search
 * finds the last member that does not come behind the name. All members above the name are above
 * that one, too, and each member notes the next one above it. A name whose last label no member has
 * costs no comparison.
 *
 * 	nameset_init ─► nameset_add_all ... ─► nameset_sort ─► nameset_find, nameset_has_under ─► nameset_fini
 *
 * Pure after nameset_sort(); any thread reads.
 */
#ifndef VOLLEY_DNS_NAMESET_H
#define VOLLEY_DNS_NAMESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

struct nameset {
	struct nameset_member {
		uint8_t name[NAME_FOLDED_BYTES]; /* folded */
		size_t above; /* 1 + the place of the deepest member above it; 0: none */
	} * members;
	size_t n;
	size_t cap;
	/* a bit for the last label of each; all of them where the root is a member */
	uint64_t tops;
};

/* An empty set with room for cap names. 0 or -ENOMEM; nameset_fini() is right after both. */
int nameset_init(struct nameset *s, size_t cap) __attribute__((warn_unused_result));
void nameset_fini(struct nameset *s);

/* Adds the name that text says; there is room. 0, or an error of name_from_text(). */
int nameset_add(struct nameset *s, const char *text) __attribute__((warn_unused_result));

/* The same for each name of a list, which NULL ends; NULL is the empty list. */
int nameset_add_all(struct nameset *s, const char *const *list) __attribute__((warn_unused_result));
size_t nameset_length(const char *const *list);

/* Once, behind the last name. */
void nameset_sort(struct nameset *s);

/* The deepest member that is `folded` or above it, as the place in folded where it begins; NULL:
 * none. */
const uint8_t *nameset_find(const struct nameset *s, const uint8_t *folded);

/* 1 + the place in .members of that one, of equal ones the last; 0: none. Places are in canonical
 * order. */
size_t nameset_place(const struct nameset *s, const uint8_t *folded);

/* Is a member equal to `folded`, or below it? */
bool nameset_has_under(const struct nameset *s, const uint8_t *folded);

#endif
