/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void import_node_clear(struct import_node *node)
{
	for (unsigned int i = 0; i < node->n_words; i++) {
		explicit_bzero(node->words[i], strlen(node->words[i])); /* it may be a secret */
		free(node->words[i]);
	}
	free(node->words);
	free(node->name);
}

/* It does not recurse, because a file may have any number of nested braces. */
static void free_children(struct import_node *top)
{
	struct import_node *node = top;

	while (node) {
		struct import_node *child = node->child, *parent = node->parent;

		if (child) {
			node->child = child->next;
			node = child;
			continue;
		}
		if (node == top)
			return;
		import_node_clear(node);
		free(node);
		node = parent;
	}
}

void import_tree_free(struct import_tree *tree)
{
	free_children(&tree->top);
	for (unsigned int i = 0; i < tree->n_files; i++)
		free(tree->files[i]);
	free(tree->files);
	memset(tree, 0, sizeof(*tree));
}

int import_tree_fail(struct import_tree *tree, const char *file, unsigned int line,
		     const char *form, ...)
{
	char sentence[384];
	va_list args;

	va_start(args, form);
	vsnprintf(sentence, sizeof(sentence), form, args);
	va_end(args);
	for (char *c = sentence; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	if (!*tree->error)
		snprintf(tree->error, sizeof(tree->error), "%s:%u: %s", file, line, sentence);
	return -EINVAL;
}

struct import_node *import_node_add(struct import_tree *tree, struct import_node *parent,
				    const char *name, size_t len, const char *file,
				    unsigned int line)
{
	struct import_node *node = calloc(1, sizeof(*node));

	if (node)
		node->name = strndup(name, len);
	if (!node || !node->name) {
		free(node);
		import_tree_fail(tree, file, line, "there is no memory");
		return NULL;
	}
	node->file = file;
	node->line = line;
	node->parent = parent;
	if (parent->last_child)
		parent->last_child->next = node;
	else
		parent->child = node;
	parent->last_child = node;
	return node;
}

int import_node_add_word(struct import_tree *tree, struct import_node *node, const char *text,
			 size_t len)
{
	char **words = reallocarray(node->words, node->n_words + 1, sizeof(*words));

	if (words) {
		node->words = words;
		words[node->n_words] = strndup(text, len);
	}
	if (!words || !words[node->n_words]) {
		import_tree_fail(tree, node->file, node->line, "there is no memory");
		return -ENOMEM;
	}
	node->n_words++;
	return 0;
}

void import_node_remove(struct import_node *parent, const char *name)
{
	struct import_node **at = &parent->child, *node;

	parent->last_child = NULL;
	while ((node = *at)) {
		if (strcmp(node->name, name) != 0) {
			parent->last_child = node;
			at = &node->next;
			continue;
		}
		*at = node->next;
		free_children(node);
		import_node_clear(node);
		free(node);
	}
}

void import_node_move_first(struct import_node *from, struct import_node *to)
{
	struct import_node *node = from->child;

	from->child = node->next;
	if (!from->child)
		from->last_child = NULL;
	node->next = NULL;
	node->parent = to;
	if (to->last_child)
		to->last_child->next = node;
	else
		to->child = node;
	to->last_child = node;
}

const char *import_tree_file(struct import_tree *tree, const char *path)
{
	char **files = reallocarray(tree->files, tree->n_files + 1, sizeof(*files));

	if (files) {
		tree->files = files;
		files[tree->n_files] = strdup(path);
	}
	if (!files || !files[tree->n_files]) {
		import_tree_fail(tree, path, 0, "there is no memory");
		return NULL;
	}
	return files[tree->n_files++];
}

struct import_node *import_node_find(const struct import_node *node, const char *name)
{
	struct import_node *found = NULL;

	for (struct import_node *child = node ? node->child : NULL; child; child = child->next)
		if (!strcmp(child->name, name))
			found = child;
	return found;
}

const char *import_node_word(const struct import_node *node, unsigned int at)
{
	return node && at < node->n_words ? node->words[at] : NULL;
}

const char *import_node_text(const struct import_node *node, const char *name)
{
	return import_node_word(import_node_find(node, name), 0);
}
