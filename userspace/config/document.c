/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a configuration's text, checks it by the table of keys, and writes the refusals. */
#include "config/document.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "base/files.h"
#include "config/fields.h"
#include "config/help.h"
#include "config/value.h"

/* A million zones take about 80 MB; a longer file is not a configuration. */
#define FILE_BYTES_MAX (256u << 20)
#define ACCEPTS_CAP    200

/* --- Refusals --------------------------------------------------------------------------------- */

static void vfail(struct document *document, uint32_t file, size_t line, const char *path,
		  const char *format, va_list args)
{
	int used;

	if (document->failed)
		return;
	document->failed = ERR_CONFIG;
	used = snprintf(document->err, document->err_cap, "%s:%zu: %s%s",
			file < document->n_files ? document->files[file] : document->path, line,
			path, *path ? ": " : "");
	if (used >= 0 && (size_t)used < document->err_cap)
		vsnprintf(document->err + used, document->err_cap - (size_t)used, format, args);
}

void document_fail(struct document *document, const struct yamltree *at, const char *below,
		   const char *format, ...)
{
	char path[2 * YAMLTREE_PATH_CAP];
	const struct yamltree *node;
	int is_there;
	size_t used;
	va_list args;

	at = at ? at : document->top;
	node = yamltree_find(at, below, &is_there);
	yamltree_path(at, path);
	used = strlen(path);
	snprintf(path + used, sizeof(path) - used, "%s%s",
		 used && *below && *below != '[' ? "." : "", below);
	va_start(args, format);
	vfail(document, node ? node->file : 0, node ? node->line : 1, path, format, args);
	va_end(args);
}

void document_fail_memory(struct document *document)
{
	if (document->failed)
		return;
	document->failed = -ENOMEM;
	snprintf(document->err, document->err_cap, "%s: out of memory", document->path);
}

__attribute__((format(printf, 5, 6))) static void fail_at(struct document *document, uint32_t file,
							  size_t line, const char *path,
							  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfail(document, file, line, path, format, args);
	va_end(args);
}

void document_fail_yaml(struct document *document, uint32_t file, int code,
			const struct yamltree_error *error)
{
	if (code == -ENOMEM)
		document_fail_memory(document);
	else
		fail_at(document, file, error->line, error->path, "%s", error->text);
}

void document_refuse(struct document *document, const struct yamltree *node, const char *text)
{
	char accepts[ACCEPTS_CAP], ipv4[VALUE_IPV4_CAP], shown[64];

	words_accepts(node->key, accepts, sizeof(accepts));
	if (!node->key->is_secret && value_ipv4_of(text, ipv4))
		snprintf(accepts, sizeof(accepts), "the IPv4 address that is mapped there, %s",
			 ipv4);
	snprintf(shown, sizeof(shown), "%s", node->key->is_secret ? "(hidden)" : text);
	for (char *c = shown; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	document_fail(document, node, "", "\"%s\" is not accepted, give %s", shown, accepts);
}

void document_refuse_missing(struct document *document, const struct yamltree *at,
			     const char *below, const struct words_key *key)
{
	char accepts[ACCEPTS_CAP];

	words_accepts(key, accepts, sizeof(accepts));
	document_fail(document, at, below, "is missing, give %s", accepts);
}

void document_refuse_twice(struct document *document, const struct yamltree *at, const char *below,
			   const char *text, const struct yamltree *first)
{
	if (document->n_files > 1)
		document_fail(document, at, below, "\"%s\" is given twice, first in %s:%u", text,
			      document->files[first->file], first->line);
	else
		document_fail(document, at, below, "\"%s\" is given twice, first in line %u", text,
			      first->line);
}

/* --- Shape ------------------------------------------------------------------------------------ */

static enum yamltree_shape get_shape(enum words_type type)
{
	return type == WORDS_MAP                             ? YAMLTREE_MAP :
	       type >= WORDS_MAPS && type <= WORDS_LISTS_END ? YAMLTREE_LIST :
							       YAMLTREE_SCALAR;
}

/* Lists the keys that are allowed in a place, as many as fit in a sentence. */
static void list_keys(char *known, size_t cap, const struct words_level *level)
{
	static const char more[] = "; volley.yaml(5) has all";
	size_t used = 0;

	for (unsigned int i = 0; i < level->n; i++) {
		const char *leaf = level->children[i].leaf;

		if (used + strlen(leaf) + sizeof(", ") + sizeof(more) > cap) {
			snprintf(known + used, cap - used, "%s", more);
			break;
		}
		used += (size_t)snprintf(known + used, cap - used, "%s%s", used ? ", " : "", leaf);
	}
}

/* The path of the first key of the table whose last word is LEAF; NULL: there is none. */
static const char *find_elsewhere(const char *leaf)
{
	const struct words_key *key;

	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		const char *dot = strrchr(key->path, '.');

		if (!strcmp(dot ? dot + 1 : key->path, leaf))
			return key->path;
	}
	return NULL;
}

