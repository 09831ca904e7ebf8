/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/denial_ask.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "dns/name.h"
#include "engine/shared_answer.h"
#include "xdp/key.h"

void denial_ask_begin(struct denial_ask *ask, const struct names *names,
		      const struct cache_match *match)
{
	*ask = (struct denial_ask){ .match = match, .id = names_id(names) };
	if (ask->id)
		ask->verdict = names_walk(&ask->walk, names->lines, names->states[0], match->folded,
					  match->name_bytes);
}

/* Of the zone: what is not there; or of the wildcard, for queries of that type. */
bool denial_ask_is_denial(const struct denial_ask *ask, const struct volley_entry *e)
{
	bool is_expanded = ask->verdict == NAMES_EXPANDED;
	uint32_t kind = is_expanded ? VOLLEY_KEY_WILDCARD : VOLLEY_KEY_DENIAL;
	unsigned int at = is_expanded ? ask->walk.encloser : ask->walk.apex;
	unsigned int n = is_expanded ? SHARED_WILDCARD_BYTES : 0,
		     bytes = ask->match->name_bytes - at;

	return (is_expanded || ask->verdict == NAMES_DENIED) && e->key.name_bytes == n + bytes &&
	       e->key.kind == VOLLEY_SHARED_KIND(kind, ask->id) &&
	       e->key.qclass == htons(VOLLEY_SHARED_CLASS(ask->id)) &&
	       (!is_expanded || !ask->match->has_type ||
		e->key.qtype == htons(ask->match->qtype)) &&
	       !memcmp(e->name, SHARED_WILDCARD, n) &&
	       !memcmp(e->name + n, ask->match->folded + at, bytes);
}

static bool is_served_without(const struct denial_ask *ask, struct zones *zones)
{
	const struct zones_entry *entry = zones_get_apex(zones, ask->match->folded + ask->walk.apex,
							 ask->match->name_bytes - ask->walk.apex);

	return !entry || !entry->published.names_id || entry->denials_fault ||
	       entry->config->driver_denials == CONFIG_DENIALS_OFF;
}

static void put_expanded(const struct denial_ask *ask, char *text, size_t cap)
{
	char parent[NAME_TEXT_MAX];

	name_to_text(parent, sizeof(parent), ask->match->folded + ask->walk.encloser);
	if (ask->has_denial)
		snprintf(text, cap, "the driver answers it: from the wildcard *.%s", parent);
	else
		snprintf(text, cap, "goes up: no answer of the wildcard *.%s in the cache yet",
			 parent);
}

static void put_denied(const struct denial_ask *ask, struct zones *zones, char *text, size_t cap)
{
	const uint8_t *name = ask->match->folded, *apex = name + ask->walk.apex;
	char zone[NAME_TEXT_MAX], unknown[NAME_TEXT_MAX];

	name_to_text(zone, sizeof(zone), apex);
	name_to_text(unknown, sizeof(unknown), name + ask->walk.unknown);
	if (is_served_without(ask, zones))
		snprintf(text, cap, "goes up: no names of zone %s are denied", zone);
	else if (ask->verdict == NAMES_EXPANDED)
		put_expanded(ask, text, cap);
	else if (!ask->has_denial)
		snprintf(text, cap, "goes up: no denial of zone %s in the cache yet", zone);
	else
		snprintf(text, cap, "the driver denies it: zone %s, nothing at or below %s", zone,
			 unknown);
}

void denial_ask_text(const struct denial_ask *ask, struct zones *zones, char *text, size_t cap)
{
	const struct cache_match *match = ask->match;

	if (!ask->id)
		snprintf(text, cap, "goes up: the filter of names is off");
	else if (match->has_type && !volley_is_data_type(match->qtype))
		snprintf(text, cap, "goes up: the driver denies nothing to queries of this type");
	else if (ask->verdict == NAMES_NONE)
		snprintf(text, cap, "goes up: it is in no zone");
	else if (ask->verdict == NAMES_DENIED || ask->verdict == NAMES_EXPANDED)
		put_denied(ask, zones, text, cap);
	else if (ask->walk.is_stopped)
		snprintf(text, cap, "goes up: may exist (a cut, a DNAME or a wildcard above it)");
	else
		snprintf(text, cap, "goes up: the filter knows the name");
}
