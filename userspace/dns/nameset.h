/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of domain names. It finds the deepest member at or above a name, and tells if a member is
 * at or below it.
 *
 * Members are in canonical order, so those below a name follow it directly. A binary search finds
 * the last member that is not after the name. All members above the name are also above that
 * member, and each member notes the next one above it. If no member has the last label of the name,
 * no comparison is needed.
 *
 * 	nameset_init ─► nameset_add_all ... ─► nameset_sort
 * 	             ─► nameset_find, nameset_has_under ... ─► nameset_fini
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
	/* a bit for the last label of each; all bits if the root is a member */
	uint64_t tops;
};

/*
 * Makes an empty set with room for cap names. 0 or -ENOMEM; nameset_fini() is allowed after both.
 */
int nameset_init(struct nameset *s, size_t cap) __attribute__((warn_unused_result));
void nameset_fini(struct nameset *s);

/* Adds a name as text; there must be room. 0, or an error of name_from_text(). */
int nameset_add(struct nameset *s, const char *text) __attribute__((warn_unused_result));

/* The same for each name of a list that ends with NULL; a NULL list is empty. */
int nameset_add_all(struct nameset *s, const char *const *list) __attribute__((warn_unused_result));
size_t nameset_length(const char *const *list);

/* Call it once, after the last name. */
void nameset_sort(struct nameset *s);

/*
 * The deepest member that is `folded` or above it, as a pointer to its begin in folded; NULL: none.
 */
const uint8_t *nameset_find(const struct nameset *s, const uint8_t *folded);

/* 1 + its place in .members, of equal ones the last; 0: none. Places are in canonical order. */
size_t nameset_place(const struct nameset *s, const uint8_t *folded);

/* True if a member is `folded` or below it. */
bool nameset_has_under(const struct nameset *s, const uint8_t *folded);

#endif
