/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/take.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/regular.h"
#include "config/value.h"
#include "config/yamlwalk.h"

const char *take_join_path(struct take *take, char *buf, const char *prefix, const char *leaf)
{
	if (snprintf(buf, YAMLWALK_PATH_CAP, "%s%s", prefix, leaf) >= YAMLWALK_PATH_CAP)
		source_fail(&take->source, 1, "", "a key is too long");
	return buf;
}

/* FNV-1a: nobody gains from two that collide. */
static uint64_t digest(uint64_t before, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < n; i++)
		before = (before ^ at[i]) * 0x100000001b3;
	return (before ^ n) * 0x100000001b3;
}

/* The key goes in, too; which item of a list this is said of is its place among the others. */
void take_note(struct take *take, const char *path, const void *bytes, size_t n)
{
	const struct words_key *key = take->source.failed ? NULL : source_find_key(path);
	uint64_t *at;

	if (!key || !key->needs_start)
		return;
	at = &take->config->start_digests[words_key_number(key)];
	*at = digest(digest(*at, key->path, strlen(key->path)), bytes, n);
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
	if (text)
		take_note(take, path, &value, sizeof(value));
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
	const char *slash = strrchr(take->source.base, '/');
	int folder = slash ? (int)(slash - take->source.base) + 1 : 0;
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
	else if (asprintf(&out, "%.*s%s", *text == '/' ? 0 : folder, take->source.base, text) < 0)
		source_fail_memory(&take->source);
	else
		take_note(take, path, out, strlen(out));
	return take->source.failed ? NULL : out;
}

/* Reads a file that not everyone can read; what is behind the last word of it is cut off. */
static int read_private(const char *file, char *text, size_t cap)
{
	struct stat st;
	ssize_t n = 0;
	int fd = regular_open(file, &st), err = 0;

	if (fd < 0)
		return fd;
	if (st.st_mode & (S_IROTH | S_IWOTH))
		err = -EPERM;
	else if ((n = read(fd, text, cap - 1)) < 0)
		err = -errno;
	close(fd);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	text[n > 0 ? n : 0] = '\0';
	return err;
}

bool take_private(struct take *take, const char *path, const char *file, char *text, size_t cap)
{
	int err = read_private(file, text, cap);

	if (err == -EPERM)
		source_fail(&take->source, 0, path,
			    "everyone can read or write %s: chmod o-rw it, and make a new secret",
			    file);
	else if (err)
		source_fail(&take->source, 0, path, "%s cannot be read: %s", file, err_text(err));
	return !err;
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
	take_note(take, path, text, strlen(text));
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

char *take_domain(struct take *take, const char *path, const char *text)
{
	char *name = NULL;
	int err;

	if (take->source.failed)
		return NULL;
	if (!text) {
		source_refuse_missing(&take->source, path);
		return NULL;
	}
	err = value_read_domain(text, &name);
	if (err == -ENOMEM)
		source_fail_memory(&take->source);
	else if (err)
		source_refuse_value(&take->source, path, text);
	return name;
}

char *take_name(struct take *take, const char *path, const char *text)
{
	const struct words_key *key = source_find_key(path);

	if (!text)
		source_refuse_missing(&take->source, path);
	else if (value_check_name(text, key->min, key->max))
		source_refuse_value(&take->source, path, text);
	else
		return take_copy(take, text);
	return NULL;
}

struct config_addr *take_addresses(struct take *take, const char *key,
				   const struct config_raw_list *list, uint16_t port, uint32_t *n)
{
	struct config_addr *addrs = take_memory(take, list->n, sizeof(*addrs));
	char path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP], leaf[16];

	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		snprintf(leaf, sizeof(leaf), "[%u]", i);
		take_join_path(take, path, key, leaf);
		if (value_read_addr(list->items[i], port, &addrs[i]))
			source_refuse_value(&take->source, path, list->items[i]);
		for (uint32_t j = 0; j < i && !take->source.failed; j++) {
			if (memcmp(&addrs[i], &addrs[j], sizeof(addrs[i])) != 0)
				continue;
			snprintf(leaf, sizeof(leaf), "[%u]", j);
			source_refuse_twice(&take->source, path, list->items[i],
					    take_join_path(take, first, key, leaf));
		}
	}
	*n = addrs ? list->n : 0;
	take_note(take, key, addrs, *n * sizeof(*addrs));
	return addrs;
}

char **take_texts(struct take *take, const struct config_raw_list *list)
{
	char **texts = list->n ? take_memory(take, list->n + 1, sizeof(*texts)) : NULL;

	for (uint32_t i = 0; i < list->n && !take->source.failed; i++)
		texts[i] = take_copy(take, list->items[i]);
	return texts;
}

char **take_domains(struct take *take, const char *key, const struct config_raw_list *list)
{
	char **names = list->n ? take_memory(take, list->n + 1, sizeof(*names)) : NULL;
	char path[YAMLWALK_PATH_CAP];

	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		snprintf(path, sizeof(path), "%s[%u]", key, i);
		names[i] = take_domain(take, path, list->items[i]);
	}
	return names;
}

/* Bounds of the keys are those of the fields. */
static void put_number(void *at, size_t n_bytes, uint64_t value)
{
	switch (n_bytes) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

void take_fields(struct take *take, const char *prefix, const struct take_field *fields, size_t n,
		 const void *raw, void *out, bool is_base)
{
	for (const struct take_field *field = fields; field < fields + n; field++) {
		const char *text = *(char *const *)((const char *)raw + field->raw_at);

		if (text || !is_base)
			put_number((char *)out + field->at, field->n_bytes,
				   take_number(take, prefix, field->leaf, text));
	}
}

void take_refuse_twice(struct take *take, const char *list, const char *leaf, uint32_t at,
		       uint32_t first, const char *text)
{
	char path[YAMLWALK_PATH_CAP], before[YAMLWALK_PATH_CAP];

	snprintf(path, sizeof(path), "%s[%u].%s", list, at, leaf);
	snprintf(before, sizeof(before), "%s[%u].%s", list, first, leaf);
	source_refuse_twice(&take->source, path, text, before);
}
