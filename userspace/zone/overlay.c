/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups in an overlay.
 *
 * Most of the canonical order is that of the image's node numbers: each node of the overlay has the
 * number of the last node of the image at or before it. Owners are compared only if two new names
 * have the same number.
 */
#include "zone/overlay.h"

#include "dns/name.h"

const struct overlay_node *overlay_find(const struct zone *z, uint64_t hash, uint32_t parent,
					const uint8_t *label)
{
	const struct overlay_trie *trie = z->trie;
	const struct overlay_node *o;

	for (uint64_t rest = hash; trie; rest >>= OVERLAY_FAN_BITS) {
		uintptr_t slot = trie->slot[rest & (OVERLAY_FAN - 1)];

		if (slot & 1) {
			o = overlay_leaf(slot);
			return o->hash == hash && o->node.parent == parent &&
					       label_equal(overlay_owner(o),
							   o->node.flags & NODE_UPPERCASE, label) ?
				       o :
				       NULL;
		}
		trie = (const struct overlay_trie *)slot;
	}
	return NULL;
}

const struct overlay_node *overlay_find_index(const struct zone *z, uint32_t index)
{
	const struct zone_node *node = &z->nodes[index];
	const uint8_t *label = z->labels + node->label;
	uint8_t folded[DNS_LABEL_MAX + 9];

	if (!z->trie)
		return NULL;
	if (!index)
		return z->apex_node->flags & NODE_OVERLAY ? overlay_of(z->apex_node) : NULL;
	name_fold(folded, label, 1u + *label);
	return overlay_find(z, hash_label(z->seed, node->parent, folded + 1, *folded), node->parent,
			    folded);
}

struct overlay_key overlay_key_of(const struct zone *z, const struct zone_node *node)
{
	if (!(node->flags & NODE_OVERLAY))
		return (struct overlay_key){ .at = (uint32_t)(node - z->nodes) };
	return (struct overlay_key){ .at = overlay_of(node)->at,
				     .is_new = overlay_of(node)->kind == OVERLAY_NEW,
				     .owner = overlay_owner(overlay_of(node)) };
}

struct overlay_key overlay_key_absent(const struct zone *z, const uint8_t *name)
{
	return (struct overlay_key){ .at = zone_image_floor(z, name),
				     .is_new = true,
				     .owner = name };
}

int overlay_cmp(const struct overlay_key *key, const struct overlay_node *o)
{
	bool is_new = o->kind == OVERLAY_NEW;
	int order = 0;

	if (key->at != o->at)
		return key->at < o->at ? -1 : 1;
	if (key->is_new != is_new)
		return key->is_new ? 1 : -1;
	if (is_new && key->subtree && name_is_under(overlay_owner(o), key->owner))
		return 1;
	if (is_new)
		order = name_canonical_cmp(key->owner, overlay_owner(o));
	return order ? order : -key->before;
}

const struct overlay_node *overlay_behind(const struct zone *z, const struct overlay_key *key)
{
	const struct overlay_node *best = NULL;

	for (const struct overlay_tree *t = z->tree; t;) {
		if (overlay_cmp(key, t->node) < 0) {
			best = t->node;
			t = t->left;
		} else {
			t = t->right;
		}
	}
	return best;
}

/* The last node of a subtree with one of @has. */
static const struct overlay_node *last_with(const struct overlay_tree *t, uint8_t has)
{
	while (t && t->has & has) {
		if (t->right && t->right->has & has)
			t = t->right;
		else if (t->node->has & has)
			return t->node;
		else
			t = t->left;
	}
	return NULL;
}

const struct overlay_node *overlay_before(const struct zone *z, const struct overlay_key *key,
					  uint8_t has)
{
	const struct overlay_tree *last = NULL; /* the deepest with one before @key */

	if (!key)
		return last_with(z->tree, has);
	for (const struct overlay_tree *t = z->tree; t;) {
		if (overlay_cmp(key, t->node) < 0) {
			t = t->left;
			continue;
		}
		if (t->node->has & has || (t->left && t->left->has & has))
			last = t;
		t = t->right;
	}
	if (!last)
		return NULL;
	return last->node->has & has ? last->node : last_with(last->left, has);
}

/* The number of new names less that of gone ones, at or before a place. */
static int64_t balance(const struct zone *z, const struct overlay_key *key)
{
	int64_t sum = 0;

	for (const struct overlay_tree *t = z->tree; t;) {
		if (overlay_cmp(key, t->node) < 0) {
			t = t->left;
			continue;
		}
		sum += (t->node->kind == OVERLAY_NEW) - (t->node->kind == OVERLAY_GONE);
		if (t->left)
			sum += (int64_t)t->left->n_new - t->left->n_gone;
		t = t->right;
	}
	return sum;
}

bool overlay_has_below(const struct zone *z, const struct zone_node *node)
{
	struct overlay_key self = overlay_key_of(z, node), end = self;
	uint8_t owner[ZONE_NAME_MAX];

	zone_node_owner(z, node, owner);
	end.owner = owner;
	end.subtree = true;
	end.is_new = true;
	if (!self.is_new)
		end.at = zone_image_last_below(z, self.at);
	return (int64_t)(end.at - self.at) + balance(z, &end) - balance(z, &self) > 0;
}
