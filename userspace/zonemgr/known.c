/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part about a catalog is three counted strings in one block, which only members have, and
 * zones that a command has added: with a group alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dns/name.h"
#include "zonemgr/entry.h"

static size_t put_known_part(uint8_t *to, const uint8_t *bytes, uint8_t n)
{
	*to = n;
	memcpy(to + 1, bytes, n);
	return 1u + n;
}

static size_t get_known_part(const uint8_t *from, uint8_t *bytes, uint8_t *n)
{
	*n = *from;
	memcpy(bytes, from + 1, *n);
	return 1u + *n;
}

void zones_known_get(const struct zones_known *known, struct store_zone *out)
{
	const uint8_t *at = known->member;

	*out = (struct store_zone){ .serial = known->serial,
				    .file_serial = known->file_serial,
				    .checked_wall_s = known->checked_wall_s,
				    .expires_wall_s = known->expires_wall_s };
	memcpy(out->file_digest, known->file_digest, sizeof(out->file_digest));
	if (!at)
		return;
	at += get_known_part(at, out->catalog, &out->catalog_bytes);
	at += get_known_part(at, out->member, &out->member_bytes);
	(void)get_known_part(at, out->group, &out->group_bytes);
}

int zones_known_set_member(struct zones_known *known, const struct store_zone *from)
{
	uint8_t *member, *at;

	member = at = malloc(3u + from->catalog_bytes + from->member_bytes + from->group_bytes);
	if (!member)
		return -ENOMEM;
	at += put_known_part(at, from->catalog, from->catalog_bytes);
	at += put_known_part(at, from->member, from->member_bytes);
	(void)put_known_part(at, from->group, from->group_bytes);
	free(known->member);
	known->member = member;
	return 0;
}

int zones_known_set(struct zones_known *known, const struct store_zone *from)
{
	known->serial = from->serial;
	known->file_serial = from->file_serial;
	known->checked_wall_s = from->checked_wall_s;
	known->expires_wall_s = from->expires_wall_s;
	memcpy(known->file_digest, from->file_digest, sizeof(known->file_digest));
	if (from->catalog_bytes || from->group_bytes)
		return zones_known_set_member(known, from);
	free(known->member);
	known->member = NULL;
	return 0;
}

bool zones_known_is_of(const struct zones_known *known, const uint8_t *catalog)
{
	return known->member && *known->member && name_equal(known->member + 1, catalog);
}

bool zones_known_is_added(const struct zones_known *known)
{
	return known->member && !known->member[0] && !known->member[1] && known->member[2];
}

int zones_known_put(struct store_batch *batch, const uint8_t *apex, const struct zones_known *known)
{
	struct store_zone zone;

	zones_known_get(known, &zone);
	return store_put_zone(batch, apex, &zone);
}
