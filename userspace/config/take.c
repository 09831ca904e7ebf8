/* SPDX-License-Identifier: GPL-2.0-only */
#include "config/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/value.h"
#include "config/yamlwalk.h"

const char *take_join_path(struct take *take, char *buf, const char *prefix, const char *leaf)
{
	if (snprintf(buf, YAMLWALK_PATH_CAP, "%s%s", prefix, leaf) >= YAMLWALK_PATH_CAP)
		source_fail(&take->source, 1, "", "a key is too long");
	return buf;
}

/* TEXT, or the default of the key; NULL after a failure or when there is neither. */
static const char *take_text(struct take *take, const char *path, const char *text)
{
	if (take->source.failed)
		return NULL;
	return text ? text : source_find_key(path)->fallback;
}

uint64_t take_number(struct take *take, const char *prefix, const char *leaf, const char *text)
{
	char path[YAMLWALK_PATH_CAP];
	uint64_t value = 0;

	take_join_path(take, path, prefix, leaf);
	text = take_text(take, path, text);
	if (text && value_read_number(source_find_key(path), text, &value))
		source_refuse_value(&take->source, path, text);
	return value;
}

void *take_memory(struct take *take, size_t n, size_t size)
{
	void *memory;

	if (take->source.failed || !n)
		return NULL;
	memory = calloc(n, size);
	if (!memory)
		source_fail_memory(&take->source);
	return memory;
}

char *take_path(struct take *take, const char *prefix, const char *leaf, const char *text)
{
	const char *slash = strrchr(take->source.path, '/');
	int folder = slash ? (int)(slash - take->source.path) + 1 : 0;
	char path[YAMLWALK_PATH_CAP];
	char *out = NULL;

	take_join_path(take, path, prefix, leaf);
	text = take_text(take, path, text);
	if (take->source.failed)
		return NULL;
	if (!text)
		source_refuse_missing(&take->source, path);
	else if (!*text)
		source_refuse_value(&take->source, path, text);
	else if (asprintf(&out, "%.*s%s", *text == '/' ? 0 : folder, take->source.path, text) < 0)
		source_fail_memory(&take->source);
	return take->source.failed ? NULL : out;
}

char *take_string(struct take *take, const char *path, const char *text)
{
	const struct words_key *key = source_find_key(path);
	char *copy;

	if (take->source.failed || !text)
		return NULL;
	if (strlen(text) < key->min || strlen(text) > key->max) {
		source_refuse_value(&take->source, path, text);
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		source_fail_memory(&take->source);
	return copy;
}

char *take_copy(struct take *take, const char *text)
{
	char *copy;

	if (take->source.failed)
		return NULL;
	copy = strdup(text);
	if (!copy)
		source_fail_memory(&take->source);
	return copy;
}
