/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/runner_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/trusted_open.h"
#include "config/fields.h"
#include "zone/text.h"

#define INCLUDE "$INCLUDE"

int runner_opener_init(struct runner_opener *opener)
{
	*opener = (struct runner_opener){ 0 };
	return getrandom(opener->key, sizeof(opener->key), 0) < 0 ? -errno : 0;
}

/* --- Collected -------------------------------------------------------------------------------- */

/* The meaning of a path; each gives it another hash. */
enum allowed {
	ALLOWED_FILE,   /* the file */
	ALLOWED_NAMES,  /* the names in this folder */
	ALLOWED_INSIDE, /* each file directly in it */
};

static uint64_t hash_path(const struct runner_opener *opener, const char *path, size_t n,
			  enum allowed what)
{
	return siphash24(opener->key, path, n) ^ what;
}

struct collecting {
	struct runner_files *files;
	const struct runner_opener *opener;
};

static int add_path(const struct collecting *c, const char *path, enum allowed what)
{
	struct runner_files *files = c->files;
	uint64_t *grown = files->hashes;

	if (files->n == files->cap) {
		files->cap = files->cap ? files->cap * 2 : 64;
		grown = reallocarray(grown, files->cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		files->hashes = grown;
	}
	grown[files->n++] = hash_path(c->opener, path, strlen(path), what);
	return 0;
}

static int add_folder(const struct collecting *c, const char *path)
{
	int err = add_path(c, path, ALLOWED_NAMES);

	return err ? err : add_path(c, path, ALLOWED_INSIDE);
}

static int add_key_path(void *user, const struct words_key *key, const char *text)
{
	if ((key->type != WORDS_PATH && key->type != WORDS_PATHS) || key->use == WORDS_WRITE ||
	    key->use == WORDS_OWN)
		return 0;
	return key->use == WORDS_FOLDER ? add_folder(user, text) :
					  add_path(user, text, ALLOWED_FILE);
}

static int add_paths(const struct collecting *c, char *const *paths, enum allowed what)
{
	int err = 0;

	for (; paths && *paths && !err; paths++)
		err = add_path(c, *paths, what);
	return err;
}

/* The folder of keys, where no policy names one: zonemgr/signing.c. */
static int add_usual_keys(const struct collecting *c, const struct config *config)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/keys", config->storage ? config->storage : "");

	return config->storage && n < (int)sizeof(path) ? add_folder(c, path) : 0;
}

static int add_patterns(struct runner_files *files, const struct config *config)
{
	uint32_t n = 0;

	files->patterns = calloc(config->n_templates + 1, sizeof(*files->patterns));
	if (!files->patterns)
		return -ENOMEM;
	for (uint32_t i = 0; i < config->n_templates; i++) {
		const char *pattern = config->templates[i].file;

		if (!pattern)
			continue;
		files->patterns[n] = strdup(pattern);
		if (!files->patterns[n++])
			return -ENOMEM;
	}
	return 0;
}

