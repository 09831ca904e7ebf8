/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zones and templates. A zone begins as a copy of its template, or with the defaults, and what it says
 * itself is put over that; so a template's faults are told where the template stands.
 *
 * What is checked of zones once all are known is in config_check.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/member.h"
#include "config/take.h"
#include "config/value.h"
#include "config/yamlwalk.h"

#define WORD_CAP 1024 /* a domain name as text */

#define FIELD(leaf, raw, member) \
	TAKE_FIELD(leaf, struct config_raw_zone, raw, struct config_zone, member)

static const struct take_field fields[] = {
	FIELD("verify-timeout", verify_timeout, verify.timeout_s),
	FIELD("ixfr", ixfr, ixfr),
	FIELD("journal-size", journal_size, journal_bytes),
	FIELD("zonefile-sync", zonefile_sync, zonefile_sync_s),
	FIELD("max-transfer-size", max_transfer_size, transfer_bytes),
	FIELD("max-transfer-time", max_transfer_time, transfer_s),
	FIELD("refresh-min", refresh_min, refresh_min_s),
	FIELD("refresh-max", refresh_max, refresh_max_s),
	FIELD("retry-min", retry_min, retry_min_s),
	FIELD("retry-max", retry_max, retry_max_s),
	FIELD("expire-min", expire_min, expire_min_s),
	FIELD("expire-max", expire_max, expire_max_s),
	FIELD("driver-denials", driver_denials, driver_denials),
	FIELD("zonemd", zonemd, zonemd),
	FIELD("catalog", catalog, catalog),
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

/* --- Lists --------------------------------------------------------------------------------------- */

/* Whether the zone has a list there, if only one of no item. */
static bool has_list(struct take *take, const char *prefix, const char *leaf, unsigned int n)
{
	char path[YAMLWALK_PATH_CAP];

	return n || source_has_empty(&take->source, take_join_path(take, path, prefix, leaf));
}

static void free_texts(char **texts)
{
	for (char **at = texts; at && *at; at++)
		free(*at);
	free(texts);
}

/* A command with a slash in it is a path like others; without one it is looked for in PATH. */
static char *take_command(struct take *take, const char *prefix, const char *text)
{
	if (!*text || strchr(text, '/'))
		return take_path(take, prefix, "verify[0]", text);
	return take_copy(take, text);
}

static void take_verify(struct take *take, struct verify *verify, const char *prefix,
			const struct config_raw_list *list)
{
	if (!has_list(take, prefix, "verify", list->n))
		return;
	free_texts(verify->argv);
	verify->argv = list->n ? take_memory(take, list->n + 1, sizeof(char *)) : NULL;
	for (uint32_t i = 0; i < list->n && !take->source.failed; i++)
		verify->argv[i] = i ? take_copy(take, list->items[i]) :
				      take_command(take, prefix, list->items[i]);
}

static void take_names(struct take *take, char ***names, const char *prefix, const char *leaf,
		       const struct config_raw_list *list)
{
	char path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP];

	if (!has_list(take, prefix, leaf, list->n))
		return;
	free_texts(*names);
	*names = list->n ? take_memory(take, list->n + 1, sizeof(char *)) : NULL;
	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		snprintf(path, sizeof(path), "%s%s[%u]", prefix, leaf, i);
		(*names)[i] = take_copy(take, list->items[i]);
		if (!config_find_remote(take->config, list->items[i]))
			source_fail(&take->source, 0, path, "%.63s is none of remotes",
				    list->items[i]);
		for (uint32_t j = 0; j < i && !take->source.failed; j++) {
			if (strcmp((*names)[j], (*names)[i]) != 0)
				continue;
			snprintf(first, sizeof(first), "%s%s[%u]", prefix, leaf, j);
			source_refuse_twice(&take->source, path, (*names)[i], first);
		}
	}
}

/* --- Rules --------------------------------------------------------------------------------------- */