/* A key of this place that is spelt nearly so, else one that is spelt so and has another place. */
static const char *find_meant(const char *name, const struct words_level *level)
{
	struct nearest nearest;

	nearest_begin(&nearest, name);
	for (unsigned int i = 0; i < level->n; i++)
		nearest_offer(&nearest, level->children[i].leaf);
	return nearest.found ? nearest.found : find_elsewhere(name);
}

static void refuse_unknown(struct document *document, const struct yamltree *node,
			   const struct words_level *level)
{
	const char *meant = find_meant(node->name, level);
	char known[400] = "";

	list_keys(known, sizeof(known), level);
	if (meant)
		document_fail(document, node, "",
			      "unknown key, did you mean \"%s\"? Accepted here: %s", meant, known);
	else
		document_fail(document, node, "", "unknown key, accepted here: %s", known);
}

static void refuse_shape(struct document *document, const struct yamltree *node)
{
	char accepts[ACCEPTS_CAP] = "keys such as \"server:\" at its top";

	if (node->key)
		words_accepts(node->key, accepts, sizeof(accepts));
	document_fail(document, node, "", "%s, give %s",
		      node->text && !*node->text ? "is empty" : "has the wrong shape", accepts);
}

/* Adds a copy of PATH to a list that NULL ends. */
static void note_path(struct document *document, char ***list, uint32_t *n, const char *path)
{
	char **grown = realloc(*list, (*n + 2) * sizeof(*grown));

	if (grown)
		*list = grown;
	if (!grown || !(grown[*n] = strdup(path))) {
		document_fail_memory(document);
		return;
	}
	grown[++*n] = NULL;
}

/* Searches from the end, since keys with secrets mostly follow each other. */
static void note_secret(struct document *document, uint32_t file)
{
	for (uint32_t i = document->n_secret_files; i > 0; i--)
		if (!strcmp(document->secret_files[i - 1], document->files[file]))
			return;
	note_path(document, &document->secret_files, &document->n_secret_files,
		  document->files[file]);
}

void document_note_read(struct document *document, const char *path)
{
	note_path(document, &document->read_files, &document->n_read_files, path);
}

static void check_document_map(struct document *document, struct yamltree *map,
			       const struct words_level *level);

/* The level of a list of maps is made once for all items. */
static void check_document_below(struct document *document, struct yamltree *node,
				 const struct words_level *above, const struct words_child *child)
{
	struct words_level level;

	words_level_below(&level, above, child);
	if (child->key->type == WORDS_MAP)
		check_document_map(document, node, &level);
	else
		for (struct yamltree *item = node->first; item && !document->failed;
		     item = item->next) {
			item->key = node->key;
			check_document_map(document, item, &level);
		}
}

static void check_values(struct document *document, struct yamltree *list)
{
	for (struct yamltree *item = list->first; item && !document->failed; item = item->next) {
		item->key = list->key;
		if (item->shape != YAMLTREE_SCALAR)
			refuse_shape(document, item);
	}
}

static void check_document_node(struct document *document, struct yamltree *node,
				const struct words_level *level)
{
	const struct words_child *child = words_level_find(level, node->name);

	if (!child) {
		refuse_unknown(document, node, level);
		return;
	}
	node->key = child->key;
	if (node->key->is_secret)
		note_secret(document, node->file);
	if (node->key->type == WORDS_PATTERNS)
		return; /* include_run() checks and removes it */
	if (node->shape != get_shape(node->key->type))
		refuse_shape(document, node);
	else if (node->key->type == WORDS_MAP || node->key->type == WORDS_MAPS)
		check_document_below(document, node, level, child);
	else if (node->shape == YAMLTREE_LIST)
		check_values(document, node);
}

static void check_document_map(struct document *document, struct yamltree *map,
			       const struct words_level *level)
{
	if (map->shape != YAMLTREE_MAP) {
		refuse_shape(document, map);
		return;
	}
	for (struct yamltree *node = map->first; node && !document->failed; node = node->next)
		check_document_node(document, node, level);
}

void document_check(struct document *document)
{
	struct words_level level;

	if (document->failed || !document->top)
		return;
	words_level_top(&level);
	check_document_map(document, document->top, &level);
}