static int compare_hashes(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

int runner_files_collect(struct runner_files *files, const struct runner_opener *opener,
			 const struct config *config)
{
	struct collecting c = { files, opener };
	struct config source = *config; /* the visitor changes nothing, but takes no const */
	struct words_level top;
	int err;

	words_level_top(&top);
	err = fields_each_text(&top, &source, add_key_path, &c);
	if (!err && config->path)
		err = add_path(&c, config->path, ALLOWED_FILE);
	for (uint32_t i = 0; i < config->n_files && !err; i++)
		err = add_path(&c, config->files[i], ALLOWED_FILE);
	if (!err)
		err = add_paths(&c, config->read_files, ALLOWED_FILE);
	if (!err)
		err = add_paths(&c, config->read_folders, ALLOWED_NAMES);
	if (!err)
		err = add_usual_keys(&c, config);
	if (!err)
		err = add_patterns(files, config);
	if (files->n)
		qsort(files->hashes, files->n, sizeof(*files->hashes), compare_hashes);
	return err;
}

int runner_files_copy(struct runner_files *to, const struct runner_files *from)
{
	size_t n = 0;

	while (from->patterns && from->patterns[n])
		n++;
	to->hashes = malloc((from->n + 1) * sizeof(*to->hashes));
	to->patterns = calloc(n + 1, sizeof(*to->patterns));
	if (!to->hashes || !to->patterns)
		return -ENOMEM;
	if (from->n)
		memcpy(to->hashes, from->hashes, from->n * sizeof(*to->hashes));
	to->n = to->cap = from->n;
	for (size_t i = 0; i < n; i++) {
		to->patterns[i] = strdup(from->patterns[i]);
		if (!to->patterns[i])
			return -ENOMEM;
	}
	return 0;
}

void runner_files_fini(struct runner_files *files)
{
	free(files->hashes);
	fields_free_texts(files->patterns);
	*files = (struct runner_files){ 0 };
}

/* --- Named ------------------------------------------------------------------------------------ */

static bool has_hash(const struct runner_files *sets, size_t n, uint64_t hash)
{
	for (size_t i = 0; i < n; i++)
		if (sets[i].n &&
		    bsearch(&hash, sets[i].hashes, sets[i].n, sizeof(hash), compare_hashes))
			return true;
	return false;
}

/* The length of what %s stands for at TEXT: a file's name without a slash, and not "." or "..". */
static bool is_part(const char *text, size_t n)
{
	return n && !memchr(text, '/', n) && !(n <= 2 && !memcmp(text, "..", n));
}

/* True if config_zone_path() could make PATH of the pattern, which has one %s at most. */
static bool fits_pattern(const char *pattern, const char *path)
{
	for (; *pattern; pattern++, path++) {
		if (*pattern == '%' && *++pattern == 's') {
			for (size_t n = strcspn(path, "/"); n; n--)
				if (is_part(path, n) && fits_pattern(pattern + 1, path + n))
					return true;
			return false;
		}
		if (*pattern != *path)
			return false;
	}
	return !*path;
}

static bool fits_any_pattern(const struct runner_files *sets, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		for (char *const *at = sets[i].patterns; at && *at; at++)
			if (fits_pattern(*at, path))
				return true;
	return false;
}

/* A file directly in a folder that is named. */
static bool is_in_named_folder(const struct runner_opener *opener, const struct runner_files *sets,
			       size_t n, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && is_part(slash + 1, strlen(slash + 1)) &&
	       has_hash(sets, n, hash_path(opener, path, (size_t)(slash - path), ALLOWED_INSIDE));
}

static bool is_named_file(const struct runner_opener *opener, const struct runner_files *sets,
			  size_t n, const char *path)
{
	return has_hash(sets, n, hash_path(opener, path, strlen(path), ALLOWED_FILE)) ||
	       is_in_named_folder(opener, sets, n, path) || fits_any_pattern(sets, n, path);
}

/* --- Included --------------------------------------------------------------------------------- */

static bool was_included(const struct runner_opener *opener, uint64_t hash)
{
	for (size_t i = 0; i < RUNNER_INCLUDED_MAX; i++)
		if (opener->included[i] == hash)
			return true;
	return false;
}

static void note_included(struct runner_opener *opener, const char *path)
{
	const uint64_t hash = hash_path(opener, path, strlen(path), ALLOWED_FILE);

	if (was_included(opener, hash))
		return;
	opener->included[opener->next_included] = hash;
	opener->next_included = (opener->next_included + 1) % RUNNER_INCLUDED_MAX;
}

/* True if LINE is the directive, and its path is PATH; a relative one starts at FROM's folder. */
static bool is_include_of(const char *line, const char *from, const char *path)
{
	const char *slash = strrchr(from, '/');
	size_t n_folder = slash ? (size_t)(slash - from) + 1 : 0;
	struct text_token token;

	line += strspn(line, " \t");
	if (strncasecmp(line, INCLUDE, strlen(INCLUDE)) != 0)
		return false;
	line += strlen(INCLUDE);
	if (!strchr(" \t\"", *line) || !text_next(&line, &token))
		return false;
	if (!token.quoted) /* a line is not an entry: its end and comments are still there */
		token.n = strcspn(token.at, " \t\r\n;\"");
	if (*token.at != '/') {
		if (strncmp(path, from, n_folder) != 0)
			return false;
		path += n_folder;
	}
	return strlen(path) == token.n && !memcmp(path, token.at, token.n);
}

/* Reads the file. A directive that is in fact a part of a record is no harm: the operator wrote it.
 */
static bool has_include(int fd, const char *from, const char *path)
{
	FILE *in = fdopen(fd, "r");
	bool is_found = false;
	char *line = NULL;
	size_t cap = 0;

	if (!in) {
		close(fd);
		return false;
	}
	while (!is_found && getline(&line, &cap, in) >= 0)
		is_found = is_include_of(line, from, path);
	free(line);
	fclose(in);
	return is_found;
}

static bool is_included(struct runner_opener *opener, const struct runner_files *sets, size_t n,
			const char *from, const char *path)
{
	bool is_askers;
	int fd;

	if (!is_named_file(opener, sets, n, from) &&
	    !was_included(opener, hash_path(opener, from, strlen(from), ALLOWED_FILE)))
		return false;
	fd = trusted_open(from, TRUSTED_FILE, &is_askers);
	if (fd >= 0 && is_askers) {
		close(fd);
		return false;
	}
	return fd >= 0 && has_include(fd, from, path);
}

/* --- Opened ----------------------------------------------------------------------------------- */

int runner_files_open(struct runner_opener *opener, const struct runner_files *sets, size_t n,
		      const char *path, const char *from)
{
	if (!is_named_file(opener, sets, n, path)) {
		if (!*from || !is_included(opener, sets, n, from, path))
			return -EACCES;
		note_included(opener, path);
	}
	return trusted_open(path, TRUSTED_FILE, NULL);
}

int runner_files_open_folder(const struct runner_opener *opener, const struct runner_files *sets,
			     size_t n, const char *path)
{
	return has_hash(sets, n, hash_path(opener, path, strlen(path), ALLOWED_NAMES)) ?
		       trusted_open(path, TRUSTED_FOLDER, NULL) :
		       -EACCES;
}
