/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration's text: read, walked against the table of keys, and quoted in refusals. */
#include "config/source.h"

#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/regular.h"

#define FILE_BYTES_MAX \
	(256u << 20) /* a million zones are about 80 MB; more is not a configuration */

bool source_find_line(const struct source *source, size_t line, const char **file, size_t *at)
{
	const struct source_line *from;

	*file = source->path;
	*at = line;
	if (!source->lines)
		return true;
	if (!line || line > source->n_lines)
		return false;
	from = &source->lines[line - 1];
	*file = source->files[from->file];
	*at = from->line;
	return true;
}

void source_fail(struct source *source, size_t line, const char *path, const char *format, ...)
{
	const char *file;
	va_list args;
	int used;

	if (source->failed)
		return;
	source->failed = ERR_CONFIG;
	if (!line)
		line = yamlwalk_find_line(source->text, source->len, path);
	(void)source_find_line(source, line, &file, &line);
	used = snprintf(source->err, source->err_cap, "%s:%zu: %s%s", file, line, path,
			*path ? ": " : "");
	if (used < 0 || (size_t)used >= source->err_cap)
		return;
	va_start(args, format);
	vsnprintf(source->err + used, source->err_cap - (size_t)used, format, args);
	va_end(args);
}

void source_fail_memory(struct source *source)
{
	if (source->failed)
		return;
	source->failed = -ENOMEM;
	snprintf(source->err, source->err_cap, "%s: out of memory", source->path);
}

const struct words_key *source_find_key(const char *path)
{
	char generic[YAMLWALK_PATH_CAP];
	size_t used = 0;

	for (; *path && used < sizeof(generic) - 1; path++) {
		generic[used++] = *path;
		if (*path == '[')
			path += strcspn(path, "]") - 1;
	}
	generic[used] = '\0';
	if (used > 2 && !strcmp(generic + used - 2, "[]"))
		generic[used - 2] = '\0';
	return words_find_key(generic);
}

bool source_has(const struct source *source, const char *path)
{
	return source->has[words_key_number(source_find_key(path))];
}

void source_refuse_value(struct source *source, const char *path, const char *text)
{
	const struct words_key *key = source_find_key(path);
	char accepts[160], shown[64];

	words_accepts(key, accepts, sizeof(accepts));
	snprintf(shown, sizeof(shown), "%s", text);
	for (char *c = shown; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	source_fail(source, 0, path, "\"%s\" is not accepted, give %s", shown, accepts);
}

void source_refuse_missing(struct source *source, const char *path)
{
	char accepts[160];

	words_accepts(source_find_key(path), accepts, sizeof(accepts));
	source_fail(source, 0, path, "is missing, give %s", accepts);
}

/* Shape: each node is a key of the table, and a map, a list or a value as the table wants it. */

static enum yamlwalk_shape get_shape(enum words_type type)
{
	switch (type) {
	case WORDS_MAP:
		return YAMLWALK_MAP;
	case WORDS_MAPS:
	case WORDS_ADDRESSES:
	case WORDS_PEERS:
	case WORDS_RULES:
	case WORDS_REMOTES:
	case WORDS_PREFIXES:
	case WORDS_UPSTREAMS:
	case WORDS_HOSTS:
	case WORDS_RECORDS:
	case WORDS_DOMAINS:
	case WORDS_CORES:
	case WORDS_CHOICES:
	case WORDS_COMMAND:
	case WORDS_WORDS:
	case WORDS_PATHS:
		return YAMLWALK_LIST;
	default:
		return YAMLWALK_SCALAR;
	}
}

/* Lists the last words of the keys that may stand where NODE does, as many as a sentence has room for. */
static void refuse_unknown(struct source *source, const struct yamlwalk_node *node)
{
	const char *dot = strrchr(node->generic, '.');
	int len = dot ? (int)(dot - node->generic) + 1 : 0;
	static const char more[] = "; volley.yaml(5) has all";
	char known[400], path[2 * YAMLWALK_PATH_CAP];
	const struct words_key *key;
	size_t used = 0;

	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		const char *leaf = strrchr(key->path, '.');

		leaf = leaf ? leaf + 1 : key->path;
		snprintf(path, sizeof(path), "%.*s%s", len, node->generic, leaf);
		if (words_find_key(path) != key)
			continue;
		if (used + strlen(leaf) + sizeof(", ") + sizeof(more) > sizeof(known)) {
			snprintf(known + used, sizeof(known) - used, "%s", more);
			break;
		}
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 used ? ", " : "", leaf);
	}
	source_fail(source, node->line, node->path, "unknown key, accepted here: %s", known);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* PATH comes behind the list that was opened last: if it is none of its items, that has none. */
