/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of TSIG, other name servers, prefixes and rules: what zones name. For one thread. */
#ifndef VOLLEY_IMPORT_PEERS_H
#define VOLLEY_IMPORT_PEERS_H

#include "import/carry.h"

#define IMPORT_TEXT_CAP 512

/* Carries a TSIG key over. A key that we cannot use is lost, with all that needs it. */
void import_key(struct import *import, const struct import_node *node, const char *name,
		const char *algorithm, const char *secret);

/* The name of the key in the configuration, in BUF. NULL, with a note: there is no such key. */
const char *import_key_name(struct import *import, const struct import_node *node, const char *name,
			    char buf[IMPORT_TEXT_CAP]);

struct import_remote {
	const char *name;     /* NULL: made of the address */
	const char *address;  /* ADDRESS or ADDRESS@PORT */
	const char *key;      /* NULL: none */
	const char *source;   /* ADDRESS; NULL: any */
	const char *tls_name; /* NULL: no TLS, unless tls_pin is given */
	const char *tls_pin;
};

/*
 * The name of such a remote in the configuration, which is made if there is none; one with the same
 * .name gets one more address. Valid as long as import->out. NULL, with a note: the address or the
 * key cannot be used.
 */
const char *import_remote(struct import *import, const struct import_node *node,
			  const struct import_remote *remote);

/*
 * Reads ADDRESS, ADDRESS/LENGTH, 10/8 or ADDRESS&MASK and writes the prefix without bits behind its length. "any" and
 * "0.0.0.0/0" stay. False: it is no prefix.
 */
bool import_prefix(const char *text, char buf[IMPORT_TEXT_CAP]);

/* Whether two prefixes as import_prefix() writes them have an address in common. */
bool import_prefix_meets(const char *a, const char *b);

/* The one of two such prefixes that has fewer addresses; NULL: they have none in common. */
const char *import_prefix_common(const char *a, const char *b);

/*
 * Adds "PREFIX key NAME" to the list KEY of AT; without PREFIX if that is "", without a key if
 * KEY_NAME is NULL. A note if that is not possible.
 */
void import_rule(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, const char *key_name);

/*
 * Removes each rule that would let an address of PREFIX in from the list KEY of AT, behind the
 * first FROM items, with a note. If PREFIX is no prefix, it means all addresses. A key is valid at
 * any address.
 */
void import_deny(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, size_t from);

/*
 * Adds a prefix to KEY ("recursion.allow") of the configuration; any becomes 0.0.0.0/0 and ::/0. A
 * note if that is not possible.
 */
void import_allow(struct import *import, const struct import_node *node, const char *key,
		  const char *prefix);

/* The same at server.allow where no client may ask, with a note: without a prefix, volleyd refuses the list or lets all clients ask. */
void import_allow_nobody(struct import *import, const struct import_node *node);

/* A new object for zone NAME. NULL, with a note: it is no name, or there is such a zone. */
json_t *import_zone(struct import *import, const struct import_node *node, const char *name);
json_t *import_find_zone(const struct import *import, const char *name);

/*
 * Removes the zone again, with a note, if it cannot be served: it has neither a file nor a primary
 * nor a catalog, or IS_SECONDARY and none of its primaries can be used. False: it was removed.
 */
bool import_zone_end(struct import *import, const struct import_node *node, json_t *zone,
		     bool is_secondary);

/* Sets server.storage, where zones need it and nothing has set it. */
void import_finish_zones(struct import *import);

#endif
