/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of another name server as a tree of options, for all syntaxes. parse_flat.c,
 * parse_knot.c and parse_named.c make it, and the table of each server reads it.
 *
 *	top ─► "server" ─► "port" 53                  nsd.conf(5), unbound.conf(5)
 *	top ─► "zone" ─► "item" ─► "domain" a.test    knot.conf(5): one item for each "- "
 *	top ─► "zone" a.test IN ─► "file" a.zone      named.conf(5)
 *
 * Each node has the file and line of its first word, for messages. One thread at a time.
 */
#ifndef VOLLEY_IMPORT_TREE_H
#define VOLLEY_IMPORT_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct import_node {
	char *name;   /* of the option; "" for a block without a name */
	char **words; /* after the name, without quotes */
	unsigned int n_words;
	const char *file;  /* owned by the tree */
	unsigned int line; /* from 1 */
	bool is_block;
	struct import_node *child, *last_child, *next, *parent;
};

struct import_tree {
	struct import_node top;
	char **files;
	unsigned int n_files;
	unsigned int depth; /* nested includes, while the files are read */
	char error[512];    /* "FILE:LINE: sentence"; "" */
};

/* Frees a tree that a parser has made, or a tree of zeros. */
void import_tree_free(struct import_tree *tree);

/* Adds the last child of PARENT; NAME has LEN octets. NULL, with tree->error: no memory. */
struct import_node *import_node_add(struct import_tree *tree, struct import_node *parent,
				    const char *name, size_t len, const char *file,
				    unsigned int line);
/* Adds a word to the option. 0 or -ENOMEM, with tree->error. */
int import_node_add_word(struct import_tree *tree, struct import_node *node, const char *text,
			 size_t len) __attribute__((warn_unused_result));

/* Wipes and frees the name and the words of a node that is in no tree. */
void import_node_clear(struct import_node *node);

/* Frees all children of that name with their children. */
void import_node_remove(struct import_node *parent, const char *name);
/* Moves the first child of FROM, which must exist, behind the last child of TO. */
void import_node_move_first(struct import_node *from, struct import_node *to);

/* Copies the name of a file; the tree owns the copy. NULL, with tree->error: no memory. */
const char *import_tree_file(struct import_tree *tree, const char *path);

/* Keeps the first error. Returns -EINVAL. */
int import_tree_fail(struct import_tree *tree, const char *file, unsigned int line,
		     const char *form, ...) __attribute__((format(printf, 4, 5)));

/* The last child of that name, which is the one that counts. NULL: none, or NODE is NULL. */
struct import_node *import_node_find(const struct import_node *node, const char *name);
/* The first word of that child; NULL if there is no such child or it has no word. */
const char *import_node_text(const struct import_node *node, const char *name);
/* Word AT of the node; NULL if it has fewer words. */
const char *import_node_word(const struct import_node *node, unsigned int at);

#endif