/* The next word of *AT, spaces between; false: there is none, or it is too long to be one. */
static bool read_word(const char **at, char word[WORD_CAP])
{
	size_t len;

	*at += strspn(*at, " ");
	len = strcspn(*at, " ");
	if (!len || len >= WORD_CAP)
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at += len;
	return true;
}

/* Reads [any|PREFIX] [key NAME] [tls], at least one of them. -EINVAL, -ENOMEM. */
static int read_rule(const char *text, struct config_rule *rule)
{
	char word[WORD_CAP];
	bool has_word = read_word(&text, word);

	if (!has_word)
		return -EINVAL;
	rule->has_prefix = !value_read_prefix(word, &rule->prefix);
	if (rule->has_prefix || !strcmp(word, "any"))
		has_word = read_word(&text, word);
	if (has_word && !strcmp(word, "key")) {
		int err = read_word(&text, word) ? value_read_domain(word, &rule->key) : -EINVAL;

		if (err)
			return err;
		has_word = read_word(&text, word);
	}
	rule->has_tls = has_word && !strcmp(word, "tls");
	if (rule->has_tls)
		has_word = read_word(&text, word);
	return has_word || text[strspn(text, " ")] ? -EINVAL : 0;
}

static void free_rules(struct config_rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++)
		free(rules->rules[i].key);
	free(rules->rules);
	*rules = (struct config_rules){ 0 };
}

static void take_rules(struct take *take, struct config_rules *rules, const char *prefix,
		       const char *leaf, const struct config_raw_list *list)
{
	char path[YAMLWALK_PATH_CAP];

	if (!has_list(take, prefix, leaf, list->n))
		return;
	free_rules(rules);
	rules->rules = take_memory(take, list->n, sizeof(*rules->rules));
	rules->n = rules->rules ? list->n : 0;
	for (uint32_t i = 0; i < rules->n && !take->source.failed; i++) {
		struct config_rule *rule = &rules->rules[i];
		int err = read_rule(list->items[i], rule);

		snprintf(path, sizeof(path), "%s%s[%u]", prefix, leaf, i);
		if (err == -ENOMEM)
			source_fail_memory(&take->source);
		else if (err)
			source_refuse_value(&take->source, path, list->items[i]);
		else if (rule->key && !config_find_key(take->config, rule->key))
			source_fail(&take->source, 0, path, "%s is none of keys", rule->key);
		else if (!rule->key && !rule->has_prefix && !strcmp(leaf, "allow-update"))
			source_fail(
				&take->source, 0, path,
				"\"%s\" would let everyone change the zone: give a key or a prefix",
				list->items[i]);
	}
}

/* --- Signing, catalogs --------------------------------------------------------------------------- */

static void take_policy(struct take *take, struct config_zone *zone, const char *prefix,
			const char *text)
{
	char path[YAMLWALK_PATH_CAP];

	if (!text)
		return;
	free(zone->signing);
	zone->signing = strcmp(text, "none") != 0 ? take_copy(take, text) : NULL;
	if (zone->signing && !config_find_signing(take->config, text))
		source_fail(&take->source, 0, take_join_path(take, path, prefix, "signing"),
			    "%.63s is none of signing", text);
}

static void take_membership(struct take *take, struct config_zone *zone, const char *prefix,
			    const struct config_raw_zone *raw)
{
	char path[YAMLWALK_PATH_CAP];

	if (raw->member_of) {
		free(zone->member_of);
		zone->member_of = take_domain(take, take_join_path(take, path, prefix, "member-of"),
					      raw->member_of);
	}
	if (raw->group) {
		free(zone->member_group);
		zone->member_group =
			take_string(take, take_join_path(take, path, prefix, "group"), raw->group);
	}
}

static void free_groups(struct config_zone *zone)
{
	for (uint32_t i = 0; i < zone->n_groups; i++) {
		free(zone->groups[i].group);
		free(zone->groups[i].template_name);
	}
	free(zone->groups);
	zone->groups = NULL;
	zone->n_groups = 0;
}

