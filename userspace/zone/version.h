/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of a zone that share one image: which there are, and what goes when one of them
 * goes.
 *
 *	image ◄── 0 ◄─► 4 ◄─► 5 ◄─► 9         in a list, by number; those between have gone
 *	                └ garbage: what 4 has and 5 has not
 *
 * When a version goes, its garbage goes to the one before it that is still there: that one may
 * have it too. What was born behind that one, nobody has any more. So an old version that is held
 * for an hour holds what it shows itself, and nothing of what came and went meanwhile.
 */
#ifndef VOLLEY_ZONE_VERSION_H
#define VOLLEY_ZONE_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/overlay.h"

/* Names that an edit touched, in a list of blocks: folded wire, one behind the other. */
struct overlay_names {
	struct overlay_names *next;
	uint32_t n_bytes, cap;
	uint8_t bytes[];
};

/* Makes a finished image the first version of a family. Returns 0 or -ENOMEM. */
int version_found(struct zone *z) __attribute__((warn_unused_result));

/*
 * A draft for the version behind @base, which is held by the caller as long as there is a draft: a
 * copy with the next number that is in no list. NULL without memory.
 */
struct zone *version_draft(const struct zone *base);

/* Frees a draft and all that was born with it. */
void version_give_up(struct zone *draft);

/*
 * Makes the draft the newest version, with one reference, and the blocks that it dropped the
 * garbage of the one before. False where @base has a successor already: nothing was done.
 */
bool version_publish(struct zone *draft, struct zone *base, const struct overlay_edit *e);

/* Notes a name (folded) as touched. Returns 0 or -ENOMEM. */
int version_note(struct zone *draft, const uint8_t *name, unsigned n)
	__attribute__((warn_unused_result));

/* Those that the edit of a draft has touched, likewise. */
bool version_touched(const struct zone *draft, uint8_t **names, size_t *n_bytes);

/*
 * The names that may differ between two versions, one behind the other, in memory that the caller
 * frees. False where that is not known, or there is no memory for it: look at all names.
 */
bool version_changed(const struct zone *a, const struct zone *b, uint8_t **names, size_t *n_bytes);

/* Names in canonical order, each once; they stand in the caller's bytes. */
struct name_list {
	const uint8_t **names;
	size_t n;
};

/* Returns 0 or -ENOMEM; name_list_free() is allowed in either case. */
int name_list_make(struct name_list *list, const uint8_t *bytes, size_t n_bytes)
	__attribute__((warn_unused_result));
void name_list_free(struct name_list *list);

#endif
