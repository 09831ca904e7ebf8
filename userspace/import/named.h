/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of named.conf(5) for named.c: address match lists, and zones. */
#ifndef VOLLEY_IMPORT_NAMED_H
#define VOLLEY_IMPORT_NAMED_H

#include "import/carry.h"

/*
 * Calls FOUND for each prefix or key of an address match list, after it has resolved the acls. A
 * prefix that overlaps with an earlier one with ! is not carried over, and a line of notes reports
 * it, so that no list becomes wider. The list may have "any", "localhost" (the loopback addresses)
 * and "localnets" (which is reported and not carried over). PREFIX is "" if KEY is given.
 */
typedef void import_named_found(struct import *import, struct import_node *list, void *user,
				const char *prefix, const char *key);
void import_named_list(struct import *import, struct import_node *list, import_named_found *found,
		       void *user);

/* The statement NAME ID { } of the file, or NULL. */
struct import_node *import_named_block(const struct import *import, const char *name,
				       const char *id);

/* The value after WORD in a statement: of "port" in "listen-on port 53 { }". NULL: none. */
const char *import_named_after(const struct import_node *node, const char *word);

/* The same for a server in a list: its own value, or else the value of the list. */
const char *import_named_of_server(const struct import_node *list, const struct import_node *server,
				   const char *word);

/* Carries over a statement zone. OPTIONS are those for all zones. */
void import_named_zone(struct import *import, struct import_node *node,
		       const struct import_node *options);

#endif