static bool is_same_group(const struct config_group *a, const struct config_group *b)
{
	return a->group && b->group ? !strcmp(a->group, b->group) : a->group == b->group;
}

static void take_group(struct take *take, struct config_zone *zone, uint32_t at, const char *prefix,
		       const struct config_raw_group *raw)
{
	char path[YAMLWALK_PATH_CAP], item[YAMLWALK_PATH_CAP];
	struct config_group *group = &zone->groups[at];

	snprintf(item, sizeof(item), "%sgroups[%u].", prefix, at);
	group->group = take_string(take, take_join_path(take, path, item, "group"), raw->group);
	for (uint32_t i = 0; i < at && !take->source.failed; i++)
		if (is_same_group(&zone->groups[i], group))
			source_fail(
				&take->source, 0, path,
				"has a template already: one item for each group, and one without "
				"a group for all others");
	group->template_name =
		take_name(take, take_join_path(take, path, item, "template"), raw->template_name);
	if (group->template_name && !config_find_template(take->config, group->template_name))
		source_fail(&take->source, 0, path, "%s is none of templates",
			    group->template_name);
}

static void take_groups(struct take *take, struct config_zone *zone, const char *prefix,
			const struct config_raw_zone *raw)
{
	if (!has_list(take, prefix, "groups", raw->n_groups))
		return;
	free_groups(zone);
	zone->groups = take_memory(take, raw->n_groups, sizeof(*zone->groups));
	zone->n_groups = zone->groups ? raw->n_groups : 0;
	for (uint32_t i = 0; i < zone->n_groups && !take->source.failed; i++)
		take_group(take, zone, i, prefix, &raw->groups[i]);
}

/* --- Zones --------------------------------------------------------------------------------------- */

/* All but name, template and file. */
static void take_options(struct take *take, struct config_zone *zone, const char *prefix,
			 const struct config_raw_zone *raw)
{
	take_fields(take, prefix, fields, N_FIELDS, raw, zone, true);
	take_verify(take, &zone->verify, prefix, &raw->verify);
	take_names(take, &zone->primaries, prefix, "primaries", &raw->primaries);
	take_names(take, &zone->notify, prefix, "notify", &raw->notify);
	take_rules(take, &zone->allow_transfer, prefix, "allow-transfer", &raw->allow_transfer);
	take_rules(take, &zone->allow_notify, prefix, "allow-notify", &raw->allow_notify);
	take_rules(take, &zone->allow_update, prefix, "allow-update", &raw->allow_update);
	take_policy(take, zone, prefix, raw->signing);
	take_membership(take, zone, prefix, raw);
	take_groups(take, zone, prefix, raw);
}

/* The pattern at PATH: with %s, so that zones have files of their own, and no other %. */
static char *take_pattern(struct take *take, const char *prefix, const char *text)
{
	char *path = take_path(take, prefix, "file", text), *pattern, *put;
	char key[YAMLWALK_PATH_CAP];
	size_t n_folder;

	if (!path)
		return NULL;
	take_join_path(take, key, prefix, "file");
	if (!strstr(text, "%s"))
		source_fail(&take->source, 0, key,
			    "has no %%s, and all zones of the template would share one file");
	for (const char *at = strchr(text, '%'); at; at = strchr(at + 2, '%'))
		if (at[1] != 's' && at[1] != '%') {
			source_fail(&take->source, 0, key,
				    "has a %% that is neither %%s, the name of the zone, nor %%%%");
			break;
		}
	n_folder = strlen(path) - strlen(text);
	pattern = put = take_memory(take, 2 * strlen(path) + 1, 1);
	for (size_t i = 0; pattern && path[i]; i++) {
		*put++ = path[i];
		if (path[i] == '%' && i < n_folder)
			*put++ = '%';
	}
	free(path);
	return pattern;
}

