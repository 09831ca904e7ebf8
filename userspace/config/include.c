/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins the trees of files and writes them as one text. */
#include "config/document.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"

/* --- Joining ---------------------------------------------------------------------------------- */

/* Moves the children of MORE into INTO, which has the same shape, and frees MORE. */
static void join_include(struct document *document, struct yamltree *into, struct yamltree *more)
{
	struct yamltree *next, *there;

	for (struct yamltree *child = more->first; child; child = next) {
		next = child->next;
		there = child->name ? yamltree_child(into, child->name) : NULL;
		if (!there) {
			yamltree_add(into, child);
		} else if (there->shape == child->shape && child->shape != YAMLTREE_SCALAR) {
			join_include(document, there, child);
		} else {
			document_fail(document, child, "",
				      "is given twice, first in %s:%u: keep one of them",
				      document->files[there->file], there->line);
			yamltree_free(child);
		}
	}
	more->first = more->last = NULL;
	yamltree_free(more);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void join_file(struct document *document, struct yamltree *all, struct yamltree *tree,
		      const char *path, unsigned int depth);

/* The file PATH, which the node AT includes. */
static void include_file(struct document *document, struct yamltree *all, const char *path,
			 const struct yamltree *at, unsigned int depth)
{
	uint32_t file = document->n_files;
	struct yamltree_error error;
	struct yamltree *tree = NULL;
	char *text;
	size_t len;
	int err;

	if (depth > INCLUDE_DEPTH_MAX || file == INCLUDE_FILES_MAX) {
		document_fail(document, at, "",
			      "%s: files are included %s: does one include itself?", path,
			      file == INCLUDE_FILES_MAX ? "10000 times" : "8 levels deep");
		return;
	}
	if (document_add_file(document, path))
		return;
	err = document_read_file(path, &text, &len);
	if (err && err != -ENOMEM) {
		document_fail(document, at, "", "%s cannot be read: %s", path, err_text(err));
		return;
	}
	err = err ? err : document_read_yaml(document, file, text, len, &tree, &error);
	if (text)
		explicit_bzero(text, len);
	free(text);
	if (!err && tree)
		join_file(document, all, tree, path, depth);
	else
		yamltree_free(tree);
	if (err)
		document_fail_yaml(document, file, err, &error);
}

static int compare_include_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A missing folder is no error: it has no matching file. */
static int is_trouble(const char *path, int error)
{
	(void)path;
	return error != ENOENT && error != ENOTDIR;
}

/* glob() passes no argument to the functions that open folders. */
static _Thread_local struct document *globbed;

static void *open_globbed_folder(const char *path)
{
	int fd = regular_open_folder(path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		document_note_folder(globbed, path);
	else if (fd >= 0)
		close(fd);
	else
		errno = -fd;
	return dir;
}

static struct dirent *read_globbed_folder(void *dir)
{
	return readdir(dir);
}

static void close_globbed_folder(void *dir)
{
	closedir(dir);
}

/* For glob(): as stat(). */
static int stat_globbed(const char *path, struct stat *st)
{
	int err = regular_stat(path, st);

	errno = err ? -err : errno;
	return err ? -1 : 0;
}

/* As glob(), in folders that the helper of base/files.h opens, too. */
static int glob_include(struct document *document, const char *path, glob_t *found)
{
	*found = (glob_t){ .gl_opendir = open_globbed_folder,
			   .gl_readdir = read_globbed_folder,
			   .gl_closedir = close_globbed_folder,
			   .gl_stat = stat_globbed,
			   .gl_lstat = stat_globbed };
	globbed = document;
	return glob(path, GLOB_NOSORT | GLOB_ALTDIRFUNC, is_trouble, found);
}

/* Relative patterns start at the folder of the file FROM. */
static void include_pattern(struct document *document, struct yamltree *all,
			    const struct yamltree *pattern, const char *from, unsigned int depth)
{
	const char *text = pattern->text, *slash = strrchr(from, '/');
	int folder = slash && *text != '/' ? (int)(slash - from) + 1 : 0, err;
	char *path;
	glob_t found;

	if (asprintf(&path, "%.*s%s", folder, from, text) < 0) {
		document_fail_memory(document);
		return;
	}
	err = *text ? glob_include(document, path, &found) : GLOB_NOMATCH;
	if (err == GLOB_NOMATCH && !(*text && text[strcspn(text, "*?[")]))
		document_fail(document, pattern, "", "%s cannot be read: %s", path,
			      err_text(-ENOENT));
	else if (err && err != GLOB_NOMATCH)
		document_fail(document, pattern, "", "%s: a folder cannot be read", path);
	free(path);
	if (err)
		return;
	qsort(found.gl_pathv, found.gl_pathc, sizeof(char *), compare_include_names);
	for (size_t i = 0; i < found.gl_pathc && !document->failed; i++)
		include_file(document, all, found.gl_pathv[i], pattern, depth + 1);
	globfree(&found);
}

static void include_all(struct document *document, struct yamltree *all,
			const struct yamltree *include, const char *from, unsigned int depth)
{
	const struct yamltree *one = include->shape == YAMLTREE_LIST ? include->first : include;

	for (; one && !document->failed; one = one->next) {
		if (one->shape != YAMLTREE_SCALAR)
			document_fail(document, one, "",
				      "has the wrong shape, give a path, or a list of paths");
		else
			include_pattern(document, all, one, from, depth);
	}
}

/* Puts the keys of TREE, from the file PATH, and of its included files into ALL. Frees TREE. */
static void join_file(struct document *document, struct yamltree *all, struct yamltree *tree,
		      const char *path, unsigned int depth)
{
	struct yamltree *include = yamltree_take(tree, "include");

	if (include)
		include->parent = all; /* for its path */
	if (tree->shape == YAMLTREE_MAP) {
		join_include(document, all, tree);
	} else {
		document_fail(document, tree, "",
			      "has the wrong shape, give keys such as \"server:\" at its top");
		yamltree_free(tree);
	}
	if (include && !document->failed)
		include_all(document, all, include, path, depth);
	yamltree_free(include);
}

/* --- Writing ---------------------------------------------------------------------------------- */

/* Reads one character at *AT. libyaml has checked that the text is UTF-8. */
static uint32_t read_character(const unsigned char **at)
{
	unsigned char first = *(*at)++;
	unsigned int n = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
	uint32_t value = n ? first & (0x3fu >> n) : first;

	while (n-- && **at)
		value = value << 6 | (*(*at)++ & 0x3f);
	return value;
}

static void put_quoted(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		uint32_t c = read_character(&at);

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (c >= ' ' && c < 127)
			fputc((int)c, out);
		else
			fprintf(out, "\\U%08x", c);
	}
	fputc('"', out);
}

static void put_include_node(FILE *out, const struct yamltree *node, int indent)
{
	fprintf(out, "%*s", indent, "");
	if (node->name) {
		put_quoted(out, node->name);
		fputc(':', out);
	} else {
		fputc('-', out);
	}
	if (node->shape == YAMLTREE_SCALAR) {
		fputc(' ', out);
		put_quoted(out, node->text);
	} else if (!node->first) {
		fputs(node->shape == YAMLTREE_MAP ? " {}" : " []", out);
	}
	fputc('\n', out);
	for (const struct yamltree *child = node->first; child; child = child->next)
		put_include_node(out, child, indent + 1);
}

static void write_include_text(struct document *document)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (const struct yamltree *child = document->top->first; child && out; child = child->next)
		put_include_node(out, child, 0);
	if (!out || fclose(out)) {
		free(text);
		document_fail_memory(document);
		return;
	}
	explicit_bzero(document->text, document->len);
	free(document->text);
	document->text = text;
	document->len = len;
}

/* --- All of it -------------------------------------------------------------------------------- */

void include_run(struct document *document)
{
	struct yamltree *first = document->top;

	if (document->failed || !yamltree_child(first, "include"))
		return;
	document->top = yamltree_new_map();
	if (!document->top) {
		yamltree_free(first);
		document_fail_memory(document);
		return;
	}
	join_file(document, document->top, first, document->base, 0);
	if (!document->failed && !document->leaves_zones_out)
		write_include_text(document);
}
