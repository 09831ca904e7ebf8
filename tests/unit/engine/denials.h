/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: a world with a filter of names, and the denials and wildcards in its cache. */
#ifndef VOLLEY_TESTS_DENIALS_H
#define VOLLEY_TESTS_DENIALS_H

#include <arpa/inet.h>

#include "engine/shared_answer.h"
#include "shield/name_filter.h"
#include "tests/unit/engine/world.h"

#define SOA "$TTL 300\n@ 60 SOA ns1.A Host.b %u 2 3 4 60\n"
/* 422 octets of TXT: behind these there is no room for the servers of the zone in 512 octets, but
 * for very short names. */
#define OCTETS_52  "0123456789012345678901234567890123456789012345678901"
#define OCTETS_210 OCTETS_52 OCTETS_52 OCTETS_52 OCTETS_52 "01"
#define FILL       "\"" OCTETS_210 "\" \"" OCTETS_210 "\""
#define ZONE                                                                               \
	"@ NS ns1.a\n@ A 192.0.2.1\nns1.a A 192.0.2.2\nb.c A 192.0.2.3\n*.w A 192.0.2.4\n" \
	"alias CNAME nowhere\nout CNAME x.other.test.\ncut NS ns.other.test.\n"            \
	"*.x CNAME target\ntarget A 192.0.2.5\ncut.w NS ns.other.test.\n"                  \
	"*.m MX 1 srv.m\n*.m MX 2 mail.y.z.test.\nmail.y A 192.0.2.6\n*.many TXT " FILL "\n"

static struct world w;
static struct names names;
static struct volley_names_line lines[VOLLEY_DEFAULT_NAMES_LINES];

static inline int no_grace(void *user)
{
	(void)user;
	return 0;
}

static inline int open_world(void **state)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	char text[2048];
	size_t n;

	world_begin(&w, state);
	n = (size_t)snprintf(text, sizeof(text), SOA, 1);
	snprintf(text + n, sizeof(text) - n, "%s", ZONE);
	world_add_zone(&w, "z.test", text);
	world_load_zone(&w, "signed-nsec.example", "zones/signed-nsec.example.zone");
	world_add_zone(&w, "off.test", text);
	world_add_cache(&w);
	names_init(&names, lines, VOLLEY_DEFAULT_NAMES_LINES, &cache_state(w.cache)->names);
	MUST(!names_begin(&names, no_grace, NULL));
	for (size_t i = 0; i < w.n_zones; i++) {
		names_add_apex(&names, w.members[i].apex, w.members[i].apex_len);
		names_add_zone(&names, w.members[i].zone, NULL);
		w.members[i].names_id = i < 2 ? names_id(&names) : 0;
	}
	world_publish(&w);
	MUST(!engine_new(&w.engine, &config, w.cache, &w.zones));
	MUST(!engine_new(&w.uncached, &config, NULL, &w.zones));
	return 0;
}

static inline void denial_key(struct cache_key *key, size_t i, uint8_t key_flags)
{
	const struct volley_key first = {
		.qclass = htons(VOLLEY_SHARED_CLASS(names_id(&names))),
		.flags = key_flags,
		.name_bytes = (uint8_t)w.members[i].apex_len,
		.kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_DENIAL, names_id(&names)),
	};

	cache_key_from(key, w.cache, &first, w.members[i].apex);
}

/* The denial of zone number i in the cache, or NULL. */
static inline const struct volley_entry *denial_of(size_t i, uint8_t key_flags)
{
	const struct volley_entry *entry;
	struct cache_key key;

	denial_key(&key, i, key_flags);
	return cache_lookup(w.cache, &key, WORLD_NOW_S, false, &entry) == CACHE_HIT ? entry : NULL;
}

static inline void forget(size_t i)
{
	struct cache_key key;

	for (uint8_t flags = 0; flags < 4; flags++) {
		denial_key(&key, i, flags);
		(void)cache_withdraw(w.cache, &key);
	}
}

static inline const struct volley_entry *wildcard_of(const char *name, uint16_t type,
						     uint8_t key_flags)
{
	const struct volley_entry *entry;
	struct volley_key first = {
		.qtype = htons(type),
		.qclass = htons(VOLLEY_SHARED_CLASS(names_id(&names))),
		.flags = key_flags,
		.kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_WILDCARD, names_id(&names)),
	};
	uint8_t wire[NAME_FOLDED_BYTES];
	struct cache_key key;
	int n = name_from_text(wire, DNS_NAME_MAX, name, strlen(name));

	assert_true(n > 0);
	first.name_bytes = (uint8_t)n;
	cache_key_from(&key, w.cache, &first, wire);
	return cache_lookup(w.cache, &key, WORLD_NOW_S, false, &entry) == CACHE_HIT ? entry : NULL;
}

#endif
