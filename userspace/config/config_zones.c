/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completes and checks zones and templates. A zone gets a missing key from its template, or the
 * default. Faults of a template are reported at the template.
 *
 * config_check.c checks complete zones, and all zones with each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "config/member.h"
#include "config/reader.h"

/* --- References ------------------------------------------------------------------------------- */

static void check_names(struct reader *reader, const struct yamltree *node, const char *leaf)
{
	const struct yamltree *list = yamltree_child(node, leaf);

	for (const struct yamltree *item = list ? list->first : NULL; item; item = item->next)
		if (!config_find_remote(reader->config, item->text))
			document_fail(&reader->document, item, "",
				      "%.63s is none of remotes: add it there, or correct the name",
				      item->text);
}

static void check_rules(struct reader *reader, const struct config_rules *rules,
			const struct yamltree *node, const char *leaf)
{
	const struct yamltree *list = yamltree_child(node, leaf);
	const struct yamltree *item = list ? list->first : NULL;

	for (uint32_t i = 0; item && i < rules->n; i++, item = item->next) {
		const struct config_rule *rule = &rules->rules[i];

		if (rule->key && !config_find_key(reader->config, rule->key))
			document_fail(&reader->document, item, "",
				      "%s is none of keys: add it there, or correct the name",
				      rule->key);
		else if (!rule->key && !rule->has_prefix && !strcmp(leaf, "allow-update"))
			document_fail(&reader->document, item, "",
				      "\"%s\" would let everyone change the zone: give a key or a "
				      "prefix",
				      item->text);
	}
}

/* "none" turns signing off for a zone whose template has a policy. */
static void check_policy(struct reader *reader, struct config_zone *zone,
			 const struct yamltree *node)
{
	const struct yamltree *written = yamltree_child(node, "signing");

	if (!written)
		return;
	if (!strcmp(written->text, "none")) {
		free(zone->signing);
		zone->signing = NULL;
	} else if (!config_find_signing(reader->config, written->text)) {
		document_fail(&reader->document, written, "",
			      "%.63s is none of signing: add it there, or correct the name",
			      written->text);
	}
}

static bool is_same_group(const struct config_group *a, const struct config_group *b)
{
	return a->group && b->group ? !strcmp(a->group, b->group) : a->group == b->group;
}

static void check_groups(struct reader *reader, const struct config_zone *zone,
			 const struct yamltree *node)
{
	const struct yamltree *list = yamltree_child(node, "groups");
	const struct yamltree *item = list ? list->first : NULL;

	for (uint32_t i = 0; item; i++, item = item->next) {
		const struct config_group *group = &zone->groups[i];

		for (uint32_t j = 0; j < i; j++)
			if (is_same_group(&zone->groups[j], group))
				document_fail(
					&reader->document, item, "group",
					"has a template already: one item for each group, and "
					"one without a group for all others");
		if (!config_find_template(reader->config, group->template_name))
			document_fail(&reader->document, item, "template",
				      "%s is none of templates: add it there, or correct the name",
				      group->template_name);
	}
}

/* Checks the keys that are written at a zone or a template itself. */
static void check_written(struct reader *reader, struct config_zone *zone,
			  const struct yamltree *node)
{
	check_names(reader, node, "primaries");
	check_names(reader, node, "notify");
	check_rules(reader, &zone->allow_transfer, node, "allow-transfer");
	check_rules(reader, &zone->allow_notify, node, "allow-notify");
	check_rules(reader, &zone->allow_update, node, "allow-update");
	check_policy(reader, zone, node);
	check_groups(reader, zone, node);
}

/* --- Templates -------------------------------------------------------------------------------- */

/* The pattern must have %s, so that zones have files of their own, and no other %. */
static void check_pattern(struct reader *reader, const struct yamltree *file)
{
	if (!strstr(file->text, "%s"))
		document_fail(&reader->document, file, "",
			      "has no %%s, and all zones of the template would share one file");
	for (const char *at = strchr(file->text, '%'); at; at = strchr(at + 2, '%'))
		if (at[1] != 's' && at[1] != '%') {
			document_fail(
				&reader->document, file, "",
				"has a %% that is neither %%s, the name of the zone, nor %%%%: "
				"write %%%% for a plain %%");
			break;
		}
}

