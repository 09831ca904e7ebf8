/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is configured for one zone, and for zones that the configuration does not name: members of a
 * catalog (RFC 9432), each made from the template of its group.
 *
 *	template: primaries, notify, file "%s.db" ...  ──┐
 *	                                                 ├──► config_zone of example.com., file "example.com.db"
 *	catalog: member example.com., group X  ──────────┘
 *
 * All of it is pure: no file is looked at. Any thread, as long as the configuration stays.
 */
#ifndef VOLLEY_CONFIG_MEMBER_H
#define VOLLEY_CONFIG_MEMBER_H

#include "config/config.h"

/*
 * Makes *OUT the zone NAME, in the form of a zone's name, as the template says; with a file of its
 * own in any case, for which there is server.storage or the template's. To be given to
 * config_zone_fini().
 * ERR_NOT_FOUND: there is no such template; -ENOMEM. *OUT is zeros then.
 */
int config_member_zone(const struct config *config, const char *template_name, const char *name,
		       struct config_zone *out) __attribute__((warn_unused_result));

/*
 * The template for a member of that group, of a zone with catalog: consume. GROUP may be NULL. It
 * lives as long as the zone. NULL: such members are not served.
 */
const char *config_find_group(const struct config_zone *catalog, const char *group);

/* A deep copy. -ENOMEM: *TO is zeros. */
int config_zone_copy(struct config_zone *to, const struct config_zone *from)
	__attribute__((warn_unused_result));

/* Frees what the zone has, not the zone. It is zeros then, which is allowed, too. */
void config_zone_fini(struct config_zone *zone);

/*
 * The path of the zone NAME in PATTERN: %s is the name without its last dot, %% is %. No name leads
 * out of the folder, and no two names have one path: / is \047, the root is @, and a name of more
 * than 200 characters is @ and a digest. PATTERN NULL: zones/%s.zone in server.storage, which is
 * given then. A new string, or NULL: no memory.
 */
char *config_zone_path(const struct config *config, const char *pattern, const char *name);

#endif
