/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes an overlay. A change first copies the blocks on the way to its place, from the top, and
 * links each copy at once. Only then it changes them, which needs no memory. So if there is no
 * memory, the draft is still consistent and can be freed.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "zone/overlay.h"

/* --- Blocks --- */

void *overlay_alloc(struct overlay_edit *e, size_t bytes)
{
	struct overlay_item *item = calloc(1, bytes);

	if (!item)
		return NULL;
	item->born = e->z->number;
	item->bytes = bytes;
	e->z->overlay_bytes += bytes;
	return item;
}

void overlay_release(struct overlay_edit *e, void *block)
{
	struct overlay_item *item = block;

	e->z->overlay_bytes -= item->bytes;
	free(item);
}

static bool is_own(const struct overlay_edit *e, const struct overlay_item *item)
{
	return item->born == e->z->number;
}

/* Makes room to drop one more block. */
static int reserve_overlay(struct overlay_edit *e)
{
	size_t cap = e->garbage_cap ? e->garbage_cap * 2 : 64;
	struct overlay_item **garbage;

	if (e->n_garbage < e->garbage_cap)
		return 0;
	garbage = reallocarray(e->garbage, cap, sizeof(struct overlay_item *));
	if (!garbage)
		return -ENOMEM;
	e->garbage = garbage;
	e->garbage_cap = cap;
	return 0;
}

/* Removes a block from the draft; reserve_overlay() was called. */
static void drop_overlay(struct overlay_edit *e, struct overlay_item *item)
{
	if (is_own(e, item)) {
		overlay_release(e, item);
		return;
	}
	e->z->overlay_bytes -= item->bytes;
	e->garbage[e->n_garbage++] = item;
}

/* Makes the draft's own copy of a block, which the caller links. NULL: no memory. */
static void *own(struct overlay_edit *e, struct overlay_item *item)
{
	struct overlay_item *copy;

	if (is_own(e, item))
		return item;
	if (reserve_overlay(e))
		return NULL;
	copy = overlay_alloc(e, item->bytes);
	if (!copy)
		return NULL;
	memcpy(copy + 1, item + 1, item->bytes - sizeof(*item));
	drop_overlay(e, item);
	return copy;
}

static int own_tree(struct overlay_edit *e, struct overlay_tree **link)
{
	struct overlay_tree *t = own(e, &(*link)->item);

	if (!t)
		return -ENOMEM;
	*link = t;
	return 0;
}

/* --- The trie --- */

static uintptr_t *slot_of(struct overlay_trie *trie, uint64_t hash, unsigned shift)
{
	return &trie->slot[hash >> shift & (OVERLAY_FAN - 1)];
}

/* Replaces a leaf by a trie with this leaf, which has room for more. */
static int split_leaf(struct overlay_edit *e, uintptr_t *slot, unsigned shift)
{
	struct overlay_trie *trie;

	if (shift >= 64)
		return ERR_LIMIT; /* two names with the same keyed hash */
	trie = overlay_alloc(e, sizeof(*trie));
	if (!trie)
		return -ENOMEM;
	*slot_of(trie, overlay_leaf(*slot)->hash, shift) = *slot;
	*slot = (uintptr_t)trie;
	return 0;
}

static int own_trie(struct overlay_edit *e, uintptr_t *link)
{
	struct overlay_trie *trie;

	trie = *link ? own(e, (struct overlay_item *)*link) : overlay_alloc(e, sizeof(*trie));
	if (!trie)
		return -ENOMEM;
	*link = (uintptr_t)trie;
	return 0;
}

/* The slot for a node with this hash and number, after copying the way to it; NULL: *@rc. */
static uintptr_t *trie_slot(struct overlay_edit *e, uint64_t hash, uint32_t id, int *rc)
{
	uintptr_t root = (uintptr_t)e->z->trie, *slot;

	*rc = own_trie(e, &root);
	e->z->trie = (struct overlay_trie *)root;
	if (*rc)
		return NULL;
	slot = slot_of(e->z->trie, hash, 0);
	for (unsigned shift = OVERLAY_FAN_BITS; *slot; shift += OVERLAY_FAN_BITS) {
		if (*slot & 1) {
			if (overlay_leaf(*slot)->id == id)
				return slot;
			*rc = split_leaf(e, slot, shift);
		} else {
			*rc = own_trie(e, slot);
		}
		if (*rc)
			return NULL;
		slot = slot_of((struct overlay_trie *)*slot, hash, shift);
	}
	return slot;
}

/* --- The tree --- */

static void update_overlay(struct overlay_tree *t)
{
	t->n_names = 1;
	t->n_new = t->node->kind == OVERLAY_NEW;
	t->n_gone = t->node->kind == OVERLAY_GONE;
	t->has = t->node->has;
	for (unsigned i = 0; i < 2; i++) {
		const struct overlay_tree *child = i ? t->right : t->left;

		if (!child)
			continue;
		t->n_names += child->n_names;
		t->n_new += child->n_new;
		t->n_gone += child->n_gone;
		t->has |= child->has;
	}
}

/* Copies the way to a place. Returns 0 or -ENOMEM; *@there: the tree node there, or NULL. */
static int own_way(struct overlay_edit *e, const struct overlay_key *key,
		   struct overlay_tree **there)
{
	struct overlay_tree **link = &e->z->tree;

