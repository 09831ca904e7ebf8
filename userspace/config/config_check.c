/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether what is said of zones goes together, in one zone and among all. What comes from a template is
 * told where the zone stands that it does not fit to.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/take.h"
#include "config/yamlwalk.h"

__attribute__((format(printf, 4, 5))) static void fail(struct take *take, const char *prefix,
						       const char *leaf, const char *format, ...)
{
	char path[YAMLWALK_PATH_CAP], text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	source_fail(&take->source, 0, take_join_path(take, path, prefix, leaf), "%s", text);
}

/* --- One zone ------------------------------------------------------------------------------------ */

static void check_bounds(struct take *take, const struct config_zone *zone, const char *prefix)
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
			fail(take, prefix, bounds[i].min,
			     "%s is %u s and %s %u s: no time is between them", bounds[i].min,
			     bounds[i].min_s, bounds[i].max, bounds[i].max_s);
}

void take_check_template(struct take *take, const struct config_zone *template, const char *prefix)
{
	check_bounds(take, template, prefix);
	if (template->primaries && template->allow_update.n)
		fail(take, prefix, "allow-update",
		     "is not for a zone with primaries: updates go to a primary");
}

/* The served serial number would be another than the primaries', by which they are asked. */
static void check_signing(struct take *take, const struct config_zone *zone, const char *prefix)
{
	if (zone->signing && zone->primaries)
		fail(take, prefix, "signing", "is not for a zone with primaries: sign it there");
}

const char *config_zone_storage_key(const struct config_zone *zone)
{
	return zone->primaries                      ? "primaries" :
	       zone->allow_update.n                 ? "allow-update" :
	       zone->signing                        ? "signing" :
	       zone->catalog != CONFIG_CATALOG_NONE ? "catalog" :
	       zone->zonefile_sync_s                ? "zonefile-sync" :
						      NULL;
}

static void check_storage(struct take *take, const struct config_zone *zone, const char *prefix)
{
	const char *leaf = config_zone_storage_key(zone);

	if (leaf && !take->config->storage)
		fail(take, prefix, leaf,
		     "needs server.storage, the folder for what is kept of zones");
}

/* RFC 9432: a catalog is for name servers, which trust its transfer. */
static void check_catalog(struct take *take, const struct config_zone *zone, const char *prefix)
{
	bool is_made = zone->catalog == CONFIG_CATALOG_PRODUCE;
	bool is_read = zone->catalog == CONFIG_CATALOG_CONSUME;

	if (is_made && zone->primaries)
		fail(take, prefix, "primaries", "is not for catalog: produce, which is made here");
	if (is_made && zone->allow_update.n)
		fail(take, prefix, "allow-update",
		     "is not for catalog: produce: members say member-of");
	if ((is_made || is_read) && zone->signing)
		fail(take, prefix, "signing",
		     "is not for a catalog: its transfer is what is trusted");
	if (is_read && !zone->n_groups)
		fail(take, prefix, "groups",
		     "is missing: catalog: consume needs templates for members");
	if (!is_read && zone->n_groups)
		fail(take, prefix, "groups", "is for catalog: consume");
	if (zone->member_group && !zone->member_of)
		fail(take, prefix, "group", "is for members: say member-of, too");
	for (uint32_t i = 0; i < zone->n_groups && !take->source.failed; i++) {
		const char *name = zone->groups[i].template_name;

		if (config_find_template(take->config, name)->catalog != CONFIG_CATALOG_NONE)
			fail(take, prefix, "groups",
			     "the template %s would make catalogs of members: leave catalog out of it",
			     name);
	}
}

void take_check_zone(struct take *take, const struct config_zone *zone, const char *prefix)
{
	if (take->source.failed)
		return;
	take_check_template(take, zone, prefix);
	check_signing(take, zone, prefix);
	check_storage(take, zone, prefix);
	check_catalog(take, zone, prefix);
	if (zone->allow_notify.n && !zone->primaries && !zone->template_name)
		fail(take, prefix, "allow-notify", "is for a zone with primaries, and it has none");
}

/* --- Among all ----------------------------------------------------------------------------------- */

/* By name, then by place in the file: zones stand in one array, so their addresses are that order. */
static int compare_names(const void *a, const void *b)
{
	const struct config_zone *const *left = a, *const *right = b;
	int order = strcmp((*left)->name, (*right)->name);

	return order ? order : (*left > *right) - (*left < *right);
}

static int compare_files(const void *a, const void *b)
{
	const struct config_zone *const *left = a, *const *right = b;
	int order = strcmp((*left)->file, (*right)->file);

	return order ? order : (*left > *right) - (*left < *right);
}

static void check_names(struct take *take, const struct config_zone *const *sorted)
{
	const struct config *config = take->config;

	for (uint32_t i = 1; i < config->n_zones && !take->source.failed; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
			take_refuse_twice(take, "zones", "name",
					  (uint32_t)(sorted[i] - config->zones),
					  (uint32_t)(sorted[i - 1] - config->zones),
					  sorted[i]->name);
}

static int compare_name(const void *name, const void *zone)
{
	return strcmp(name, (*(const struct config_zone *const *)zone)->name);
}

static void check_members(struct take *take, const struct config_zone *const *sorted)
{
	const struct config *config = take->config;
	char prefix[YAMLWALK_PATH_CAP];

	for (uint32_t i = 0; i < config->n_zones && !take->source.failed; i++) {
		const struct config_zone *zone = &config->zones[i];
		const struct config_zone *const *catalog;

		if (!zone->member_of)
			continue;
		catalog = bsearch(zone->member_of, sorted, config->n_zones, sizeof(*sorted),
				  compare_name);
		snprintf(prefix, sizeof(prefix), "zones[%u].", i);
		if (!catalog || (*catalog)->catalog != CONFIG_CATALOG_PRODUCE)
			fail(take, prefix, "member-of", "%.200s is no zone with catalog: produce",
			     zone->member_of);
		else if (*catalog == zone)
			fail(take, prefix, "member-of", "is the zone itself");
	}
}

static bool is_written(const struct config_zone *zone)
{
	return zone->primaries || zone->allow_update.n || zone->catalog == CONFIG_CATALOG_PRODUCE ||
	       (zone->zonefile_sync_s && !zone->signing);
}

/* Zones that are only read may share a file; one that is written has it for itself. */
static void check_files(struct take *take, const struct config_zone **zones)
{
	const struct config *config = take->config;
	uint32_t first = 0;

	qsort(zones, config->n_zones, sizeof(*zones), compare_files);
	for (uint32_t i = 1; i < config->n_zones && !take->source.failed; i++) {
		if (strcmp(zones[i]->file, zones[first]->file) != 0)
			first = i;
		else if (is_written(zones[i]) || is_written(zones[first]))
			take_refuse_twice(take, "zones", "file",
					  (uint32_t)(zones[i] - config->zones),
					  (uint32_t)(zones[first] - config->zones), zones[i]->file);
	}
}

void take_check_zones(struct take *take)
{
	const struct config *config = take->config;
	const struct config_zone **zones = take_memory(take, config->n_zones, sizeof(*zones));

	if (!zones)
		return;
	for (uint32_t i = 0; i < config->n_zones; i++)
		zones[i] = &config->zones[i];
	qsort(zones, config->n_zones, sizeof(*zones), compare_names);
	check_names(take, zones);
	check_members(take, zones);
	check_files(take, zones);
	free(zones);
}
