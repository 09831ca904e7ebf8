/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the keys below recursion about answers; config_resolver.c checks upstreams. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/local_data.h"
#include "config/reader.h"
#include "config/value.h"
#include "dns/name.h"

/* --- Answers ---------------------------------------------------------------------------------- */

static void check_times(struct reader *reader)
{
	const struct config_recursion *recursion = &reader->config->recursion;
	bool is_min = reader_find(reader, "recursion.min-ttl");

	if (recursion->min_ttl_s > recursion->max_ttl_s)
		document_fail(&reader->document, NULL,
			      is_min ? "recursion.min-ttl" : "recursion.max-ttl",
			      "min-ttl is %u s and max-ttl %u s: no time is between them",
			      recursion->min_ttl_s, recursion->max_ttl_s);
}

/* True if this name or a name below it is a special name. */
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

static void check_special_names(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "recursion.special-names-off");
	char *const *name = reader->config->recursion.special_names_off;

	for (const struct yamltree *item = list ? list->first : NULL; item; item = item->next)
		if (!has_special_name(*name++))
			document_fail(&reader->document, item, "",
				      "\"%s\" is no special name and has none below it: see "
				      "recursion.special-names in volley.yaml(5)",
				      item->text);
}

/* One bad record would keep all of them out, so the configuration is refused. */
static void check_local_data(struct reader *reader)
{
	char path[48] = "recursion.local-data";
	struct local_data_error why;
	struct zone *zone;
	int code;

	if (reader->document.failed || !reader->config->recursion.local_data)
		return;
	code = local_data_load(&zone, reader->config->recursion.local_data, &why);
	zone_free(zone);
	if (code == -ENOMEM)
		document_fail_memory(&reader->document);
	if (code && why.at >= 0)
		snprintf(path, sizeof(path), "recursion.local-data[%d]", why.at);
	if (code)
		document_fail(&reader->document, NULL, path, "%s", why.sentence);
}

/* A policy zone has a name and a file, or `zone` names a zone that is served here. */
static void complete_rpz(struct reader *reader, struct config_rpz *rpz, const struct yamltree *node)
{
	const struct yamltree *zone = yamltree_child(node, "zone");
	int err = 0;

	if (zone && (rpz->name || rpz->file))
		document_fail(&reader->document, zone, "",
			      "a zone that is served here has no name and no file beside it");
	else if (zone)
		err = value_read_domain(zone->text, &rpz->name);
	else if (!rpz->name)
		document_refuse_missing(&reader->document, node, "name",
					words_find_key("recursion.rpz[].name"));
	else if (!rpz->file)
		document_refuse_missing(&reader->document, node, "file",
					words_find_key("recursion.rpz[].file"));
	if (err == -ENOMEM)
		document_fail_memory(&reader->document);
	else if (err)
		document_refuse(&reader->document, zone, zone->text);
}

static const struct yamltree *find_rpz_name(const struct yamltree *node)
{
	const struct yamltree *zone = yamltree_child(node, "zone");

	return zone ? zone : yamltree_child(node, "name");
}

static void check_rpz(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "recursion.rpz");
	const struct yamltree *node = list ? list->first : NULL, *first;
	struct config_rpz *all = reader->config->recursion.rpz;

	for (uint32_t i = 0; node && !reader->document.failed; i++, node = node->next) {
		complete_rpz(reader, &all[i], node);
		first = list->first;
		for (uint32_t j = 0; j < i && !reader->document.failed; j++, first = first->next)
			if (!strcmp(all[i].name, all[j].name))
				document_refuse_twice(&reader->document, find_rpz_name(node), "",
						      all[i].name, find_rpz_name(first));
	}
}

/* --- A local copy of the root (RFC 8806) ------------------------------------------------------ */

static struct config_zone *find_recursion_zone(struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_zones; i++)
		if (!strcmp(config->zones[i].name, name))
			return &config->zones[i];
	return NULL;
}

/* Refuses keys that send questions for the root elsewhere: they would hide the copy. */
static void check_ways_to_root(struct reader *reader)
{
	const struct config_recursion *recursion = &reader->config->recursion;

	if (recursion->forward)
		document_fail(&reader->document, NULL, "recursion.root-copy",
			      "is not for a resolver that forwards: leave recursion.forward out");
	for (uint32_t i = 0; i < recursion->n_stubs; i++)
		if (!strcmp(recursion->stubs[i].zone, "."))
			document_fail(
				&reader->document, NULL, "recursion.root-copy",
				"the root is also recursion.stubs[%u]: it is asked in one way "
				"or the other",
				i);
}

/* The copy is for the resolver alone, and equal to the zone of its primaries. */
static void check_root_zone(struct reader *reader, const struct config_zone *zone)
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
	char path[64];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!keys[i].is_said || reader->document.failed)
			continue;
		snprintf(path, sizeof(path), "zones[%u].%s",
			 (uint32_t)(zone - reader->config->zones), keys[i].key);
		document_fail(
			&reader->document, NULL, path,
			"is not for the zone of recursion.root-copy, which the resolver alone "
			"asks");
	}
}

static void check_root_copy(struct reader *reader)
{
	struct config_zone *zone;

	if (!reader->config->recursion.root_copy || reader->document.failed ||
	    reader->config->has_same_zones)
		return;
	zone = find_recursion_zone(reader->config, ".");
	if (!zone) {
		document_fail(&reader->document, NULL, "recursion.root-copy",
			      "needs the zone \".\" in zones, with the primaries that give it");
		return;
	}
	check_ways_to_root(reader);
	check_root_zone(reader, zone);
	zone->is_root_copy = true;
}

void reader_check_recursion(struct reader *reader)
{
	check_times(reader);
	check_local_data(reader);
	check_special_names(reader);
	check_rpz(reader);
	check_root_copy(reader);
}