/* --- Files ------------------------------------------------------------------------------------ */

/* Not by its position, which the runner, which has the file from us, would share. */
static int read_all_document(int fd, char **text, size_t *len)
{
	ssize_t got = 1;

	for (size_t cap = 0; got > 0;) {
		if (*len == cap) {
			char *grown = realloc(*text, (cap = cap ? 2 * cap : 65536) + 1);

			if (!grown)
				return -ENOMEM;
			*text = grown;
		}
		got = pread(fd, *text + *len, cap - *len, (off_t)*len);
		if (got < 0)
			return -errno;
		*len += (size_t)got;
		if (*len > FILE_BYTES_MAX)
			return -EFBIG;
	}
	(*text)[*len] = '\0';
	return 0;
}

static int read_open_file(int fd, char **text, size_t *len)
{
	int err;

	*text = NULL;
	*len = 0;
	err = read_all_document(fd, text, len);
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

int document_read_file(const char *path, char **text, size_t *len)
{
	int fd = regular_open(path, NULL), err;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return fd;
	err = read_open_file(fd, text, len);
	close(fd);
	return err;
}

/* Reads a file that a client has opened: reading anything but a regular file might wait. */
static int read_given_file(int fd, char **text, size_t *len)
{
	struct stat st;

	*text = NULL;
	*len = 0;
	if (fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? read_open_file(fd, text, len) : ERR_NOT_REGULAR;
}

int document_add_file(struct document *document, const char *path)
{
	char **files = realloc(document->files, (document->n_files + 1) * sizeof(*files));

	if (files)
		document->files = files;
	if (!files || !(files[document->n_files] = strdup(path))) {
		document_fail_memory(document);
		return -ENOMEM;
	}
	document->n_files++;
	return 0;
}

/* The digest so far, the file's name, and the digest of its text. */
static int note_document_text(struct document *document, const char *name, const char *text,
			      size_t len)
{
	struct {
		uint8_t before[CONFIG_DIGEST_BYTES];
		uint8_t name[CONFIG_DIGEST_BYTES];
		uint8_t text[CONFIG_DIGEST_BYTES];
	} parts;

	memcpy(parts.before, document->digest, sizeof(parts.before));
	return EVP_Digest(name, strlen(name), parts.name, NULL, EVP_sha256(), NULL) &&
			       EVP_Digest(text, len, parts.text, NULL, EVP_sha256(), NULL) &&
			       EVP_Digest(&parts, sizeof(parts), document->digest, NULL,
					  EVP_sha256(), NULL) ?
		       0 :
		       -ENOMEM;
}

/* One more folder may have no file for the pattern, but volley-runner has to know it. */
void document_note_folder(struct document *document, const char *path)
{
	note_path(document, &document->read_folders, &document->n_read_folders, path);
	if (note_document_text(document, path, "", 0))
		document_fail_memory(document);
}

int document_read_yaml(struct document *document, uint32_t file, const char *text, size_t len,
		       struct yamltree **out, struct yamltree_error *err)
{
	/* the first file may have another name while it is tried: config_load_as() */
	int code = note_document_text(document, file ? document->files[file] : document->base, text,
				      len);

	*out = NULL;
	if (code)
		return code;
	return document->leaves_zones_out ? yamltree_read_rest(out, text, len, file, "zones", err) :
					    yamltree_read(out, text, len, file, err);
}

void document_read(struct document *document)
{
	struct yamltree_error error;
	int err;

	if (document->failed || document_add_file(document, document->path))
		return;
	err = document->fd ? read_given_file(*document->fd, &document->text, &document->len) :
			     document_read_file(document->path, &document->text, &document->len);
	if (err) {
		document->failed = err;
		snprintf(document->err, document->err_cap, "%s: cannot be read: %s", document->path,
			 err_text(err));
		return;
	}
	err = document_read_yaml(document, 0, document->text, document->len, &document->top,
				 &error);
	if (!err)
		return;
	/* Reports a wrong shape before the fault instead: it is mostly the cause. */
	document_check(document);
	document_fail_yaml(document, 0, err, &error);
}

void document_fini(struct document *document)
{
	if (document->text)
		explicit_bzero(document->text, document->len);
	free(document->text);
	document->text = NULL;
	yamltree_free(document->top);
	for (uint32_t i = 0; i < document->n_files; i++)
		free(document->files[i]);
	free(document->files);
	fields_free_texts(document->secret_files);
	fields_free_texts(document->read_files);
	fields_free_texts(document->read_folders);
}
