/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the files of a configuration, and the files that they include. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/regular.h"
#include "import/parse.h"

#define DEPTH_MAX 16
#define FILE_MAX  (64u << 20)

static int read_all(const char *path, char **text, size_t *len)
{
	struct stat st;
	FILE *in;
	int ret = regular_fopen(&in, path, &st);

	*text = NULL;
	if (ret)
		return ret;
	if (st.st_size > FILE_MAX)
		ret = -EFBIG;
	else if (!(*text = malloc((size_t)st.st_size + 1)))
		ret = -ENOMEM;
	if (!ret) {
		*len = fread(*text, 1, (size_t)st.st_size, in);
		(*text)[*len] = 0;
		if (ferror(in))
			ret = -EIO;
	}
	fclose(in);
	return ret;
}

int import_parse_file(struct import_tree *tree, const char *path, const char *file,
		      unsigned int line, import_parse_text *parse, void *user)
{
	const char *name = import_tree_file(tree, path);
	size_t len = 0;
	char *text;
	int ret;

	if (!name)
		return -EINVAL;
	if (tree->depth >= DEPTH_MAX)
		return import_tree_fail(tree, file ? file : name, line,
					"more than %d files include each other", DEPTH_MAX);
	ret = read_all(path, &text, &len);
	if (ret) {
		free(text);
		return import_tree_fail(tree, file ? file : name, line, "%s: %s", path,
					err_text(ret));
	}
	tree->depth++;
	ret = strlen(text) != len ? import_tree_fail(tree, name, 1, "the file has a zero octet") :
				    parse(user, name, text, len);
	tree->depth--;
	explicit_bzero(text, len);
	free(text);
	return ret;
}

static int parse_found(struct import_tree *tree, const glob_t *found, const char *file,
		       unsigned int line, import_parse_text *parse, void *user)
{
	int ret = 0;

	for (size_t i = 0; i < found->gl_pathc && !ret; i++) {
		struct stat st;

		if (found->gl_pathc > 1 && !stat(found->gl_pathv[i], &st) && S_ISDIR(st.st_mode))
			continue;
		ret = import_parse_file(tree, found->gl_pathv[i], file, line, parse, user);
	}
	return ret;
}

static void join(char *out, size_t cap, const char *file, const char *pattern)
{
	const char *slash = strrchr(file, '/');

	if (*pattern == '/' || !slash)
		snprintf(out, cap, "%s", pattern);
	else
		snprintf(out, cap, "%.*s/%s", (int)(slash - file), file, pattern);
}

int import_parse_include(struct import_tree *tree, const char *pattern, const char *file,
			 unsigned int line, import_parse_text *parse, void *user)
{
	char path[PATH_MAX], folder[PATH_MAX + 2];
	struct stat st;
	glob_t found;
	int ret = 0;

	if (!*pattern)
		return import_tree_fail(tree, file, line, "include needs the name of a file");
	join(path, sizeof(path), file, pattern);
	if (glob(path, GLOB_NOSORT, NULL, &found) == GLOB_NOMATCH)
		snprintf(path, sizeof(path), "%s", pattern);
	globfree(&found);
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		snprintf(folder, sizeof(folder), "%s/*", path);
		snprintf(path, sizeof(path), "%.*s", (int)sizeof(path) - 1, folder);
	}
	switch (glob(path, 0, NULL, &found)) {
	case 0:
		ret = parse_found(tree, &found, file, line, parse, user);
		break;
	case GLOB_NOMATCH:
		if (!strpbrk(path, "*?["))
			ret = import_tree_fail(tree, file, line, "%s: %s", path, err_text(-ENOENT));
		break;
	default:
		ret = import_tree_fail(tree, file, line, "%s: the files cannot be listed", path);
	}
	globfree(&found);
	return ret;
}
