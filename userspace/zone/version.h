/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of the versions of a zone that share one image, and how the memory of a version is
 * freed.
 *
 *	image ◄── 0 ◄─► 4 ◄─► 5 ◄─► 9         in a list, by number; the others are freed
 *	                └ garbage: what 4 has and 5 has not
 *
 * When a version is freed, the older version next to it in the list may use blocks of its garbage.
 * Blocks that are not younger than the older version become its garbage. No version uses the others
 * any more: they are freed. So an old version that is held for an hour keeps its own blocks, but no
 * block that came and went in the meantime.
 */
#ifndef VOLLEY_ZONE_VERSION_H
#define VOLLEY_ZONE_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/overlay.h"

/* Names that an edit touched, in a list of blocks: folded wire, one after the other. */
struct overlay_names {
	struct overlay_names *next;
	uint32_t n_bytes, cap;
	uint8_t bytes[];
};

/* Makes a finished image the first version of a family. Returns 0 or -ENOMEM. */
int version_found(struct zone *z) __attribute__((warn_unused_result));

/* The octets of its image, with the overhead of its blocks of memory. */
size_t version_image_bytes(const struct zone *z);

/*
 * A draft of the version after @base: a copy with the next number, in no list. The caller holds
 * @base as long as the draft exists. NULL: no memory.
 */
struct zone *version_draft(const struct zone *base);

/* Frees a draft and all blocks that were born with it. */
void version_give_up(struct zone *draft);

/*
 * Makes the draft the newest version, with one reference. The blocks that it dropped become the
 * garbage of @base. False if @base has a successor already: @base is as before.
 */
bool version_publish(struct zone *draft, struct zone *base, const struct overlay_edit *e);

/* Notes a name (folded) as touched. Returns 0 or -ENOMEM. */
int version_note(struct zone *draft, const uint8_t *name, unsigned n)
	__attribute__((warn_unused_result));

/* The names that the edit of a draft has touched, as version_changed() gives them. */
bool version_touched(const struct zone *draft, uint8_t **names, size_t *n_bytes);

/*
 * The names that may differ between two versions, one after the other, in memory that the caller
 * frees. False: they are not known, or no memory; the caller must compare all names.
 */
bool version_changed(const struct zone *a, const struct zone *b, uint8_t **names, size_t *n_bytes);

/* Names in canonical order, each once. They point into the caller's bytes. */
struct name_list {
	const uint8_t **names;
	size_t n;
};

/* Returns 0 or -ENOMEM; name_list_free() is allowed in either case. */
int name_list_make(struct name_list *list, const uint8_t *bytes, size_t n_bytes)
	__attribute__((warn_unused_result));
void name_list_free(struct name_list *list);

#endif
