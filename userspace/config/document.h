/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration as written: the text of its file, one tree of it and all files that it includes,
 * whose nodes have their keys of the table, and the sentences that name a place in it.
 *
 *	file ─► tree ─► include: other files ─► shape: each node is a key of the table, and a map,
 *	                                         a list or a value as the table wants it
 *
 * The first failure is kept, with its code in .failed. Later failures are ignored, so the steps of
 * a load need no check between them. One thread; the caller owns the storage.
 */
#ifndef VOLLEY_CONFIG_DOCUMENT_H
#define VOLLEY_CONFIG_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/fields.h"
#include "config/yamltree.h"

struct document {
	const char *path;
	const int *fd;    /* the open file to read as .path; NULL: .path is opened */
	const char *base; /* relative paths start at its folder; normally .path */
	char *err;        /* "FILE:LINE: key: sentence", set by the first failure */
	size_t err_cap;
	int failed; /* 0, or the code of the first failure */

	/* most zones are not read: only for a configuration that is known (config_load.c). Then
	 * .text stays that of the first file */
	bool leaves_zones_out;

	char *text; /* len octets and a zero octet; after include_run() of all files */
	size_t len;
	/* of the names and texts of all files that were read, and of the names of .read_folders */
	uint8_t digest[CONFIG_DIGEST_BYTES];
	struct yamltree *top; /* NULL: there is no key */
	char **files;         /* by the numbers in the tree, .path first */
	uint32_t n_files;
	char **secret_files; /* the files with a secret, ended by NULL; or NULL */
	uint32_t n_secret_files;
	char **read_files; /* other files that were read, ended by NULL; or NULL */
	uint32_t n_read_files;
	char **read_folders; /* in which included files were searched, ended by NULL; or NULL */
	uint32_t n_read_folders;
};

/*
 * Reads .path. Fails with the -errno of open() or read(), with -EFBIG beyond 256 MiB, or with
 * ERR_CONFIG for bad YAML or a key given twice. include_run() comes next.
 */
void document_read(struct document *document);

/* Gives each node its key. Fails for a key that is not in the table, and for a wrong shape. */
void document_check(struct document *document);

/* Frees all but .path, .base and .err. Wipes values that may be secrets. */
void document_fini(struct document *document);

/* Reads the file at PATH as text that ends in a zero octet. 0; or -errno, and *TEXT is NULL. */
int document_read_file(const char *path, char **text, size_t *len)
	__attribute__((warn_unused_result));

/* Reads the text of file number FILE as YAML, and adds it to .digest. As yamltree_read(). */
int document_read_yaml(struct document *document, uint32_t file, const char *text, size_t len,
		       struct yamltree **out, struct yamltree_error *err)
	__attribute__((warn_unused_result));

/* Adds a file to .files; its number is n_files - 1. 0; or -ENOMEM, and .failed is set. */
int document_add_file(struct document *document, const char *path)
	__attribute__((warn_unused_result));

/* Adds a path to .read_files, or to .read_folders and .digest. Without memory sets .failed. */
void document_note_read(struct document *document, const char *path);
void document_note_folder(struct document *document, const char *path);

/*
 * Fails with a sentence about the key BELOW the node AT: "tcp.idle-timeout", or "" for AT itself.
 * AT may be NULL: the top. The line is that of the key, or of the last node that exists on the way
 * to it.
 */
__attribute__((format(printf, 4, 5))) void document_fail(struct document *document,
							 const struct yamltree *at,
							 const char *below, const char *format,
							 ...);
void document_fail_memory(struct document *document);

/* Fails with the error of yamltree_read() in the file of that number. */
void document_fail_yaml(struct document *document, uint32_t file, int code,
			const struct yamltree_error *error);

/* Fails with the values that the key of NODE accepts, and the given TEXT, unless it is a secret. */
void document_refuse(struct document *document, const struct yamltree *node, const char *text);

/* Fails because KEY is missing, BELOW the node AT. */
void document_refuse_missing(struct document *document, const struct yamltree *at,
			     const char *below, const struct words_key *key);

/* Fails because TEXT, the value of the key BELOW the node AT, is already at FIRST. */
void document_refuse_twice(struct document *document, const struct yamltree *at, const char *below,
			   const char *text, const struct yamltree *first);

/*
 * Configurations of several files: `include` at the top level of a file names other files.
 *
 *	volley.yaml ──► tree ◄── conf.d/a.yaml     maps and lists are joined, a value that is there
 *	                 │   ◄── conf.d/b.yaml     twice is refused
 *	                 ▼
 *	             one tree, in which each node knows the file and the line that it is from
 *
 * The text of the document becomes the text of the whole tree. A configuration without include does
 * not change.
 */

struct document;

#define INCLUDE_DEPTH_MAX 8     /* files above the included file */
#define INCLUDE_FILES_MAX 10000 /* in all */

/*
 * After document_read(), which has read the first file: joins the trees of all files. A pattern
 * starts at the folder of its file; in the first file, at the folder of .base. Its files come in
 * the order of their names.
 */
void include_run(struct document *document);

#endif
