/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census/cache_match.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "census/answer_kind.h"
#include "dns/proto.h"

/* --- Reading ---------------------------------------------------------------------------------- */

static int read_match_name(struct cache_match *match, const char *text, char *err, size_t err_cap)
{
	uint8_t wire[DNS_NAME_MAX];
	int len = name_from_text(wire, sizeof(wire), text, strlen(text));

	if (len < 0) {
		snprintf(err, err_cap, "%s: %s", text, err_text(len));
		return len;
	}
	name_fold(match->folded, wire, (size_t)len);
	match->name_bytes = (uint32_t)len;
	return 0;
}

static int read_match_type(struct cache_match *match, const char *text, char *err, size_t err_cap)
{
	int type = proto_type_from_text(text, strlen(text));

	if (type < 0) {
		snprintf(err, err_cap, "%s: %s", text, err_text(type));
		return type;
	}
	match->qtype = (uint16_t)type;
	match->has_type = true;
	return 0;
}

int cache_match_read_name(struct cache_match *match, const char *name, const char *type, char *err,
			  size_t err_cap)
{
	int code;

	*match = (struct cache_match){ .by = CACHE_MATCH_NAME };
	code = read_match_name(match, name, err, err_cap);
	return code || !type ? code : read_match_type(match, type, err, err_cap);
}

static const struct option {
	const char *word;
	enum cache_match_by by;
	bool takes_value;
} options[] = {
	{ "--all", CACHE_MATCH_ALL, false },        { "--negative", CACHE_MATCH_NEGATIVE, false },
	{ "--subtree", CACHE_MATCH_SUBTREE, true }, { "--type", CACHE_MATCH_TYPE, true },
	{ "--zone", CACHE_MATCH_ZONE, true },       { NULL, CACHE_MATCH_ALL, false },
};

static int refuse_match(char *err, size_t err_cap)
{
	snprintf(err, err_cap,
		 "say what to flush: NAME [TYPE], --subtree NAME, --zone ZONE, --type TYPE, "
		 "--negative or --all");
	return -EINVAL;
}

static int read_match_option(struct cache_match *match, const struct option *option,
			     const char *value, const char **zone, char *err, size_t err_cap)
{
	*match = (struct cache_match){ .by = option->by };
	if (!value == option->takes_value)
		return refuse_match(err, err_cap);
	if (option->by == CACHE_MATCH_SUBTREE)
		return read_match_name(match, value, err, err_cap);
	if (option->by == CACHE_MATCH_TYPE)
		return read_match_type(match, value, err, err_cap);
	if (option->by == CACHE_MATCH_ZONE)
		*zone = value;
	return 0;
}

int cache_match_read(struct cache_match *match, const json_t *args, const char **zone, char *err,
		     size_t err_cap)
{
	const char *what = json_string_value(json_array_get(args, 0));
	const char *value = json_string_value(json_array_get(args, 1));

	*zone = NULL;
	for (const struct option *option = options; what && option->word; option++)
		if (!strcmp(option->word, what))
			return read_match_option(match, option, value, zone, err, err_cap);
	if (!what || !strncmp(what, "--", 2))
		return refuse_match(err, err_cap);
	return cache_match_read_name(match, what, value, err, err_cap);
}

/* --- Matching --------------------------------------------------------------------------------- */

static bool is_at(const struct cache_match *match, const struct volley_entry *e)
{
	return e->key.name_bytes == match->name_bytes &&
	       !memcmp(e->name, match->folded, match->name_bytes);
}

/* True if the entry's name is the name of *match, or lies below it. */
static bool is_match_below(const struct cache_match *match, const struct volley_entry *e)
{
	uint32_t n = e->key.name_bytes, at = 0;

	while (n - at > match->name_bytes && e->name[at])
		at += e->name[at] + 1u;
	return n - at == match->name_bytes && !memcmp(e->name + at, match->folded, n - at);
}

bool cache_match_has(const struct cache_match *match, const struct volley_entry *e)
{
	bool is_type = !match->has_type || ntohs(e->key.qtype) == match->qtype;

	switch (match->by) {
	case CACHE_MATCH_ALL:
		return true;
	case CACHE_MATCH_NAME:
		return is_type && is_at(match, e);
	case CACHE_MATCH_SUBTREE:
		return is_match_below(match, e);
	case CACHE_MATCH_TYPE:
		return is_type;
	case CACHE_MATCH_ZONE:
		return e->zone_slot == match->zone_slot;
	case CACHE_MATCH_NEGATIVE:
		return answer_kind_is_negative(answer_kind(e));
	}
	return false; /* impossible: all values are above */
}
