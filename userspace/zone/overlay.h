/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overlay of a version: the names that differ from the image, and what stands there now.
 *
 *	trie, by hash of (parent, label) ──► overlay_node ◄── tree, in canonical order
 *
 * An overlay_node replaces a node of the image and keeps its number, so that what is below is still
 * found by it; or is new, with a number behind those of the image; or says that a node of the image
 * is gone. It is one block with its owner, its RRsets and their rdata. The trie answers the lookup,
 * which asks it before the image, with one hash for both. The tree (a treap) answers what asks for
 * neighbours: proofs, walks, and whether there is anything below a name.
 *
 * Nothing here changes once its version is finished. An edit copies the way from the root to what
 * it changes, once: what was born in the edit itself it changes in place. Each block knows with
 * which version it was born, which is all that its freeing needs (zone/version.h).
 */
#ifndef VOLLEY_ZONE_OVERLAY_H
#define VOLLEY_ZONE_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/image.h"

/* The head of every block. */
struct overlay_item {
	struct overlay_item *next; /* among garbage; readers never look */
	uint64_t born;             /* the number of the first version that has it */
	size_t bytes;
};

enum overlay_kind {
	OVERLAY_NEW,      /* no such name in the image */
	OVERLAY_REPLACED, /* the node of the image with this number */
	OVERLAY_GONE,
};

/* What the tree looks for. */
enum {
	OVERLAY_NSEC = 0x01,  /* has an NSEC */
	OVERLAY_NSEC3 = 0x02, /* is in the NSEC3 chain of the image */
};

struct overlay_node {
	struct overlay_item item;
	uint64_t hash;
	uint32_t id;
	uint32_t at; /* the last node of the image at or before it; of one of the image itself */
	uint8_t kind;
	uint8_t has;
	uint8_t owner_bytes;
	uint16_t n_rrsets;
	struct zone_node node; /* flags with NODE_OVERLAY, parent and depth; the rest is 0 */
	struct zone_rrset
		rrsets[]; /* rdata: octets from the RRset itself; then the owner, the rdata */
};

#define OVERLAY_FAN_BITS 4
#define OVERLAY_FAN      (1 << OVERLAY_FAN_BITS)

/* A slot holds NULL, a trie, or an overlay_node with the lowest bit set. */
struct overlay_trie {
	struct overlay_item item;
	uintptr_t slot[OVERLAY_FAN];
};

struct overlay_tree {
	struct overlay_item item;
	struct overlay_node *node;
	struct overlay_tree *left, *right;
	uint64_t rank; /* no lower than those below */
	uint32_t n_names, n_new, n_gone;
	uint8_t has; /* in this subtree */
};

/* A place in canonical order. */
struct overlay_key {
	uint32_t at;
	bool is_new;          /* behind the node of the image at @at */
	bool subtree;         /* behind all that is below @owner, which must be new here */
	bool before;          /* just before the place */
	const uint8_t *owner; /* of what is new */
};

static inline const struct overlay_node *overlay_of(const struct zone_node *node)
{
	return (const struct overlay_node *)(const void *)((const uint8_t *)node -
							   offsetof(struct overlay_node, node));
}

static inline const uint8_t *overlay_owner(const struct overlay_node *o)
{
	return (const uint8_t *)(o->rrsets + o->n_rrsets);
}

/* The number by which children know their parent. */
static inline uint32_t node_id(const struct zone *z, const struct zone_node *node)
{
	return node->flags & NODE_OVERLAY ? overlay_of(node)->id : (uint32_t)(node - z->nodes);
}

static inline const struct overlay_node *overlay_leaf(uintptr_t slot)
{
	return (const struct overlay_node *)(slot & ~(uintptr_t)1);
}

/* What the overlay says of the child of @parent with the folded @label; NULL: nothing. */
const struct overlay_node *overlay_find(const struct zone *z, uint64_t hash, uint32_t parent,
					const uint8_t *label);

/* What the overlay says of the node of the image at @index; NULL: nothing. */
const struct overlay_node *overlay_find_index(const struct zone *z, uint32_t index);

/* The place of a node; the key borrows the owner of one that is new. */
struct overlay_key overlay_key_of(const struct zone *z, const struct zone_node *node);

/* The place of a name that is not there (folded wire, under the apex). */
struct overlay_key overlay_key_absent(const struct zone *z, const uint8_t *name);

/* The first one behind a place, gone or not; NULL. O(log changed names). */
const struct overlay_node *overlay_behind(const struct zone *z, const struct overlay_key *key);

/* The last one at or before a place that has one of @has; @key NULL: of all. O(log changed
 * names). */
const struct overlay_node *overlay_before(const struct zone *z, const struct overlay_key *key,
					  uint8_t has);

/* Does a place stand behind a node of the overlay (> 0), at it (0), before it (< 0)? */
int overlay_cmp(const struct overlay_key *key, const struct overlay_node *o);

/* Is there any name below the node? O(log names). */
bool overlay_has_below(const struct zone *z, const struct zone_node *node);

/* --- Changing --- */

/* What an edit keeps beside its draft. */
struct overlay_edit {
	struct zone *z; /* the draft: born with its number */
	struct overlay_item **garbage;
	size_t n_garbage, garbage_cap;
};

/* A block of the draft, zeroed; NULL without memory. */
void *overlay_alloc(struct overlay_edit *e, size_t bytes);
/* Frees a block of the draft that is not in it any more, or that never was. */
void overlay_release(struct overlay_edit *e, void *block);

/*
 * Puts the node in, in place of the one with its number if there is one. Returns 0, -ENOMEM or
 * ERR_LIMIT; then the node is still the caller's, and the draft, which still holds together, can
 * only be given up.
 */
int overlay_put(struct overlay_edit *e, struct overlay_node *o) __attribute__((warn_unused_result));

/* Takes a new node out. Returns 0 or -ENOMEM, as above. */
int overlay_remove(struct overlay_edit *e, const struct overlay_node *o)
	__attribute__((warn_unused_result));

/* Frees all blocks of a version that were born behind @number. O(those). */
void overlay_free_younger(struct zone *z, uint64_t number);

#endif
