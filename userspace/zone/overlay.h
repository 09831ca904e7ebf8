/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overlay of a version: the names that differ from the image, with their present content.
 *
 *	trie, by hash of (parent, label) ──► overlay_node ◄── tree, in canonical order
 *
 * An overlay_node is one of three: it replaces a node of the image and keeps its number, by which
 * its children still find it; or it is new, with a number above those of the image; or it says that
 * a node of the image is gone. It is one block with its owner, its RRsets and their rdata. A lookup
 * searches the trie before the image, with one hash for both. The tree (a treap) finds neighbours,
 * for proofs, walks and checks for names below a name.
 *
 * A block never changes after its version is finished. An edit copies the blocks on the way from
 * the root to a change, each once: it changes blocks that were born in the edit itself in place.
 * Each block has the number of the version in which it was born, which is enough to know when to
 * free it (zone/version.h).
 */
#ifndef VOLLEY_ZONE_OVERLAY_H
#define VOLLEY_ZONE_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/image.h"

/* The head of every block. */
struct overlay_item {
	struct overlay_item *next; /* in the list of garbage; readers never read it */
	uint64_t born;             /* the number of the first version that has it */
	size_t bytes;
};

enum overlay_kind {
	OVERLAY_NEW,      /* no such name in the image */
	OVERLAY_REPLACED, /* the node of the image with this number */
	OVERLAY_GONE,
};

/* The kinds of nodes that the tree can search for. */
enum {
	OVERLAY_NSEC = 0x01,  /* has an NSEC */
	OVERLAY_NSEC3 = 0x02, /* is in the NSEC3 chain of the image */
};

struct overlay_node {
	struct overlay_item item;
	uint64_t hash;
	uint32_t id;
	uint32_t at; /* the last node of the image at or before it; its own if it is of the image */
	uint8_t kind;
	uint8_t has;
	uint8_t owner_bytes;
	uint16_t n_rrsets;
	struct zone_node node; /* only flags (with NODE_OVERLAY), parent and depth; the rest is 0 */
	struct zone_rrset rrsets[]; /* .rdata: offset from the RRset; owner and rdata follow */
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
	uint64_t rank; /* at least those of the subtrees */
	uint32_t n_names, n_new, n_gone;
	uint8_t has; /* all of this subtree */
};

/* A place in canonical order. */
struct overlay_key {
	uint32_t at;
	bool is_new;          /* after the node of the image at @at */
	bool subtree;         /* after all names below @owner; only with is_new */
	bool before;          /* just before the place */
	const uint8_t *owner; /* if is_new */
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

/* The number that children have as their parent. */
static inline uint32_t node_id(const struct zone *z, const struct zone_node *node)
{
	return node->flags & NODE_OVERLAY ? overlay_of(node)->id : (uint32_t)(node - z->nodes);
}

static inline const struct overlay_node *overlay_leaf(uintptr_t slot)
{
	return (const struct overlay_node *)(slot & ~(uintptr_t)1);
}

/* The overlay's node for the child of @parent with the folded @label, or NULL. */
const struct overlay_node *overlay_find(const struct zone *z, uint64_t hash, uint32_t parent,
					const uint8_t *label);

/* The overlay's node for the node of the image at @index, or NULL. */
const struct overlay_node *overlay_find_index(const struct zone *z, uint32_t index);

/* The place of a node; the key points to the owner of a new node. */
struct overlay_key overlay_key_of(const struct zone *z, const struct zone_node *node);

/* The place of a name that does not exist (folded wire, under the apex). */
struct overlay_key overlay_key_absent(const struct zone *z, const uint8_t *name);

/* The first node after a place, gone or not, or NULL. O(log changed names). */
const struct overlay_node *overlay_behind(const struct zone *z, const struct overlay_key *key);

/* The last node with one of @has at or before a place (@key NULL: of all). O(log changed names). */
const struct overlay_node *overlay_before(const struct zone *z, const struct overlay_key *key,
					  uint8_t has);

/* > 0 if a place is after a node of the overlay, 0 at the node, < 0 before it. */
int overlay_cmp(const struct overlay_key *key, const struct overlay_node *o);

/* True if there is any name below the node. O(log names). */
bool overlay_has_below(const struct zone *z, const struct zone_node *node);

/* --- Changing --- */

/* A draft, and the blocks that it no longer uses. */
struct overlay_edit {
	struct zone *z; /* the draft; new blocks are born with its number */
	struct overlay_item **garbage;
	size_t n_garbage, garbage_cap;
};

/* A zeroed block of the draft. NULL: no memory. */
void *overlay_alloc(struct overlay_edit *e, size_t bytes);
/* Frees a block of the draft that is no longer in it, or never was. */
void overlay_release(struct overlay_edit *e, void *block);

/*
 * Puts the node in, in place of the node with its number if there is one. Returns 0, -ENOMEM or
 * ERR_LIMIT. After an error the caller still owns the node, and the draft can only be given up.
 */
int overlay_put(struct overlay_edit *e, struct overlay_node *o) __attribute__((warn_unused_result));

/* Removes a node of kind OVERLAY_NEW. Returns 0 or an error, as above. */
int overlay_remove(struct overlay_edit *e, const struct overlay_node *o)
	__attribute__((warn_unused_result));

/* Frees all blocks of a version that were born after @number. O(freed blocks). */
void overlay_free_younger(struct zone *z, uint64_t number);

#endif
