/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads a configuration from a file to checked values, and frees it. config.h shows the steps. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/document.h"
#include "config/fields.h"
#include "config/member.h"
#include "config/reader.h"
#include "config/words.h"

/* A check may use values that an earlier check has completed. */
static void check_config_load(struct reader *reader)
{
	static void (*const checks[])(struct reader *) = {
		reader_check_server,    reader_check_cookies, reader_check_interfaces,
		reader_check_cache,     reader_check_keys,    reader_check_remotes,
		reader_check_signing,   reader_check_zones,   reader_check_resolver,
		reader_check_recursion, reader_check_taps,
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !reader->document.failed; i++)
		checks[i](reader);
}

/* Moves the text, and the names of its files and of those with secrets, to the configuration. */
static void take_text(struct reader *reader)
{
	struct document *document = &reader->document;

	reader->config->secret_files = document->secret_files;
	reader->config->read_files = document->read_files;
	reader->config->read_folders = document->read_folders;
	memcpy(reader->config->digest, document->digest, sizeof(document->digest));
	reader->config->text = document->text;
	reader->config->n_text = document->len;
	reader->config->files = document->files;
	reader->config->n_files = document->n_files;
	document->files = NULL;
	document->n_files = 0;
	document->secret_files = document->read_files = document->read_folders = NULL;
	document->text = NULL;
}

static void begin_load(struct reader *reader)
{
	reader->document.err[0] = '\0';
	reader->config = reader_memory(reader, 1, sizeof(*reader->config));
	if (reader->config)
		reader->config->path = reader_copy(reader, reader->document.base);
	document_read(&reader->document);
	include_run(&reader->document);
}

static int end_load(struct reader *reader, struct config **out)
{
	struct document *document = &reader->document;

	document_check(document);
	if (!document->failed)
		reader_fill(reader);
	check_config_load(reader);
	if (!document->failed)
		take_text(reader);
	document_fini(document);
	if (document->failed)
		config_free(reader->config);
	else
		*out = reader->config;
	return document->failed;
}

/* FD NULL: FROM is opened. */
static int load_from(struct config **out, const int *fd, const char *from, const char *path,
		     char *err, size_t err_cap)
{
	struct reader reader = {
		.document = { .path = from, .fd = fd, .base = path, .err = err, .err_cap = err_cap }
	};

	*out = NULL;
	begin_load(&reader);
	return end_load(&reader, out);
}

int config_load(struct config **out, const char *path, char *err, size_t err_cap)
{
	return load_from(out, NULL, path, path, err, err_cap);
}

/* --- Again ------------------------------------------------------------------------------------ */

static bool has_digest(const struct document *document, const uint8_t *digest)
{
	return !document->failed && !memcmp(document->digest, digest, CONFIG_DIGEST_BYTES);
}

/* With included files the text was written from the whole tree. */
static void keep_text(struct reader *reader, const struct config *before)
{
	struct document *document = &reader->document;
	char *text = malloc(before->n_text + 1);

	if (!text) {
		document_fail_memory(document);
		return;
	}
	memcpy(text, before->text, before->n_text + 1);
	explicit_bzero(document->text, document->len);
	free(document->text);
	document->text = text;
	document->len = before->n_text;
}

/* Whatever a zone is read from is in the text: the zone itself, templates, and names of others. */
static void leave_zones_out(struct reader *reader)
{
	struct yamltree *top = reader->document.top;

	reader->config->has_same_zones = true;
	if (top)
		yamltree_free(yamltree_take(top, "zones"));
}

int config_load_again(struct config **out, const char *path, const struct config *before, char *err,
		      size_t err_cap)
{
	struct reader reader = { .document = { .path = path,
					       .base = path,
					       .err = err,
					       .err_cap = err_cap,
					       .leaves_zones_out = true } };

	*out = NULL;
	if (before)
		begin_load(&reader);
	if (!before || !has_digest(&reader.document, before->digest)) {
		config_free(reader.config);
		document_fini(&reader.document);
		return config_load(out, path, err, err_cap);
	}
	keep_text(&reader, before);
	leave_zones_out(&reader);
	return end_load(&reader, out);
}

bool config_has_digest(const char *path, const uint8_t digest[CONFIG_DIGEST_BYTES])
{
	char err[512];
	struct document document = { .path = path,
				     .base = path,
				     .err = err,
				     .err_cap = sizeof(err),
				     .leaves_zones_out = true };
	bool is_same;

	document_read(&document);
	include_run(&document);
	is_same = has_digest(&document, digest);
	document_fini(&document);
	return is_same;
}

int config_load_as(struct config **out, int fd, const char *from, const char *path, char *err,
		   size_t err_cap)
{
	return load_from(out, &fd, from, path, err, err_cap);
}

void config_locate(const struct config *config, char *sentence, size_t cap)
{
	const struct words_key *key;
	struct config_place place;
	char *rest, path[64];

	if (snprintf(path, sizeof(path), "%.*s", (int)strcspn(sentence, ":"), sentence) >=
	    (int)sizeof(path))
		return;
	key = words_find_key(path);
	if (!key)
		return;
	place = config->places[words_key_number(key)];
	rest = place.line ? strdup(sentence) : NULL;
	if (rest)
		snprintf(sentence, cap, "%s:%u: %s", config->files[place.file], place.line, rest);
	free(rest);
}

void config_zones_free(struct config_zone *zones, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		config_zone_fini(&zones[i]);
	free(zones);
}

static void forget_text(struct config *config)
{
	if (config->text)
		explicit_bzero(config->text, config->n_text);
	free(config->text);
	config->text = NULL;
	config->n_text = 0;
}

void config_forget_zones(struct config *config)
{
	config_zones_free(config->zones, config->n_zones);
	config->zones = NULL;
	config->n_zones = 0;
	forget_text(config);
	malloc_trim(0);
}

void config_recursion_fini(struct config_recursion *recursion)
{
	struct words_level level;

	words_level_of(&level, "recursion");
	fields_free(&level, recursion);
	*recursion = (struct config_recursion){ 0 };
}

/* Frees the fields without a row, then those with a row. */
void config_free(struct config *config)
{
	struct words_level level;

	if (!config)
		return;
	config_zones_free(config->zones, config->n_zones);
	config_zones_free(config->templates, config->n_templates);
	config->n_zones = config->n_templates = 0;
	config->zones = config->templates = NULL;
	for (uint32_t i = 0; i < config->n_cookie_secrets; i++)
		free(config->cookie_secrets[i].file);
	explicit_bzero(config->cookie_secrets, sizeof(config->cookie_secrets));
	words_level_top(&level);
	fields_free(&level, config);
	free(config->path);
	forget_text(config);
	fields_free_texts(config->secret_files);
	fields_free_texts(config->read_files);
	fields_free_texts(config->read_folders);
	for (uint32_t i = 0; i < config->n_files; i++)
		free(config->files[i]);
	free(config->files);
	free(config);
}
