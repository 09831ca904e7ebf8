/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of one zone, and of zones that the file does not name: members of a catalog
 * (RFC 9432), each made from the template of its group.
 *
 *	template: primaries, notify, file "%s.db" ...  ──┐
 *	                                                 ├──► config_zone of example.com.,
 *	catalog: member example.com., group X  ──────────┘    file "example.com.db"
 *
 * All functions are pure and look at no file. Any thread, as long as the configuration exists.
 */
#ifndef VOLLEY_CONFIG_MEMBER_H
#define VOLLEY_CONFIG_MEMBER_H

#include "config/config.h"

/*
 * Makes *OUT the zone NAME, in the form of a zone's name, from the template. It always has a file
 * of its own, by the template's pattern or in server.storage. The caller gives it to
 * config_zone_fini(). ERR_NOT_FOUND (there is no such template) or -ENOMEM: *OUT is zeros.
 */
int config_member_zone(const struct config *config, const char *template_name, const char *name,
		       struct config_zone *out) __attribute__((warn_unused_result));

/*
 * The name of the template for a member of that group, in a zone with catalog: consume. GROUP may
 * be NULL. Valid as long as the zone. NULL: members of this group are not served.
 */
const char *config_find_group(const struct config_zone *catalog, const char *group);

/* A deep copy. -ENOMEM: *TO is zeros. */
int config_zone_copy(struct config_zone *to, const struct config_zone *from)
	__attribute__((warn_unused_result));

/* Frees the members of the zone, not the zone, and makes it zeros. A zone of zeros is allowed. */
void config_zone_fini(struct config_zone *zone);

/*
 * The path of the zone NAME in PATTERN: %s is the name without its last dot, %% is %. No name leads
 * out of the folder, and no two names have one path: / is \047, the root is @, and a name of more
 * than 200 characters is @ and a digest. PATTERN NULL: zones/%s.zone in server.storage, which must
 * be given. A new string, or NULL: no memory.
 */
char *config_zone_path(const struct config *config, const char *pattern, const char *name);

#endif
