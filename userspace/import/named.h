/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of named.conf(5) for named.c: address match lists, and zones. */
#ifndef VOLLEY_IMPORT_NAMED_H
#define VOLLEY_IMPORT_NAMED_H

#include "import/carry.h"

/*
 * Calls FOUND for each prefix or key of an address match list, acls resolved. A prefix behind one
 * with ! that it meets is left out, and said, so that no list becomes wider than it was. "any",
 * "localhost" (the loopback addresses) and "localnets" (said, left out) are known. PREFIX is ""
 * where KEY is given.
 */
typedef void import_named_found(struct import *import, struct import_node *list, void *user,
				const char *prefix, const char *key);
void import_named_list(struct import *import, struct import_node *list, import_named_found *found,
		       void *user);

/* The statement NAME ID { } of the file; NULL: there is none. */
struct import_node *import_named_block(const struct import *import, const char *name,
				       const char *id);

/* Behind a word of a statement: the value of "port" in "listen-on port 53 { }"; NULL: none. */
const char *import_named_after(const struct import_node *node, const char *word);

/* The same of a server in a list: what the server says, else what the list says of all its
 * servers. */
const char *import_named_of_server(const struct import_node *list, const struct import_node *server,
				   const char *word);

/* A statement zone. OPTIONS are those of all zones, PLACE the view or the top of the tree. */
void import_named_zone(struct import *import, struct import_node *node,
		       const struct import_node *options);

#endif
