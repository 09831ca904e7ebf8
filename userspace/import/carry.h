/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries options over, for all servers: makes the new configuration, and writes notes about
 * options that have no place in it.
 *
 *	a section's options ─► import_carry(): a table of rules
 *	    ├─► import_set(): checked against the table of keys ─► out
 *	    └─► import_lost(), import_note(), import_idle() ─► notes
 *
 * A value is carried over only if volleyd accepts it, so that volleyd accepts the result. A number
 * out of bounds becomes the bound, and a note says so. One thread. If memory runs out, parts of the
 * result are missing, and has_no_memory is set.
 */
#ifndef VOLLEY_IMPORT_CARRY_H
#define VOLLEY_IMPORT_CARRY_H

#include <jansson.h>
#include <stdio.h>

#include "import/tree.h"

struct import {
	struct import_tree tree;
	json_t *out;         /* the configuration: objects, lists, texts */
	FILE *notes;         /* has each line once, even if a pattern is read for many zones */
	json_t *said;        /* lines of notes, and options without meaning, that were written */
	json_t *lost_keys;   /* TSIG keys of the file that we cannot use */
	const char *folder;  /* the folder to which names of files are relative */
	unsigned int n_lost; /* options that matter and are not carried over */
	unsigned int depth;  /* number of patterns that include each other */
	bool has_no_memory;
	bool is_not_utf8; /* a name that is needed is not UTF-8 */
};

/*
 * Write one line of notes. import_lost(): "FILE:LINE: option: not carried over: why", for an option
 * that matters, and counts it. import_note(): "FILE:LINE: option: note: what", for an option that
 * is carried over, perhaps with a difference. import_idle(): "FILE:LINE: option: without meaning
 * here: why", once for each name of an option.
 */
void import_lost(struct import *import, const struct import_node *node, const char *form, ...)
	__attribute__((format(printf, 3, 4)));
void import_note(struct import *import, const struct import_node *node, const char *form, ...)
	__attribute__((format(printf, 3, 4)));
void import_idle(struct import *import, const struct import_node *node, const char *why);

/* The object or the list at KEY of OBJECT. It is made if it is missing. */
json_t *import_object(struct import *import, json_t *object, const char *key);
json_t *import_list(struct import *import, json_t *object, const char *key);
/* A new object at the end of the list at KEY of OBJECT. */
json_t *import_item(struct import *import, json_t *object, const char *key);
void import_put(struct import *import, json_t *object, const char *key, const char *text);
/* Appends TEXT to the list at KEY of OBJECT, unless the list has it. */
void import_append(struct import *import, json_t *object, const char *key, const char *text);

/*
 * Sets KEY, as in volley.yaml(5) ("server.tcp.idle-timeout"), in the whole configuration. If AT is
 * not NULL, sets only the last part of KEY in the object AT. TEXT is in the form of the other
 * server ("yes", "4m", "1d12h", "P1D", a relative path), and is converted to the form of KEY. A
 * list gets one more item.
 */
void import_set(struct import *import, const struct import_node *node, json_t *at, const char *key,
		const char *text);

/* The absolute name of a file if the folder is known. The result is in BUF. */
#define IMPORT_PATH_CAP 4096
const char *import_path(const struct import *import, const char *path, char buf[IMPORT_PATH_CAP]);

/* True if the text may be in the configuration. */
bool import_is_utf8(const char *text);

/* True for "yes", "on", "true", "1" and the like. False for NULL and other words. */
bool import_is_yes(const char *text);
/* The seconds in "90", "1h30m", "P1DT2H" or "2w"; -1: not a time. */
long long import_seconds(const char *text);

/* --- Tables of options ------------------------------------------------------------------------ */

enum import_do {
	IMPORT_SET,        /* import_set() with .text, a key */
	IMPORT_IDLE,       /* import_idle() with .text */
	IMPORT_LOST,       /* import_lost() with .text */
	IMPORT_READ,       /* nothing: it is read together with another option */
	IMPORT_CALL,       /* .call */
	IMPORT_UNLESS_NO,  /* import_lost() with .text, unless the value is "no" */
	IMPORT_UNLESS_YES, /* the same, unless the value is "yes" */
};

typedef void import_call(struct import *import, struct import_node *node, json_t *at);

struct import_rule {
	const char *options; /* names with a space between them; NULL: the end of the table */
	enum import_do what;
	const char *text;
	import_call *call;
};

/* Carries over each option of SECTION. AT is as for import_set(). An option without a rule is
 * reported by import_lost(). */
void import_carry(struct import *import, const struct import_node *section,
		  const struct import_rule *rules, json_t *at);

#endif