static void end_list(struct source *source, const char *path)
{
	size_t len = strlen(source->list);
	char **node, *copy;

	if (!len || (!strncmp(path, source->list, len) && path[len] == '['))
		return;
	copy = strdup(source->list);
	node = copy ? tsearch(copy, &source->empty, compare_paths) : NULL;
	if (!node || *node != copy)
		free(copy);
	if (!node)
		source_fail_memory(source);
}

bool source_has_empty(const struct source *source, const char *path)
{
	return tfind(path, &source->empty, compare_paths) != NULL;
}

/* Keys with secrets stand behind each other, mostly. */
static void note_secret(struct source *source, size_t line)
{
	uint32_t n = source->n_secret_files;
	const char *file;
	char **grown;

	(void)source_find_line(source, line, &file, &line);
	for (uint32_t i = n; i > 0; i--)
		if (!strcmp(source->secret_files[i - 1], file))
			return;
	grown = realloc(source->secret_files, (n + 2) * sizeof(*grown));
	if (grown)
		source->secret_files = grown;
	if (!grown || !(grown[n] = strdup(file))) {
		source_fail_memory(source);
		return;
	}
	grown[n + 1] = NULL;
	source->n_secret_files = n + 1;
}

static int check_node(void *user, const struct yamlwalk_node *node)
{
	size_t len = strlen(node->generic);
	int is_item = len > 2 && node->generic[len - 1] == ']';
	const struct words_key *key = source_find_key(node->path);
	enum yamlwalk_shape shape = YAMLWALK_MAP;
	struct source *source = user;
	char accepts[160] = "keys such as \"server:\" at its top";

	end_list(source, node->path);
	snprintf(source->list, sizeof(source->list), "%s",
		 node->shape == YAMLWALK_LIST ? node->path : "");
	if (!key && len) {
		refuse_unknown(source, node);
		return source->failed;
	}
	if (key) {
		assert(words_key_number(key) < WORDS_KEYS_MAX);
		source->has[words_key_number(key)] = true;
		shape = get_shape(key->type);
		words_accepts(key, accepts, sizeof(accepts));
		if (key->is_secret)
			note_secret(source, node->line);
	}
	if (is_item)
		shape = key->type == WORDS_MAPS ? YAMLWALK_MAP : YAMLWALK_SCALAR;
	if (node->shape != shape)
		source_fail(source, node->line, node->path, "%s, give %s",
			    node->scalar && !*node->scalar ? "is empty" : "has the wrong shape",
			    accepts);
	return source->failed;
}

void source_check_shape(struct source *source)
{
	struct yamlwalk_error error;
	int err;

	if (source->failed)
		return;
	err = yamlwalk(source->text, source->len, check_node, source, &error);
	if (err == -ENOMEM)
		source_fail_memory(source);
	else if (err && !source->failed)
		source_fail(source, error.line, error.path, "%s", error.text);
	end_list(source, "");
}

void source_refuse_twice(struct source *source, const char *path, const char *text,
			 const char *first)
{
	size_t line = yamlwalk_find_line(source->text, source->len, first);
	const char *file;

	(void)source_find_line(source, line, &file, &line);
	if (source->lines)
		source_fail(source, 0, path, "\"%s\" is given twice, first in %s:%zu", text, file,
			    line);
	else
		source_fail(source, 0, path, "\"%s\" is given twice, first in line %zu", text,
			    line);
}

/* Reads the whole file; what is there is text that ends in a zero byte. */
static int read_all(struct source *source, int fd)
{
	ssize_t got = 1;

	for (size_t cap = 0; got > 0;) {
		if (source->len == cap) {
			char *grown = realloc(source->text, (cap = cap ? 2 * cap : 65536) + 1);

			if (!grown)
				return -ENOMEM;
			source->text = grown;
		}
		got = read(fd, source->text + source->len, cap - source->len);
		if (got < 0)
			return -errno;
		source->len += (size_t)got;
		if (source->len > FILE_BYTES_MAX)
			return -EFBIG;
	}
	source->text[source->len] = '\0';
	return 0;
}

void source_read(struct source *source)
{
	int fd;

	if (source->failed)
		return;
	fd = regular_open(source->path, NULL);
	source->failed = fd < 0 ? fd : read_all(source, fd);
	if (fd >= 0)
		close(fd);
	if (source->failed)
		snprintf(source->err, source->err_cap, "%s: cannot be read: %s", source->path,
			 err_text(source->failed));
}

void source_fini(struct source *source)
{
	if (source->text)
		explicit_bzero(source->text, source->len);
	free(source->text);
	source->text = NULL;
	for (uint32_t i = 0; i < source->n_files; i++)
		free(source->files[i]);
	free(source->files);
	for (uint32_t i = 0; source->secret_files && i < source->n_secret_files; i++)
		free(source->secret_files[i]);
	free(source->secret_files);
	free(source->lines);
	tdestroy(source->empty, free);
	source->empty = NULL;
}