/* Doubles each % of the configuration's folder; the written part is a pattern already. */
static void quote_folder(struct reader *reader, struct config_zone *template,
			 const struct yamltree *file)
{
	size_t n_folder = strlen(template->file) - strlen(file->text);
	char *pattern = reader_memory(reader, 2 * strlen(template->file) + 1, 1), *put = pattern;

	for (size_t i = 0; pattern && template->file[i]; i++) {
		*put++ = template->file[i];
		if (template->file[i] == '%' && i < n_folder)
			*put++ = '%';
	}
	free(template->file);
	template->file = pattern;
}

static void check_templates(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "templates");
	const struct yamltree *node = list ? list->first : NULL;
	struct config_zone *template = reader->config->templates;

	for (; node && !reader->document.failed; template ++, node = node->next) {
		const struct yamltree *file = yamltree_child(node, "file");

		if (file)
			check_pattern(reader, file);
		if (file && !reader->document.failed)
			quote_folder(reader, template, file);
		check_written(reader, template, node);
		reader_check_template(reader, template, node);
	}
}

/* control.zones-add */
static void check_zones_add(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "control.zones-add");

	for (const struct yamltree *item = list ? list->first : NULL; item; item = item->next)
		if (!config_find_template(reader->config, item->text))
			document_fail(&reader->document, item, "",
				      "%.63s is none of templates: add it there, or correct the "
				      "name",
				      item->text);
}

/* --- Zones ------------------------------------------------------------------------------------ */

/* Gives ZONE its template's keys that NODE lacks, except the file: see complete_file(). */
static void inherit(struct reader *reader, const struct words_level *level,
		    struct config_zone *zone, const struct yamltree *node,
		    struct config_zone *template)
{
	for (unsigned int i = 0; i < level->n && !reader->document.failed; i++) {
		const struct words_child *child = &level->children[i];

		if (yamltree_child(node, child->leaf) || !strcmp(child->leaf, "file"))
			continue;
		fields_free_one(level, child, zone);
		if (!fields_copy_one(level, child, zone, template))
			document_fail_memory(&reader->document);
	}
	zone->template_name = reader_copy(reader, template->name);
}

static struct config_zone *find_template(struct reader *reader, const struct yamltree *node)
{
	const struct yamltree *written = yamltree_child(node, "template");
	const char *name = written ? written->text : "default";
	struct config *config = reader->config;

	for (uint32_t i = 0; i < config->n_templates; i++)
		if (!strcmp(config->templates[i].name, name))
			return &config->templates[i];
	if (written)
		document_fail(&reader->document, written, "",
			      "%.63s is none of templates: add it there, or correct the name",
			      name);
	return NULL;
}

/* The file of the zone itself, of its template's pattern, or the default. */
static void complete_file(struct reader *reader, struct config_zone *zone,
			  const struct yamltree *node, const struct config_zone *template)
{
	bool is_made = zone->primaries || zone->catalog != CONFIG_CATALOG_NONE;
	const char *pattern = template ? template->file : NULL;

	if (zone->file || reader->document.failed)
		return;
	if (!pattern && !(is_made && reader->config->storage)) {
		document_refuse_missing(&reader->document, node, "file",
					words_find_key("zones[].file"));
		return;
	}
	zone->file = config_zone_path(reader->config, pattern, zone->name);
	if (!zone->file)
		document_fail_memory(&reader->document);
}

static void complete_zone(struct reader *reader, const struct words_level *level,
			  struct config_zone *zone, const struct yamltree *node)
{
	struct config_zone *template = find_template(reader, node);

	if (template)
		inherit(reader, level, zone, node, template);
	check_written(reader, zone, node);
	reader_check_zone(reader, zone, node);
	complete_file(reader, zone, node, template);
}

void reader_check_zones(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "zones");
	const struct yamltree *node = list ? list->first : NULL;
	struct words_level level;

	check_templates(reader);
	check_zones_add(reader);
	words_level_of(&level, "zones");
	for (uint32_t i = 0; node && !reader->document.failed; i++, node = node->next)
		complete_zone(reader, &level, &reader->config->zones[i], node);
	if (!reader->document.failed)
		reader_check_all_zones(reader);
}
