/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/member.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "dns/name.h"

#define PART_MAX \
	200u /* characters of a name in a path: NAME_MAX is 255, and suffixes come behind */
#define PART_CAP (4 * NAME_TEXT_MAX)

/* --- Copies -------------------------------------------------------------------------------------- */

static bool copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

static bool copy_texts(char ***to, char *const *from)
{
	size_t n = 0;

	*to = NULL;
	if (!from)
		return true;
	while (from[n])
		n++;
	*to = calloc(n + 1, sizeof(char *));
	for (size_t i = 0; *to && i < n; i++)
		if (!copy_text(&(*to)[i], from[i]))
			return false;
	return *to;
}

static bool copy_rules(struct config_rules *to, const struct config_rules *from)
{
	*to = (struct config_rules){ 0 };
	if (!from->n)
		return true;
	to->rules = calloc(from->n, sizeof(*to->rules));
	for (; to->rules && to->n < from->n; to->n++) {
		to->rules[to->n] = from->rules[to->n];
		if (!copy_text(&to->rules[to->n].key, from->rules[to->n].key))
			return false;
	}
	return to->rules;
}

static bool copy_groups(struct config_zone *to, const struct config_zone *from)
{
	to->groups = NULL;
	to->n_groups = 0;
	if (!from->n_groups)
		return true;
	to->groups = calloc(from->n_groups, sizeof(*to->groups));
	for (; to->groups && to->n_groups < from->n_groups; to->n_groups++) {
		uint32_t at = to->n_groups;

		if (!copy_text(&to->groups[at].group, from->groups[at].group))
			return false;
		if (!copy_text(&to->groups[at].template_name, from->groups[at].template_name)) {
			free(to->groups[at].group);
			return false;
		}
	}
	return to->groups;
}

int config_zone_copy(struct config_zone *to, const struct config_zone *from)
{
	bool is_whole = true;

	*to = *from;
	/* Each copy is made, so that each member of *to is its own when one has failed. */
	is_whole &= copy_text(&to->name, from->name);
	is_whole &= copy_text(&to->file, from->file);
	is_whole &= !verify_copy(&to->verify, &from->verify);
	is_whole &= copy_text(&to->template_name, from->template_name);
	is_whole &= copy_texts(&to->primaries, from->primaries);
	is_whole &= copy_texts(&to->notify, from->notify);
	is_whole &= copy_rules(&to->allow_transfer, &from->allow_transfer);
	is_whole &= copy_rules(&to->allow_notify, &from->allow_notify);
	is_whole &= copy_rules(&to->allow_update, &from->allow_update);
	is_whole &= copy_text(&to->signing, from->signing);
	is_whole &= copy_text(&to->member_of, from->member_of);
	is_whole &= copy_text(&to->member_group, from->member_group);
	is_whole &= copy_groups(to, from);
	if (!is_whole)
		config_zone_fini(to);
	return is_whole ? 0 : -ENOMEM;
}

static void free_texts(char **texts)
{
	for (char **at = texts; at && *at; at++)
		free(*at);
	free(texts);
}

static void free_rules(struct config_rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++)
		free(rules->rules[i].key);
	free(rules->rules);
}

void config_zone_fini(struct config_zone *zone)
{
	free(zone->name);
	free(zone->file);
	verify_fini(&zone->verify);
	free(zone->template_name);
	free_texts(zone->primaries);
	free_texts(zone->notify);
	free_rules(&zone->allow_transfer);
	free_rules(&zone->allow_notify);
	free_rules(&zone->allow_update);
	free(zone->signing);
	free(zone->member_of);
	free(zone->member_group);
	for (uint32_t i = 0; i < zone->n_groups; i++) {
		free(zone->groups[i].group);
		free(zone->groups[i].template_name);
	}
	free(zone->groups);
	*zone = (struct config_zone){ 0 };
}

/* --- Paths --------------------------------------------------------------------------------------- */

/* 32 hexadecimal digits that stand for a name; strangers who choose names cannot make two meet. */
static bool put_digest(char *part, size_t cap, const char *name)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	size_t used = (size_t)snprintf(part, cap, "@");

	if (!EVP_Digest(name, strlen(name), digest, NULL, EVP_sha256(), NULL))
		return false;
	for (size_t i = 0; i < 16; i++)
		used += (size_t)snprintf(part + used, cap - used, "%02x", digest[i]);
	return true;
}

/* The name as a part of a path. In canonical text @ and \ are escaped, so these forms meet no name. */
static bool put_part(char *part, size_t cap, const char *name)
{
	size_t used = 0, len = strlen(name) - 1; /* the last dot */

	if (!len) {
		snprintf(part, cap, "@");
		return true;
	}
	for (size_t i = 0; i < len && used + 5 < cap; i++) {
		if (name[i] == '/')
			used += (size_t)snprintf(part + used, cap - used, "\\047");
		else
			part[used++] = name[i];
	}
	part[used] = '\0';
	return used <= PART_MAX || put_digest(part, cap, name);
}

char *config_zone_path(const struct config *config, const char *pattern, const char *name)
{
	char part[PART_CAP], *path = NULL;
	size_t bytes = 0;
	FILE *out;
	bool is_whole;

	out = put_part(part, sizeof(part), name) ? open_memstream(&path, &bytes) : NULL;
	if (!out)
		return NULL;
	if (!pattern)
		fprintf(out, "%s/zones/", config->storage);
	for (pattern = pattern ? pattern : "%s.zone"; *pattern; pattern++) {
		if (*pattern == '%' && *++pattern == 's')
			fputs(part, out);
		else
			fputc(*pattern, out);
	}
	is_whole = !ferror(out);
	if (!fclose(out) && is_whole)
		return path;
	free(path);
	return NULL;
}

/* --- Members ------------------------------------------------------------------------------------- */

int config_member_zone(const struct config *config, const char *template_name, const char *name,
		       struct config_zone *out)
{
	const struct config_zone *template = config_find_template(config, template_name);
	int err;

	*out = (struct config_zone){ 0 };
	if (!template)
		return ERR_NOT_FOUND;
	err = config_zone_copy(out, template);
	if (err)
		return err;
	free(out->file);
	out->template_name = out->name; /* which is the template's so far */
	out->name = strdup(name);
	out->file = config_zone_path(config, template->file, name);
	if (out->name && out->file)
		return 0;
	config_zone_fini(out);
	return -ENOMEM;
}

const char *config_find_group(const struct config_zone *catalog, const char *group)
{
	const char *rest = NULL;

	for (uint32_t i = 0; i < catalog->n_groups; i++) {
		const struct config_group *item = &catalog->groups[i];

		if (!item->group)
			rest = item->template_name;
		else if (group && !strcmp(item->group, group))
			return item->template_name;
	}
	return rest;
}
