/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of TSIG, other name servers, prefixes and rules: what zones name. For one thread. */
#ifndef VOLLEY_IMPORT_PEERS_H
#define VOLLEY_IMPORT_PEERS_H

#include "import/carry.h"

#define IMPORT_TEXT_CAP 512

/* Carries a TSIG key over; one that we cannot use is lost, and so is what asks for it. */
void import_key(struct import *import, const struct import_node *node, const char *name,
		const char *algorithm, const char *secret);

/* The name of the key as it is in the configuration; NULL, and said: there is none of this name.
 * The text is BUF. */
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
 * The name of such a remote in the configuration, made where there is none yet; one with the same
 * .name gets one address more. NULL, and said: the address or the key cannot be used. As long as
 * import->out.
 */
const char *import_remote(struct import *import, const struct import_node *node,
			  const struct import_remote *remote);

/*
 * Reads ADDRESS, ADDRESS/LENGTH, 10/8 or ADDRESS&MASK and writes the prefix without bits behind its
 * length. "any" and "0.0.0.0/0" stay. False: it is no prefix.
 */
bool import_prefix(const char *text, char buf[IMPORT_TEXT_CAP]);

/* Whether two prefixes as import_prefix() writes them have an address in common. */
bool import_prefix_meets(const char *a, const char *b);

/* The one of two such prefixes that has fewer addresses; NULL: they have none in common. */
const char *import_prefix_common(const char *a, const char *b);

/* "PREFIX key NAME" at the list KEY of AT; PREFIX "" or KEY_NAME NULL: without. Said where it
 * cannot be. */
void import_rule(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, const char *key_name);

/*
 * Takes out of the list KEY of AT, behind the first FROM items, each rule that would let an address
 * of PREFIX in, and says so. What is no prefix is any address. A key is known at any address.
 */
void import_deny(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, size_t from);

/* One prefix at KEY ("recursion.allow") of the configuration; any becomes 0.0.0.0/0 and ::/0. Said
 * where it cannot be. */
void import_allow(struct import *import, const struct import_node *node, const char *key,
		  const char *prefix);

/* The same at server.allow where no client may ask, with a note: without a prefix, volleyd refuses
 * the list or lets all clients ask. */
void import_allow_nobody(struct import *import, const struct import_node *node);

/* The object of zone NAME; NULL, and said: the name is none, or there is such a zone. */
json_t *import_zone(struct import *import, const struct import_node *node, const char *name);
json_t *import_find_zone(const struct import *import, const char *name);

/*
 * Takes the zone out again, and says so, where it cannot be served: it has neither a file nor a
 * primary nor a catalog, or IS_SECONDARY and none of its primaries can be used. False: it is gone.
 */
bool import_zone_end(struct import *import, const struct import_node *node, json_t *zone,
		     bool is_secondary);

/* Sets server.storage, where zones need it and nothing has set it. */
void import_finish_zones(struct import *import);

#endif
