/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether the keys of a zone go together, and all zones with each other. If a key of a
 * template does not fit, the fault is reported at the zone that uses the template.
 */
#include <stdlib.h>
#include <string.h>

#include "config/reader.h"
#include "config/textset.h"

/* --- One zone --------------------------------------------------------------------------------- */

static void check_bounds(struct reader *reader, const struct config_zone *zone,
			 const struct yamltree *node)
{
	const struct {
		const char *min, *max;
		uint32_t min_s, max_s;
	} bounds[] = {
		{ "refresh-min", "refresh-max", zone->refresh_min_s, zone->refresh_max_s },
		{ "retry-min", "retry-max", zone->retry_min_s, zone->retry_max_s },
		{ "expire-min", "expire-max", zone->expire_min_s, zone->expire_max_s },
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (bounds[i].min_s > bounds[i].max_s)
			document_fail(&reader->document, node, bounds[i].min,
				      "%s is %u s and %s %u s: no time is between them",
				      bounds[i].min, bounds[i].min_s, bounds[i].max,
				      bounds[i].max_s);
}

void reader_check_template(struct reader *reader, const struct config_zone *template,
			   const struct yamltree *node)
{
	check_bounds(reader, template, node);
	if (template->primaries && template->allow_update.n)
		document_fail(&reader->document, node, "allow-update",
			      "is not for a zone with primaries: updates go to a primary");
}

/* Signing changes the serial number, by which volleyd asks the primaries for changes. */
static void check_signing(struct reader *reader, const struct config_zone *zone,
			  const struct yamltree *node)
{
	if (zone->signing && zone->primaries)
		document_fail(&reader->document, node, "signing",
			      "is not for a zone with primaries: sign it there");
}

const char *config_zone_storage_key(const struct config_zone *zone)
{
	return zone->primaries                      ? "primaries" :
	       zone->allow_update.n                 ? "allow-update" :
	       zone->signing                        ? "signing" :
	       zone->catalog != CONFIG_CATALOG_NONE ? "catalog" :
	       zone->zonefile_sync_s                ? "zonefile-sync" :
	       zone->serial != CONFIG_SERIAL_FILE   ? "serial" :
						      NULL;
}

static void check_zone_config_storage(struct reader *reader, const struct config_zone *zone,
				      const struct yamltree *node)
{
	const char *leaf = config_zone_storage_key(zone);

	if (leaf && !reader->config->storage)
		document_fail(&reader->document, node, leaf,
			      "needs server.storage, the folder for what is kept of zones");
}

/* RFC 9432: only name servers use a catalog, and they trust its transfer. */
static void check_zone_config_catalog(struct reader *reader, const struct config_zone *zone,
				      const struct yamltree *node)
{
	bool is_made = zone->catalog == CONFIG_CATALOG_PRODUCE;
	bool is_read = zone->catalog == CONFIG_CATALOG_CONSUME;

	if (is_made && zone->primaries)
		document_fail(&reader->document, node, "primaries",
			      "is not for catalog: produce, which is made here");
	if (is_made && zone->allow_update.n)
		document_fail(&reader->document, node, "allow-update",
			      "is not for catalog: produce: members say member-of");
	if ((is_made || is_read) && zone->signing)
		document_fail(&reader->document, node, "signing",
			      "is not for a catalog: its transfer is what is trusted");
	if (is_read && !zone->n_groups)
		document_fail(&reader->document, node, "groups",
			      "is missing: catalog: consume needs templates for members");
	if (!is_read && zone->n_groups)
		document_fail(&reader->document, node, "groups",
			      "is for catalog: consume: say so, or leave groups out");
	if (zone->member_group && !zone->member_of)
		document_fail(&reader->document, node, "group",
			      "is for members: say member-of, too");
	for (uint32_t i = 0; i < zone->n_groups && !reader->document.failed; i++) {
		const char *name = zone->groups[i].template_name;

		if (config_find_template(reader->config, name)->catalog != CONFIG_CATALOG_NONE)
			document_fail(&reader->document, node, "groups",
				      "the template %s would make catalogs of members: "
				      "leave catalog out of it",
				      name);
	}
}

void reader_check_zone(struct reader *reader, const struct config_zone *zone,
		       const struct yamltree *node)
{
	if (reader->document.failed)
		return;
	reader_check_template(reader, zone, node);
	check_signing(reader, zone, node);
	check_zone_config_storage(reader, zone, node);
	check_zone_config_catalog(reader, zone, node);
	if (zone->allow_notify.n && !zone->primaries && !zone->template_name)
		document_fail(&reader->document, node, "allow-notify",
			      "is for a zone with primaries, and it has none: leave it out");
}

/* --- Among all -------------------------------------------------------------------------------- */

/* Orders by name, then by place in the file: that is the order of the addresses in the array. */
static int compare_zone_config_names(const void *a, const void *b)
{
	const struct config_zone *const *left = a, *const *right = b;
	int order = strcmp((*left)->name, (*right)->name);

	return order ? order : (*left > *right) - (*left < *right);
}

static int compare_name(const void *name, const void *zone)
{
	return strcmp(name, (*(const struct config_zone *const *)zone)->name);
}

static void check_zone_config_members(struct reader *reader,
				      const struct config_zone *const *sorted)
{
	const struct yamltree *node = reader_find(reader, "zones")->first;
	const struct config *config = reader->config;

	for (uint32_t i = 0; node && !reader->document.failed; i++, node = node->next) {
		const struct config_zone *zone = &config->zones[i];
		const struct config_zone *const *catalog;

		if (!zone->member_of)
			continue;
		catalog = bsearch(zone->member_of, sorted, config->n_zones, sizeof(*sorted),
				  compare_name);
		if (!catalog || (*catalog)->catalog != CONFIG_CATALOG_PRODUCE)
			document_fail(
				&reader->document, node, "member-of",
				"%.200s is no zone with catalog: produce: give the name of one",
				zone->member_of);
		else if (*catalog == zone)
			document_fail(&reader->document, node, "member-of",
				      "is the zone itself: give the name of its catalog");
	}
}

static bool is_written(const struct config_zone *zone)
{
	return zone->primaries || zone->allow_update.n || zone->catalog == CONFIG_CATALOG_PRODUCE ||
	       (zone->zonefile_sync_s && !zone->signing);
}

/* If the file is from a template, the fault names the zone. */
static void refuse_zone_config_file(struct reader *reader, uint32_t zone, uint32_t first)
{
	const struct yamltree *list = reader_find(reader, "zones");
	const struct yamltree *before = reader_nth(list, first);
	const struct yamltree *file = yamltree_child(before, "file");

	document_refuse_twice(&reader->document, reader_nth(list, zone), "file",
			      reader->config->zones[zone].file, file ? file : before);
}

static const char *file_of_zone_config(const void *user, uint32_t at)
{
	return ((const struct config_zone *)user)[at].file;
}

/* Zones that volleyd only reads may share a file. A zone that it writes needs a file of its own. */
static void check_files(struct reader *reader)
{
	const struct config *config = reader->config;
	struct textset set;
	uint32_t first, n_written = 0;

	for (uint32_t i = 0; i < config->n_zones; i++)
		n_written += is_written(&config->zones[i]);
	if (!n_written || reader->document.failed)
		return;
	if (textset_init(&set, config->n_zones, file_of_zone_config, config->zones)) {
		document_fail_memory(&reader->document);
		return;
	}
	for (uint32_t i = 0; i < config->n_zones && !reader->document.failed; i++) {
		first = textset_put(&set, i);
		if (first != TEXTSET_NEW &&
		    (is_written(&config->zones[i]) || is_written(&config->zones[first])))
			refuse_zone_config_file(reader, i, first);
	}
	textset_fini(&set);
}

static void check_members(struct reader *reader)
{
	const struct config *config = reader->config;
	const struct config_zone **zones;
	uint32_t n_members = 0;

	for (uint32_t i = 0; i < config->n_zones; i++)
		n_members += config->zones[i].member_of != NULL;
	zones = n_members ? reader_memory(reader, config->n_zones, sizeof(*zones)) : NULL;
	if (!zones)
		return;
	for (uint32_t i = 0; i < config->n_zones; i++)
		zones[i] = &config->zones[i];
	qsort(zones, config->n_zones, sizeof(*zones), compare_zone_config_names);
	check_zone_config_members(reader, zones);
	free(zones);
}

void reader_check_all_zones(struct reader *reader)
{
	check_members(reader);
	check_files(reader);
}
