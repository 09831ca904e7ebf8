/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML text as a tree: each key and each item with its text and the line where it stands.
 *
 *	zones:                    zones          YAMLTREE_LIST    line 1
 *	  - name: example.com     zones[0]       YAMLTREE_MAP     line 2
 *	                          zones[0].name  YAMLTREE_SCALAR  line 2, "example.com"
 *
 * The tree is made from libyaml's events, but for plain items of lists (config/yamlitems.h), which
 * cost a tenth without it. Values stay text, since the meaning of a value depends on
 * its key: `off` is a word, `0660` is octal. The configuration allows less than YAML does: one
 * document, no alias, no key twice in a map. Any thread; a tree has one user at a time.
 */
#ifndef VOLLEY_CONFIG_YAMLTREE_H
#define VOLLEY_CONFIG_YAMLTREE_H

#include <stddef.h>
#include <stdint.h>

#define YAMLTREE_PATH_CAP 192 /* octets of a path in messages; the deepest key has 60 */

struct words_key;

enum yamltree_shape { YAMLTREE_MAP, YAMLTREE_LIST, YAMLTREE_SCALAR };

struct yamltree {
	struct yamltree *parent;       /* NULL: the top */
	struct yamltree *first, *last; /* children, in the order of the file */
	struct yamltree *next;
	/* From the table; an item has the key of its list. NULL until document_check(). */
	const struct words_key *key;
	const char *name; /* "example" of `example: 1`; NULL: the top, or an item of a list */
	char *text;       /* YAMLTREE_SCALAR: its value; otherwise NULL */
	enum yamltree_shape shape;
	uint32_t file; /* as it was given to yamltree_read() */
	uint32_t line; /* from 1; of the key, or of the value of a list's item */
	uint32_t n;    /* children */
};

/* The fault in the text. Control characters in quotes from the file are replaced. */
struct yamltree_error {
	size_t line;
	char path[YAMLTREE_PATH_CAP]; /* "": no key is at fault */
	char text[256];
};

/*
 * Reads LEN octets. *OUT is a tree for yamltree_free(), or NULL: there is no node. After a fault it
 * has the nodes before the fault. Each node gets the caller's number FILE. 0; -EINVAL, with *ERR
 * filled, for bad syntax, a second document, a key given twice in one map, an alias, a key that is
 * not a word, or more than 16 levels; or -ENOMEM.
 */
int yamltree_read(struct yamltree **out, const char *text, size_t len, uint32_t file,
		  struct yamltree_error *err) __attribute__((warn_unused_result));

/* The same, but leaves out plain items (config/yamlitems.h) of the list WITHOUT at the top. */
int yamltree_read_rest(struct yamltree **out, const char *text, size_t len, uint32_t file,
		       const char *without, struct yamltree_error *err)
	__attribute__((warn_unused_result));

/* Frees the tree and wipes its values, since there may be secrets. NULL is allowed. */
void yamltree_free(struct yamltree *tree);

/* A map without keys, for yamltree_add(). NULL: no memory. */
struct yamltree *yamltree_new_map(void);

/* Makes CHILD, which belongs to no tree, the last child of PARENT. */
void yamltree_add(struct yamltree *parent, struct yamltree *child);

/* Takes the child of that name out of its map; it becomes a tree of its own. NULL: none. */
struct yamltree *yamltree_take(struct yamltree *map, const char *name);

/* The child of that name. NULL: there is none, or MAP is no map or NULL. */
struct yamltree *yamltree_child(const struct yamltree *map, const char *name);

/*
 * The node at PATH below FROM ("tcp.idle-timeout", "groups[1].template"), or the last node on the
 * way there if *IS_THERE is 0. If FROM is NULL, so is the result.
 */
const struct yamltree *yamltree_find(const struct yamltree *from, const char *path, int *is_there);

/* Writes the path of NODE, "" for the top or NULL, and cuts it if it is too long. Returns PATH. */
const char *yamltree_path(const struct yamltree *node, char path[YAMLTREE_PATH_CAP]);

#endif
