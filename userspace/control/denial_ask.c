/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/denial_ask.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "dns/name.h"
#include "xdp/key.h"

void denial_ask_begin(struct denial_ask *ask, const struct names *names,
		      const struct cache_match *match)
{
	*ask = (struct denial_ask){ .match = match, .id = names_id(names) };
	if (ask->id)
		ask->verdict = names_walk(&ask->walk, names->lines, names->states[0], match->folded,
					  match->name_bytes);
}

bool denial_ask_is_denial(const struct denial_ask *ask, const struct volley_entry *e)
{
	uint32_t bytes = ask->match->name_bytes - ask->walk.apex;

	return ask->verdict == NAMES_DENIED && e->key.name_bytes == bytes &&
	       e->key.qtype == htons(VOLLEY_DENIAL_TYPE(ask->id)) &&
	       e->key.qclass == htons(VOLLEY_DENIAL_CLASS(ask->id)) &&
	       !memcmp(e->name, ask->match->folded + ask->walk.apex, bytes);
}

static void put_denied(const struct denial_ask *ask, struct zones *zones, char *text, size_t cap)
{
	const uint8_t *name = ask->match->folded, *apex = name + ask->walk.apex;
	const struct zones_entry *entry =
		zones_get_apex(zones, apex, ask->match->name_bytes - ask->walk.apex);
	char zone[NAME_TEXT_MAX], unknown[NAME_TEXT_MAX];

	name_to_text(zone, sizeof(zone), apex);
	name_to_text(unknown, sizeof(unknown), name + ask->walk.unknown);
	if (!entry || !entry->names_id || entry->are_denials_off ||
	    entry->config->driver_denials == CONFIG_DENIALS_OFF)
		snprintf(text, cap, "goes up: no names of zone %s are denied", zone);
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
	else if (ask->verdict == NAMES_DENIED)
		put_denied(ask, zones, text, cap);
	else if (ask->walk.is_stopped)
		snprintf(text, cap, "goes up: may exist (a wildcard, a cut or a DNAME above it)");
	else
		snprintf(text, cap, "goes up: the filter knows the name");
}
