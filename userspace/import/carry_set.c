/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts a value of the other server to the form of volley.yaml(5), by the type of our key. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/value.h"
#include "config/words.h"
#include "import/carry.h"

#define TEXT_CAP 4600

/* "4m", "64k", "10MB" */
static bool read_size(const char *text, uint64_t *out)
{
	static const char units[] = "bkmgt";
	char *end;
	const char *unit;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (end == text || errno)
		return false;
	if (!*end)
		return true;
	unit = strchr(units, *end | 0x20);
	if (!unit || (end[1] && strcmp(end + 1, "b") && strcmp(end + 1, "B")))
		return false;
	*out <<= 10 * (unit - units);
	return true;
}

static bool read_number(const struct words_key *key, const char *text, uint64_t *out)
{
	long long seconds;
	char *end;

	switch (key->type) {
	case WORDS_SIZE:
		return read_size(text, out);
	case WORDS_SECONDS:
		seconds = import_seconds(text);
		*out = (uint64_t)seconds;
		return seconds >= 0;
	default: /* a count, milliseconds */
		*out = strtoull(text, &end, 10);
		return end != text && !*end && *text != '-';
	}
}

static void put_number(const struct words_key *key, uint64_t n, char *buf, size_t cap)
{
	if (key->type == WORDS_SIZE)
		words_put_size(n, buf, cap);
	else if (key->type == WORDS_SECONDS)
		words_put_seconds(n, buf, cap);
	else if (key->type == WORDS_MS)
		words_put_ms(n, buf, cap);
	else
		snprintf(buf, cap, "%" PRIu64, n);
}

/* False, with a note, if the text is no number. A number out of bounds becomes the bound. */
static bool take_number(struct import *import, const struct import_node *node,
			const struct words_key *key, const char *text, char *buf)
{
	uint64_t n, taken;

	if (!read_number(key, text, &n)) {
		import_lost(import, node, "\"%s\" is not a number", text);
		return false;
	}
	taken = n < key->min ? key->min : n > key->max ? key->max : n;
	put_number(key, taken, buf, TEXT_CAP);
	if (taken != n)
		import_note(import, node, "%s is out of bounds for %s, which is set to %s", text,
			    key->path, buf);
	return true;
}

/* 0 if volleyd accepts the text, as far as the text alone shows it. */
static int check(const struct words_key *key, const char *text)
{
	struct config_prefix prefix;
	struct config_addr addr;
	char *domain = NULL;
	uint64_t number;
	size_t n;
	int ret;

	switch (key->type) {
	case WORDS_ADDRESSES:
	case WORDS_PEERS:
	case WORDS_HOSTS:
	case WORDS_UPSTREAM:
		return value_read_addr(text, 53, &addr);
	case WORDS_UPSTREAMS:
	case WORDS_UPSTREAM_NAMED:
		return value_read_upstream(text, &addr);
	case WORDS_PREFIXES:
		return value_read_prefix(text, &prefix);
	case WORDS_CHOICE:
		return value_read_number(key, text, &number);
	case WORDS_DOMAIN:
	case WORDS_DOMAINS:
		ret = value_read_domain(text, &domain);
		free(domain);
		return ret;
	case WORDS_OCTETS:
		return value_read_octets(text, (size_t)key->min, (size_t)key->max, NULL, &n);
	case WORDS_SECRET:
		return strlen(text) == 32 && strspn(text, "0123456789abcdefABCDEF") == 32 ? 0 :
											    -EINVAL;
	case WORDS_NAME:
		return value_check_name(text, (size_t)key->min, (size_t)key->max);
	case WORDS_INTERFACE:
		return value_check_interface(text);
	case WORDS_TEXT:
		return strlen(text) >= key->min && strlen(text) <= key->max ? 0 : -ERANGE;
	case WORDS_PATH:
	case WORDS_PATHS:
		return *text ? 0 : -EINVAL;
	default:
		return 0;
	}
}

/* Converts the text for our key. BUF may have the result. NULL, with a note: impossible. */
static const char *convert(struct import *import, const struct import_node *node,
			   const struct words_key *key, const char *text, char *buf)
{
	char accepts[512];

	switch (key->type) {
	case WORDS_BOOL:
		return import_is_yes(text) ? "true" : "false";
	case WORDS_COUNT:
	case WORDS_SIZE:
	case WORDS_SECONDS:
	case WORDS_MS:
		return take_number(import, node, key, text, buf) ? buf : NULL;
	case WORDS_PATH:
	case WORDS_PATHS:
		text = *text ? import_path(import, text, buf) : text;
		break;
	default:
		break;
	}
	if (!check(key, text))
		return text;
	words_accepts(key, accepts, sizeof(accepts));
	import_lost(import, node, "%s accepts %s, not \"%s\"", key->path, accepts, text);
	return NULL;
}

static bool is_list(const struct words_key *key)
{
	switch (key->type) {
	case WORDS_ADDRESSES:
	case WORDS_PEERS:
	case WORDS_RULES:
	case WORDS_REMOTES:
	case WORDS_PREFIXES:
	case WORDS_UPSTREAMS:
	case WORDS_HOSTS:
	case WORDS_RECORDS:
	case WORDS_DOMAINS:
	case WORDS_WORDS:
	case WORDS_PATHS:
	case WORDS_COMMAND:
		return true;
	default:
		return false;
	}
}

void import_set(struct import *import, const struct import_node *node, json_t *at, const char *key,
		const char *text)
{
	const struct words_key *words = words_find_key(key);
	const char *leaf = strrchr(key, '.') + 1, *part = key;
	char buf[TEXT_CAP], name[64];
	const char *value;

	if (!words) {
		import_lost(import, node, "Volley has no key %s", key);
		return;
	}
	value = convert(import, node, words, text, buf);
	if (!value)
		return;
	if (!import_is_utf8(value)) {
		import_lost(import, node, "the value is not UTF-8");
		return;
	}
	if (!at) {
		for (at = import->out; part != leaf; part += strlen(name) + 1) {
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(part, "."), part);
			at = import_object(import, at, name);
		}
	}
	if (is_list(words))
		import_append(import, at, leaf, value);
	else
		import_put(import, at, leaf, value);
}
