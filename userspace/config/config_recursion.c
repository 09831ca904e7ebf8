/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may ask, and what is answered: server.allow and the keys below recursion, but for those of config_resolver.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/local_data.h"
#include "config/take.h"
#include "config/value.h"
#include "config/yamlwalk.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "dns/special_names.h"

struct config_prefix *take_prefixes(struct take *take, const char *key,
				    const struct config_raw_list *list, uint32_t most, uint32_t *n)
{
	struct config_prefix *prefixes = take_memory(take, list->n, sizeof(*prefixes));
	char path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP];

	if (list->n > most)
		source_fail(&take->source, 0, key, "has %u prefixes, and %u is the most: join some",
			    list->n, most);
	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		snprintf(path, sizeof(path), "%s[%u]", key, i);
		if (value_read_prefix(list->items[i], &prefixes[i]))
			source_refuse_value(&take->source, path, list->items[i]);
		for (uint32_t j = 0; j < i && !take->source.failed; j++) {
			if (memcmp(&prefixes[i], &prefixes[j], sizeof(prefixes[i])))
				continue;
			snprintf(first, sizeof(first), "%s[%u]", key, j);
			source_refuse_twice(&take->source, path, list->items[i], first);
		}
	}
	*n = prefixes ? list->n : 0;
	return prefixes;
}

static uint32_t take_u32(struct take *take, const char *leaf, const char *text)
{
	return (uint32_t)take_number(take, "recursion.", leaf, text);
}

static bool take_bool(struct take *take, const char *leaf, const char *text)
{
	return take_number(take, "recursion.", leaf, text) != 0;
}

/* --- Answers ------------------------------------------------------------------------------------- */

static void take_times(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;

	recursion->query_timeout_ms = take_u32(take, "query-timeout", raw->query_timeout);
	recursion->max_ttl_s = take_u32(take, "max-ttl", raw->max_ttl);
	recursion->min_ttl_s = take_u32(take, "min-ttl", raw->min_ttl);
	recursion->max_negative_ttl_s = take_u32(take, "max-negative-ttl", raw->max_negative_ttl);
	recursion->serve_stale_s = take_u32(take, "serve-stale", raw->serve_stale);
	recursion->stale_client_timeout_ms =
		take_u32(take, "stale-client-timeout", raw->stale_client_timeout);
	recursion->stale_reply_ttl_s = take_u32(take, "stale-reply-ttl", raw->stale_reply_ttl);
	recursion->prefetch = take_bool(take, "prefetch", raw->prefetch);
	if (recursion->min_ttl_s > recursion->max_ttl_s)
		source_fail(&take->source, 0,
			    raw->min_ttl ? "recursion.min-ttl" : "recursion.max-ttl",
			    "min-ttl is %u s and max-ttl %u s: no time is between them",
			    recursion->min_ttl_s, recursion->max_ttl_s);
}

/* Whether a special name is this one, or below it. */
static bool has_special_name(const char *text)
{
	uint8_t name[DNS_NAME_MAX], special[DNS_NAME_MAX];

	if (name_from_text(name, sizeof(name), text, strlen(text)) < 0)
		return false;
	for (const char *const *at = special_names; *at; at++)
		if (name_from_text(special, sizeof(special), *at, strlen(*at)) > 0 &&
		    name_is_under(special, name))
			return true;
	return false;
}

static void take_special_names(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;
	char path[YAMLWALK_PATH_CAP];

	recursion->special_names = take_bool(take, "special-names", raw->special_names);
	recursion->special_names_off =
		take_domains(take, "recursion.special-names-off", &raw->special_names_off);
	for (uint32_t i = 0; i < raw->special_names_off.n && !take->source.failed; i++) {
		if (has_special_name(recursion->special_names_off[i]))
			continue;
		snprintf(path, sizeof(path), "recursion.special-names-off[%u]", i);
		source_fail(&take->source, 0, path,
			    "\"%s\" is no special name and has none below it: see "
			    "recursion.special-names in volley.yaml(5)",
			    raw->special_names_off.items[i]);
	}
}

/* A bad record would leave all of them out, so nothing of the configuration is taken. */
static void check_local_data(struct take *take)
{
	char path[YAMLWALK_PATH_CAP] = "recursion.local-data";
	struct local_data_error why;
	struct zone *zone;
	int code;

	if (take->source.failed || !take->config->recursion.local_data)
		return;
	code = local_data_load(&zone, take->config->recursion.local_data, &why);
	zone_free(zone);
	if (code == -ENOMEM)
		source_fail_memory(&take->source);
	if (code && why.at >= 0)
		snprintf(path, sizeof(path), "recursion.local-data[%d]", why.at);
	if (code)
		source_fail(&take->source, 0, path, "%s", why.sentence);
}

