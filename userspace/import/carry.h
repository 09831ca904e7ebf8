/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What carries options over, whatever server they are of: the configuration that is being made, and
 * what is said about options that it has no place for.
 *
 *	a section's options ─► import_carry(): a table of rules
 *	    ├─► import_set(): checked against the table of keys ─► out
 *	    └─► import_lost(), import_note(), import_idle() ─► notes
 *
 * A value is carried over only if volleyd would take it, so that the result is accepted; a number
 * out of bounds becomes the bound, and a note says so. For one thread. Where memory is short what
 * has no room is missing, and has_no_memory is set.
 */
#ifndef VOLLEY_IMPORT_CARRY_H
#define VOLLEY_IMPORT_CARRY_H

#include <jansson.h>
#include <stdio.h>

#include "import/tree.h"

struct import {
	struct import_tree tree;
	json_t *out;         /* the configuration: objects, lists, texts */
	FILE *notes;         /* each line once: a pattern is read for many zones */
	json_t *said;        /* lines of notes, and names of options without meaning: each once */
	json_t *lost_keys;   /* TSIG keys that there are, and that we cannot use */
	const char *folder;  /* where relative names of files start, with import_path() */
	unsigned int n_lost; /* options that matter and were left out */
	unsigned int depth;  /* of patterns that include each other */
	bool has_no_memory;
	bool is_not_utf8; /* a name that has to be carried over */
};

/*
 * "FILE:LINE: option: not carried over: why"; of an option that matters, and counted.
 * "FILE:LINE: option: note: what"; of one that is carried over, or nearly.
 * "FILE:LINE: option: without meaning here: why"; once for each name of an option.
 */
void import_lost(struct import *import, const struct import_node *node, const char *form, ...)
	__attribute__((format(printf, 3, 4)));
void import_note(struct import *import, const struct import_node *node, const char *form, ...)
	__attribute__((format(printf, 3, 4)));
void import_idle(struct import *import, const struct import_node *node, const char *why);

/* The object or the list at KEY of OBJECT, made where it is not there. */
json_t *import_object(struct import *import, json_t *object, const char *key);
json_t *import_list(struct import *import, json_t *object, const char *key);
/* A new object at the end of the list at KEY of OBJECT. */
json_t *import_item(struct import *import, json_t *object, const char *key);
void import_put(struct import *import, json_t *object, const char *key, const char *text);
/* Appends to the list at KEY of OBJECT, unless it is there. */
void import_append(struct import *import, json_t *object, const char *key, const char *text);

/*
 * Sets KEY, as in volley.yaml(5) ("server.tcp.idle-timeout"), of the whole configuration; where AT
 * is not NULL only the last part of KEY counts, and AT is the object. TEXT is read as the other
 * servers write it ("yes", "4m", "1d12h", "P1D", a relative path), whatever the key takes. A list
 * gets one more item.
 */
void import_set(struct import *import, const struct import_node *node, json_t *at, const char *key,
		const char *text);

/* The absolute name of a file, as far as the folder is known. The text is BUF. */
#define IMPORT_PATH_CAP 4096
const char *import_path(const struct import *import, const char *path, char buf[IMPORT_PATH_CAP]);

/* Whether the text can stand in the configuration. */
bool import_is_utf8(const char *text);

/* "yes", "on", "true", "1" and the like; NULL, and other words: false. */
bool import_is_yes(const char *text);
/* Seconds of "90", "1h30m", "P1DT2H", "2w"; -1: it is none. */
long long import_seconds(const char *text);

/* --- Tables of options ------------------------------------------------------------------------ */

enum import_do {
	IMPORT_SET,        /* import_set() with .text, a key */
	IMPORT_IDLE,       /* import_idle() with .text */
	IMPORT_LOST,       /* import_lost() with .text */
	IMPORT_READ,       /* read together with another option */
	IMPORT_CALL,       /* .call */
	IMPORT_UNLESS_NO,  /* import_lost() with .text unless it is switched off */
	IMPORT_UNLESS_YES, /* and unless it is switched on */
};

typedef void import_call(struct import *import, struct import_node *node, json_t *at);

struct import_rule {
	const char *options; /* names with a blank between them; NULL: the end of the table */
	enum import_do what;
	const char *text;
	import_call *call;
};

/* Carries over each option of SECTION; AT as import_set() takes it. What no rule knows is lost. */
void import_carry(struct import *import, const struct import_node *section,
		  const struct import_rule *rules, json_t *at);

#endif
