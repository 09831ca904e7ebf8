/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/member.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "config/fields.h"
#include "dns/name.h"

#define PART_MAX 200u /* characters of a name in a path: NAME_MAX is 255, and suffixes follow */
#define PART_CAP (4 * NAME_TEXT_MAX)

/* --- Copies ----------------------------------------------------------------------------------- */

/* Made once, since millions of zones are copied. */
static struct words_level zone_level;

static void make_zone_level(void)
{
	words_level_of(&zone_level, "zones");
}

static const struct words_level *get_zone_level(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_zone_level);
	return &zone_level;
}

int config_zone_copy(struct config_zone *to, const struct config_zone *from)
{
	const struct words_level *level = get_zone_level();
	struct config_zone source = *from;
	bool is_whole = true;

	*to = source;
	/* Goes on after a failure, so that *to shares no member with *from and can be freed. */
	for (unsigned int i = 0; i < level->n; i++)
		is_whole &= fields_copy_one(level, &level->children[i], to, &source);
	to->template_name = source.template_name ? strdup(source.template_name) : NULL;
	is_whole &= !source.template_name || to->template_name;
	if (!is_whole)
		config_zone_fini(to);
	return is_whole ? 0 : -ENOMEM;
}

void config_zone_fini(struct config_zone *zone)
{
	fields_free(get_zone_level(), zone);
	free(zone->template_name);
	*zone = (struct config_zone){ 0 };
}

/* --- Paths ------------------------------------------------------------------------------------ */

/* 32 hexadecimal digits for a name. A client that chooses names cannot make two of them equal. */
static bool put_member_digest(char *part, size_t cap, const char *name)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	size_t used = (size_t)snprintf(part, cap, "@");

	if (!EVP_Digest(name, strlen(name), digest, NULL, EVP_sha256(), NULL))
		return false;
	for (size_t i = 0; i < 16; i++)
		used += (size_t)snprintf(part + used, cap - used, "%02x", digest[i]);
	return true;
}

/* The name as a part of a path. The special forms equal no name, since names escape @ and \. */
static bool put_part(char *part, size_t cap, const char *name)
{
	size_t used = 0, len = strlen(name) - 1; /* without the last dot */

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
	return used <= PART_MAX || put_member_digest(part, cap, name);
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

/* --- Members ---------------------------------------------------------------------------------- */

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
	out->template_name = out->name; /* the copied name of the template */
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
