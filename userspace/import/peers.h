/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts that zones name: TSIG keys, remotes, prefixes and rules. One thread. */
#ifndef VOLLEY_IMPORT_PEERS_H
#define VOLLEY_IMPORT_PEERS_H

#include "import/carry.h"

#define IMPORT_TEXT_CAP 512

/* Carries a TSIG key over. If we cannot use it, options that need it are not carried over
 * either. */
void import_key(struct import *import, const struct import_node *node, const char *name,
		const char *algorithm, const char *secret);

/* The name of the key in the configuration, in BUF. NULL, with a line of notes: none. */
const char *import_key_name(struct import *import, const struct import_node *node, const char *name,
			    char buf[IMPORT_TEXT_CAP]);

struct import_remote {
	const char *name;     /* NULL: made from the address */
	const char *address;  /* ADDRESS or ADDRESS@PORT */
	const char *key;      /* NULL: none */
	const char *source;   /* ADDRESS; NULL: any */
	const char *tls_name; /* NULL: no TLS, unless tls_pin is given */
	const char *tls_pin;
};

/*
 * The name of a remote in the configuration. It is made if there is no equal one; a remote with the
 * same .name gets one more address. NULL, with a line of notes, if the address or the key cannot be
 * used. The result is valid as long as import->out.
 */
const char *import_remote(struct import *import, const struct import_node *node,
			  const struct import_remote *remote);

/*
 * Reads ADDRESS, ADDRESS/LENGTH, 10/8 or ADDRESS&MASK, and writes the prefix with all bits after
 * its length cleared. "any" and "0.0.0.0/0" stay. False if the text is no prefix.
 */
bool import_prefix(const char *text, char buf[IMPORT_TEXT_CAP]);

/* True if two prefixes of import_prefix() have an address in common. */
bool import_prefix_meets(const char *a, const char *b);

/* The smaller of two such prefixes that overlap; NULL if they do not. */
const char *import_prefix_common(const char *a, const char *b);

/* Adds the rule "PREFIX key NAME" to the list KEY of AT. It has no prefix if PREFIX is "", and no
 * key if KEY_NAME is NULL. A line of notes reports a rule that cannot be made. */
void import_rule(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, const char *key_name);

/*
 * Removes from the list KEY of AT, after the first FROM items, each rule that would allow an
 * address of PREFIX, and reports it. If PREFIX is no prefix, it means all addresses. A rule with a
 * key only is for all addresses.
 */
void import_deny(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, size_t from);

/* Adds one prefix at KEY ("recursion.allow") of the configuration; "any" becomes 0.0.0.0/0 and
 * ::/0. A line of notes reports a text that is no prefix. */
void import_allow(struct import *import, const struct import_node *node, const char *key,
		  const char *prefix);

/* Sets server.allow if no client may ask, with a note. A list without a prefix is not possible:
 * volleyd refuses it or lets all clients ask. */
void import_allow_nobody(struct import *import, const struct import_node *node);

/* Makes the object of zone NAME. NULL, with a note, if the name is wrong or the zone exists. */
json_t *import_zone(struct import *import, const struct import_node *node, const char *name);
json_t *import_find_zone(const struct import *import, const char *name);

/*
 * Ends a zone. Removes it, with a line of notes, if it cannot be served: it has no file, no primary
 * and no catalog, or IS_SECONDARY and none of its primaries can be used. False if it was removed.
 */
bool import_zone_end(struct import *import, const struct import_node *node, json_t *zone,
		     bool is_secondary);

/* Sets server.storage if zones need it and it is not set. */
void import_finish_zones(struct import *import);

#endif