static void take_rpz(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP];

	recursion->rpz = take_memory(take, raw->n_rpz, sizeof(*recursion->rpz));
	recursion->n_rpz = recursion->rpz ? raw->n_rpz : 0;
	for (uint32_t i = 0; i < recursion->n_rpz && !take->source.failed; i++) {
		struct config_rpz *rpz = &recursion->rpz[i];

		snprintf(prefix, sizeof(prefix), "recursion.rpz[%u].", i);
		take_join_path(take, path, prefix, raw->rpz[i].zone ? "zone" : "name");
		rpz->name = take_domain(take, path,
					raw->rpz[i].zone ? raw->rpz[i].zone : raw->rpz[i].name);
		if (!raw->rpz[i].zone)
			rpz->file = take_path(take, prefix, "file", raw->rpz[i].file);
		else if (raw->rpz[i].name || raw->rpz[i].file)
			source_fail(&take->source, 0, path,
				    "a zone that is served here has no name and no file beside it");
		rpz->ede_code = (uint16_t)(DNS_EDE_BLOCKED +
					   take_number(take, prefix, "ede", raw->rpz[i].ede));
		for (uint32_t j = 0; j < i && !take->source.failed; j++) {
			if (strcmp(rpz->name, recursion->rpz[j].name) != 0)
				continue;
			snprintf(first, sizeof(first), "recursion.rpz[%u].%s", j,
				 raw->rpz[j].zone ? "zone" : "name");
			source_refuse_twice(&take->source, path, rpz->name, first);
		}
	}
}

/* --- A local copy of the root (RFC 8806) ---------------------------------------------------------- */

static struct config_zone *find_zone(struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_zones; i++)
		if (!strcmp(config->zones[i].name, name))
			return &config->zones[i];
	return NULL;
}

/* Another way to the root would hide the copy. */
static void check_ways_to_root(struct take *take)
{
	const struct config_recursion *recursion = &take->config->recursion;

	if (recursion->forward)
		source_fail(&take->source, 0, "recursion.root-copy",
			    "is not for a resolver that forwards: leave recursion.forward out");
	for (uint32_t i = 0; i < recursion->n_stubs; i++)
		if (!strcmp(recursion->stubs[i].zone, "."))
			source_fail(&take->source, 0, "recursion.root-copy",
				    "the root is also recursion.stubs[%u]: it is asked in one way "
				    "or the other",
				    i);
}

/* The copy is the resolver's alone, and as its primaries have it. */
static void check_root_zone(struct take *take, const struct config_zone *zone)
{
	const struct {
		const char *key;
		bool is_said;
	} keys[] = {
		{ "allow-transfer", zone->allow_transfer.n },
		{ "allow-update", zone->allow_update.n },
		{ "notify", zone->notify },
		{ "signing", zone->signing },
		{ "catalog", zone->catalog != CONFIG_CATALOG_NONE },
		{ "member-of", zone->member_of },
	};
	char path[YAMLWALK_PATH_CAP];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!keys[i].is_said || take->source.failed)
			continue;
		snprintf(path, sizeof(path), "zones[%u].%s", (uint32_t)(zone - take->config->zones),
			 keys[i].key);
		source_fail(&take->source, 0, path,
			    "is not for the zone of recursion.root-copy, which the resolver alone "
			    "asks");
	}
}

static void take_root_copy(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;
	struct config_zone *zone;

	recursion->root_copy = take_bool(take, "root-copy", raw->root_copy);
	if (!recursion->root_copy || take->source.failed)
		return;
	zone = find_zone(take->config, ".");
	if (!zone) {
		source_fail(&take->source, 0, "recursion.root-copy",
			    "needs the zone \".\" in zones, with the primaries that give it");
		return;
	}
	check_ways_to_root(take);
	check_root_zone(take, zone);
	zone->is_root_copy = true;
}

void take_recursion(struct take *take)
{
	const struct config_raw_recursion *raw = &take->raw->recursion;
	const struct config_raw_list *allow = &take->raw->server.allow;
	struct config *config = take->config;

	if (!allow->n && source_has(&take->source, "server.allow"))
		source_fail(&take->source, 0, "server.allow",
			    "has no prefix, so nobody could ask: leave it out to allow everyone");
	config->allow =
		take_prefixes(take, "server.allow", allow, CONFIG_PREFIXES_MAX, &config->n_allow);
	config->recursion.allow = take_prefixes(take, "recursion.allow", &raw->allow,
						CONFIG_PREFIXES_MAX, &config->recursion.n_allow);
	take_resolver(take);
	take_times(take, raw);
	config->recursion.local_data = take_texts(take, &raw->local_data);
	check_local_data(take);
	take_special_names(take, raw);
	take_rpz(take, raw);
	take_root_copy(take, raw);
}