	*there = NULL;
	while (*link) {
		int order;

		if (own_tree(e, link))
			return -ENOMEM;
		order = overlay_cmp(key, (*link)->node);
		if (!order) {
			*there = *link;
			return 0;
		}
		link = order < 0 ? &(*link)->left : &(*link)->right;
	}
	return 0;
}

/* The functions from here on only change blocks of the draft. */
static void split_overlay(struct overlay_tree *t, const struct overlay_key *key,
			  struct overlay_tree **left, struct overlay_tree **right)
{
	if (!t) {
		*left = NULL;
		*right = NULL;
	} else if (overlay_cmp(key, t->node) < 0) {
		split_overlay(t->left, key, left, &t->left);
		*right = t;
		update_overlay(t);
	} else {
		split_overlay(t->right, key, &t->right, right);
		*left = t;
		update_overlay(t);
	}
}

static struct overlay_tree *insert_overlay(struct overlay_tree *at, const struct overlay_key *key,
					   struct overlay_tree *t)
{
	if (!at || t->rank > at->rank) {
		split_overlay(at, key, &t->left, &t->right);
		at = t;
	} else if (overlay_cmp(key, at->node) < 0) {
		at->left = insert_overlay(at->left, key, t);
	} else {
		at->right = insert_overlay(at->right, key, t);
	}
	update_overlay(at);
	return at;
}

static struct overlay_tree *join_overlay(struct overlay_tree *left, struct overlay_tree *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->rank > right->rank) {
		left->right = join_overlay(left->right, right);
		update_overlay(left);
		return left;
	}
	right->left = join_overlay(left, right->left);
	update_overlay(right);
	return right;
}

static struct overlay_tree *take_out_overlay(struct overlay_tree *at, const struct overlay_key *key)
{
	int order = overlay_cmp(key, at->node);

	if (!order)
		return join_overlay(at->left, at->right);
	if (order < 0)
		at->left = take_out_overlay(at->left, key);
	else
		at->right = take_out_overlay(at->right, key);
	update_overlay(at);
	return at;
}

/* Updates the way to a place after the node there was replaced. */
static void refresh_overlay(struct overlay_tree *at, const struct overlay_key *key)
{
	int order = overlay_cmp(key, at->node);

	if (order)
		refresh_overlay(order < 0 ? at->left : at->right, key);
	update_overlay(at);
}

/* Copies the nodes below @t that join_overlay() will change. */
static int own_seam(struct overlay_edit *e, struct overlay_tree *t)
{
	for (struct overlay_tree **link = &t->left; *link; link = &(*link)->right)
		if (own_tree(e, link))
			return -ENOMEM;
	for (struct overlay_tree **link = &t->right; *link; link = &(*link)->left)
		if (own_tree(e, link))
			return -ENOMEM;
	return 0;
}

/* --- Both --- */

int overlay_put(struct overlay_edit *e, struct overlay_node *o)
{
	struct overlay_key key = overlay_key_of(e->z, &o->node);
	struct overlay_tree *there, *t = NULL;
	uintptr_t *slot = NULL;
	int rc = own_way(e, &key, &there);

	if (!rc && !there) {
		t = overlay_alloc(e, sizeof(*t));
		rc = t ? 0 : -ENOMEM;
	}
	if (!rc)
		slot = trie_slot(e, o->hash, o->id, &rc);
	if (!rc)
		rc = reserve_overlay(e); /* last, since trie_slot() drops blocks, too */
	if (rc) {
		if (t)
			overlay_release(e, t);
		return rc;
	}
	*slot = (uintptr_t)o | 1;
	if (there) {
		struct overlay_item *old = &there->node->item;

		there->node = o;
		refresh_overlay(e->z->tree, &key);
		drop_overlay(e, old);
		return 0;
	}
	t->node = o;
	t->rank = hash_mix(e->z->seed ^ o->hash, 0x9e3779b97f4a7c15u);
	e->z->tree = insert_overlay(e->z->tree, &key, t);
	return 0;
}

/* The trie does not shrink: empty slots of removed names are few, and used again. */
int overlay_remove(struct overlay_edit *e, const struct overlay_node *o)
{
	struct overlay_key key = overlay_key_of(e->z, &o->node);
	struct overlay_tree *there;
	uintptr_t *slot = NULL;
	int rc = own_way(e, &key, &there);

	if (!rc)
		rc = own_seam(e, there);
	if (!rc)
		slot = trie_slot(e, o->hash, o->id, &rc);
	if (!rc)
		rc = reserve_overlay(e);
	if (rc)
		return rc;
	e->z->tree = take_out_overlay(e->z->tree, &key);
	*slot = 0;
	drop_overlay(e, &there->node->item);
	overlay_release(e, there);
	return 0;
}

/* --- Freeing --- */

static void free_tree(struct overlay_tree *t, uint64_t number)
{
	if (!t || t->item.born <= number)
		return;
	free_tree(t->left, number);
	free_tree(t->right, number);
	free(t);
}

static void overlay_free_slot(uintptr_t slot, uint64_t number)
{
	struct overlay_item *item = (struct overlay_item *)(slot & ~(uintptr_t)1);

	if (!item || item->born <= number)
		return;
	for (unsigned i = 0; i < OVERLAY_FAN && !(slot & 1); i++)
		overlay_free_slot(((struct overlay_trie *)slot)->slot[i], number);
	free(item);
}

void overlay_free_younger(struct zone *z, uint64_t number)
{
	free_tree(z->tree, number);
	overlay_free_slot((uintptr_t)z->trie, number);
}
