/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overlay of a version: the names that differ from the image, and what stands there now.
 *
 *	trie, by hash of (parent, label) ──► over_node ◄── tree, in canonical order
 *
 * An over_node replaces a node of the image and keeps its number, so that what is below is still
 * found by it; or is new, with a number behind those of the image; or says that a node of the image
 * is gone. It is one block with its owner, its RRsets and their rdata. The trie answers the lookup,
 * which asks it before the image, with one hash for both. The tree (a treap) answers what asks for
 * neighbours: proofs, walks, and whether there is anything below a name.
 *
 * Nothing here changes once its version is finished. An edit copies the way from the root to what it
 * changes, once: what was born in the edit itself it changes in place. Each block knows with which
 * version it was born, which is all that its freeing needs (zone/version.h).
 */
#ifndef VOLLEY_ZONE_OVER_H
#define VOLLEY_ZONE_OVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/image.h"

/* The head of every block. */
struct over_item {
	struct over_item *next; /* among garbage; readers never look */
	uint64_t born;          /* the number of the first version that has it */
	size_t bytes;
};

enum over_kind {
	OVER_NEW,      /* no such name in the image */
	OVER_REPLACED, /* the node of the image with this number */
	OVER_GONE,
};

/* What the tree looks for. */
enum {
	OVER_NSEC = 0x01,  /* has an NSEC */
	OVER_NSEC3 = 0x02, /* is in the NSEC3 chain of the image */
};

struct over_node {
	struct over_item item;
	uint64_t hash;
	uint32_t id;
	uint32_t at; /* the last node of the image at or before it; of one of the image itself */
	uint8_t kind;
	uint8_t has;
	uint8_t owner_bytes;
	uint16_t n_rrsets;
	struct zone_node node; /* flags with NODE_OVER, parent and depth; the rest is 0 */
	struct zone_rrset
		rrsets[]; /* rdata: octets from the RRset itself; then the owner, the rdata */
};

#define OVER_FAN_BITS 4
#define OVER_FAN      (1 << OVER_FAN_BITS)

/* A slot holds NULL, a trie, or an over_node with the lowest bit set. */
struct over_trie {
	struct over_item item;
	uintptr_t slot[OVER_FAN];
};

struct over_tree {
	struct over_item item;
	struct over_node *node;
	struct over_tree *left, *right;
	uint64_t rank; /* no lower than those below */
	uint32_t n_names, n_new, n_gone;
	uint8_t has; /* in this subtree */
};

/* A place in canonical order. */
struct over_key {
	uint32_t at;
	bool is_new;          /* behind the node of the image at @at */
	bool subtree;         /* behind all that is below @owner, which must be new here */
	bool before;          /* just before the place */
	const uint8_t *owner; /* of what is new */
};

static inline const struct over_node *over_of(const struct zone_node *node)
{
	return (const struct over_node *)(const void *)((const uint8_t *)node -
							offsetof(struct over_node, node));
}

static inline const uint8_t *over_owner(const struct over_node *o)
{
	return (const uint8_t *)(o->rrsets + o->n_rrsets);
}

/* The number by which children know their parent. */
static inline uint32_t node_id(const struct zone *z, const struct zone_node *node)
{
	return node->flags & NODE_OVER ? over_of(node)->id : (uint32_t)(node - z->nodes);
}

static inline const struct over_node *over_leaf(uintptr_t slot)
{
	return (const struct over_node *)(slot & ~(uintptr_t)1);
}

/* What the overlay says of the child of @parent with the folded @label; NULL: nothing. */
const struct over_node *over_find(const struct zone *z, uint64_t hash, uint32_t parent,
				  const uint8_t *label);

/* What the overlay says of the node of the image at @index; NULL: nothing. */
const struct over_node *over_find_index(const struct zone *z, uint32_t index);

/* The place of a node; the key borrows the owner of one that is new. */
struct over_key over_key_of(const struct zone *z, const struct zone_node *node);

/* The place of a name that is not there (folded wire, under the apex). */
struct over_key over_key_absent(const struct zone *z, const uint8_t *name);

/* The first one behind a place, gone or not; NULL. O(log changed names). */
const struct over_node *over_behind(const struct zone *z, const struct over_key *key);

/* The last one at or before a place that has one of @has; @key NULL: of all. O(log changed names). */
const struct over_node *over_before(const struct zone *z, const struct over_key *key, uint8_t has);

/* Does a place stand behind a node of the overlay (> 0), at it (0), before it (< 0)? */
int over_cmp(const struct over_key *key, const struct over_node *o);

/* Is there any name below the node? O(log names). */
bool over_has_below(const struct zone *z, const struct zone_node *node);

/* --- Changing --- */

/* What an edit keeps beside its draft. */
struct over_edit {
	struct zone *z; /* the draft: born with its number */
	struct over_item **garbage;
	size_t n_garbage, garbage_cap;
};

/* A block of the draft, zeroed; NULL without memory. */
void *over_alloc(struct over_edit *e, size_t bytes);
/* Frees a block of the draft that is not in it any more, or that never was. */
void over_release(struct over_edit *e, void *block);

/*
 * Puts the node in, in place of the one with its number if there is one. Returns 0, -ENOMEM or
 * ERR_LIMIT; then the node is still the caller's, and the draft, which still holds together, can only
 * be given up.
 */
int over_put(struct over_edit *e, struct over_node *o) __attribute__((warn_unused_result));

/* Takes a new node out. Returns 0 or -ENOMEM, as above. */
int over_remove(struct over_edit *e, const struct over_node *o) __attribute__((warn_unused_result));

/* Frees all blocks of a version that were born behind @number. O(those). */
void over_free_younger(struct zone *z, uint64_t number);

#endif
