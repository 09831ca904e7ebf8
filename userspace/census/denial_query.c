/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census/denial_query.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "dns/name.h"
#include "engine/shared_answer.h"
#include "xdp/key.h"

void denial_query_begin(struct denial_query *q, const struct names *names,
			const struct cache_match *match)
{
	*q = (struct denial_query){ .match = match, .id = names_id(names) };
	if (q->id)
		q->verdict = names_walk(&q->walk, names->lines, names->states[0], match->folded,
					match->name_bytes);
}

/* Compares the entry with the zone's denial, or with the wildcard's answer for that type. */
bool denial_query_is_denial(const struct denial_query *q, const struct volley_entry *e)
{
	bool is_expanded = q->verdict == NAMES_EXPANDED;
	uint32_t kind = is_expanded ? VOLLEY_KEY_WILDCARD : VOLLEY_KEY_DENIAL;
	unsigned int at = is_expanded ? q->walk.encloser : q->walk.apex;
	unsigned int n = is_expanded ? SHARED_WILDCARD_BYTES : 0, bytes = q->match->name_bytes - at;

	return (is_expanded || q->verdict == NAMES_DENIED) && e->key.name_bytes == n + bytes &&
	       e->key.kind == VOLLEY_SHARED_KIND(kind, q->id) &&
	       e->key.qclass == htons(VOLLEY_SHARED_CLASS(q->id)) &&
	       (!is_expanded || !q->match->has_type || e->key.qtype == htons(q->match->qtype)) &&
	       !memcmp(e->name, SHARED_WILDCARD, n) &&
	       !memcmp(e->name + n, q->match->folded + at, bytes);
}

const uint8_t *denial_query_apex(const struct denial_query *q, unsigned int *bytes)
{
	if (!q->id || (q->verdict != NAMES_DENIED && q->verdict != NAMES_EXPANDED))
		return NULL;
	*bytes = q->match->name_bytes - q->walk.apex;
	return q->match->folded + q->walk.apex;
}

static void put_expanded(const struct denial_query *q, char *text, size_t cap)
{
	char parent[NAME_TEXT_MAX];

	name_to_text(parent, sizeof(parent), q->match->folded + q->walk.encloser);
	if (q->has_denial)
		snprintf(text, cap, "the driver answers it: from the wildcard *.%s", parent);
	else
		snprintf(text, cap, "goes up: no answer of the wildcard *.%s in the cache yet",
			 parent);
}

static void put_denied(const struct denial_query *q, bool zone_is_denied, char *text, size_t cap)
{
	const uint8_t *name = q->match->folded, *apex = name + q->walk.apex;
	char zone[NAME_TEXT_MAX], unknown[NAME_TEXT_MAX];

	name_to_text(zone, sizeof(zone), apex);
	name_to_text(unknown, sizeof(unknown), name + q->walk.unknown);
	if (!zone_is_denied)
		snprintf(text, cap, "goes up: no names of zone %s are denied", zone);
	else if (q->verdict == NAMES_EXPANDED)
		put_expanded(q, text, cap);
	else if (!q->has_denial)
		snprintf(text, cap, "goes up: no denial of zone %s in the cache yet", zone);
	else
		snprintf(text, cap, "the driver denies it: zone %s, nothing at or below %s", zone,
			 unknown);
}

void denial_query_text(const struct denial_query *q, bool zone_is_denied, char *text, size_t cap)
{
	const struct cache_match *match = q->match;

	if (!q->id)
		snprintf(text, cap, "goes up: the filter of names is off");
	else if (match->has_type && !volley_is_cached_type(match->qtype))
		snprintf(text, cap, "goes up: the driver denies nothing to queries of this type");
	else if (q->verdict == NAMES_NONE)
		snprintf(text, cap, "goes up: it is in no zone");
	else if (q->verdict == NAMES_DENIED || q->verdict == NAMES_EXPANDED)
		put_denied(q, zone_is_denied, text, cap);
	else if (q->walk.is_stopped)
		snprintf(text, cap,
			 "goes up: it may exist, since a cut, a DNAME or a wildcard is "
			 "above it");
	else
		snprintf(text, cap, "goes up: the filter knows the name");
}