static void take_template_name(struct take *take, uint32_t at, const char *text)
{
	struct config_zone *templates = take->config->templates;
	char path[YAMLWALK_PATH_CAP];

	snprintf(path, sizeof(path), "templates[%u].name", at);
	templates[at].name = take_name(take, path, text);
	for (uint32_t i = 0; i < at && templates[at].name; i++)
		if (!strcmp(templates[i].name, templates[at].name))
			take_refuse_twice(take, "templates", "name", at, i, templates[at].name);
}

static void take_template(struct take *take, uint32_t at, const struct config_raw_zone *raw)
{
	struct config_zone *template = &take->config->templates[at];
	char prefix[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "templates[%u].", at);
	if (raw->file)
		template->file = take_pattern(take, prefix, raw->file);
	take_options(take, template, prefix, raw);
	take_check_template(take, template, prefix);
}

/* A catalog in one may name any other, so all names come first. */
static void take_templates(struct take *take)
{
	const struct config_raw *raw = take->raw;
	struct config *config = take->config;

	config->templates = take_memory(take, raw->n_templates, sizeof(*config->templates));
	config->n_templates = config->templates ? raw->n_templates : 0;
	for (uint32_t i = 0; i < config->n_templates && !take->source.failed; i++) {
		config->templates[i] = take->plain;
		take_template_name(take, i, raw->templates[i].name);
	}
	for (uint32_t i = 0; i < config->n_templates && !take->source.failed; i++)
		take_template(take, i, &raw->templates[i]);
}

/* Makes the zone a copy of its template, with the template's file, or a plain one. */
static void take_base(struct take *take, struct config_zone *zone, const char *prefix,
		      const char *template_name)
{
	const struct config_zone *template =
		config_find_template(take->config, template_name ? template_name : "default");
	char path[YAMLWALK_PATH_CAP];

	if (!template && template_name)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, "template"),
			    "%.63s is none of templates", template_name);
	if (!template) {
		*zone = take->plain;
		return;
	}
	if (config_zone_copy(zone, template))
		source_fail_memory(&take->source);
	zone->template_name = zone->name;
	zone->name = NULL;
}

/* In place of the template's pattern: what the zone says, what the pattern does, or the default. */
static void take_file(struct take *take, struct config_zone *zone, const char *prefix,
		      const char *text)
{
	bool is_made = zone->primaries || zone->catalog != CONFIG_CATALOG_NONE;
	char *pattern = zone->file;

	zone->file = NULL;
	if (take->source.failed)
		;
	else if (text || (!pattern && !(is_made && take->config->storage)))
		zone->file = take_path(take, prefix, "file", text);
	else if (!(zone->file = config_zone_path(take->config, pattern, zone->name)))
		source_fail_memory(&take->source);
	free(pattern);
}

static void take_zone(struct take *take, uint32_t at, const struct config_raw_zone *raw)
{
	struct config_zone *zone = &take->config->zones[at];
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "zones[%u].", at);
	take_base(take, zone, prefix, raw->template_name);
	zone->name = take_domain(take, take_join_path(take, path, prefix, "name"), raw->name);
	take_options(take, zone, prefix, raw);
	take_check_zone(take, zone, prefix);
	take_file(take, zone, prefix, raw->file);
}

void take_zones(struct take *take)
{
	static const struct config_raw_zone nothing;
	struct config *config = take->config;

	take_fields(take, "zones[].", fields, N_FIELDS, &nothing, &take->plain, false);
	take_templates(take);
	config->zones = take_memory(take, take->raw->n_zones, sizeof(*config->zones));
	config->n_zones = config->zones ? take->raw->n_zones : 0;
	for (uint32_t i = 0; i < config->n_zones && !take->source.failed; i++)
		take_zone(take, i, &take->raw->zones[i]);
	take_check_zones(take);
}
