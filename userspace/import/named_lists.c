/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address match lists of named.conf(5): the first element that matches decides. */
#include <string.h>

#include "import/named.h"
#include "import/peers.h"

#define DEPTH_MAX 16
#define OUT_MAX   64 /* elements with ! that are kept */

struct walk {
	struct import *import;
	struct import_node *list;
	import_named_found *found;
	void *user;
	char out[OUT_MAX][64];
	unsigned int n_out;
	/* a key or a list has !, so none of the later elements can be carried over */
	bool is_closed;
};

struct import_node *import_named_block(const struct import *import, const char *name,
				       const char *id)
{
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		if (!strcmp(node->name, name) && import_node_word(node, 0) &&
		    !strcmp(node->words[0], id))
			return node;
	return NULL;
}

const char *import_named_after(const struct import_node *node, const char *word)
{
	for (unsigned int i = 0; node && i + 1 < node->n_words; i++)
		if (!strcmp(node->words[i], word))
			return node->words[i + 1];
	return NULL;
}

const char *import_named_of_server(const struct import_node *list, const struct import_node *server,
				   const char *word)
{
	const char *own = import_named_after(server, word);

	return own ? own : import_named_after(list, word);
}

static void give(struct walk *walk, struct import_node *at, const char *prefix, const char *key)
{
	bool is_out = walk->is_closed || (key && walk->n_out); /* a key may come from any address */

	for (unsigned int i = 0; i < walk->n_out && !is_out; i++)
		is_out = import_prefix_meets(walk->out[i], prefix);
	if (is_out)
		import_lost(
			walk->import, at,
			"the addresses after ! cannot be excluded from %s: write the prefixes of "
			"the clients that may",
			key ? key : prefix);
	else
		walk->found(walk->import, walk->list, walk->user, prefix, key);
}

static void take_out(struct walk *walk, const char *word)
{
	char reduced[IMPORT_TEXT_CAP];

	if (import_prefix(word, reduced) && walk->n_out < OUT_MAX)
		snprintf(walk->out[walk->n_out++], sizeof(walk->out[0]), "%.63s", reduced);
	else if (strcmp(word, "none"))
		walk->is_closed = true;
}

static void walk_list(struct walk *walk, struct import_node *list, unsigned int depth);

static void walk_word(struct walk *walk, struct import_node *node, unsigned int depth)
{
	struct import_node *acl = import_named_block(walk->import, "acl", node->name);
	char reduced[IMPORT_TEXT_CAP];

	if (acl && depth < DEPTH_MAX) {
		walk_list(walk, acl, depth + 1);
	} else if (!strcmp(node->name, "localhost")) {
		give(walk, node, "127.0.0.0/8", NULL);
		give(walk, node, "::1", NULL);
	} else if (!strcmp(node->name, "localnets")) {
		import_lost(walk->import, node, "give the prefixes of your networks");
	} else if (import_prefix(node->name, reduced)) {
		give(walk, node, reduced, NULL);
	} else if (strcmp(node->name, "none")) {
		import_lost(walk->import, node, "\"%s\" is neither a prefix nor an acl",
			    node->name);
	}
}

static void walk_list(struct walk *walk, struct import_node *list, unsigned int depth)
{
	for (struct import_node *node = list->child; node; node = node->next) {
		if (!strcmp(node->name, "!"))
			take_out(walk, import_node_word(node, 0) ? node->words[0] : "");
		else if (!strcmp(node->name, "key") && import_node_word(node, 0))
			give(walk, node, "", node->words[0]);
		else if (node->is_block && depth < DEPTH_MAX)
			walk_list(walk, node, depth + 1);
		else
			walk_word(walk, node, depth);
	}
}

void import_named_list(struct import *import, struct import_node *list, import_named_found *found,
		       void *user)
{
	struct walk walk = { .import = import, .list = list, .found = found, .user = user };

	walk_list(&walk, list, 0);
}
