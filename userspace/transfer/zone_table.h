/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones that the transfer thread knows: a chained hash table by apex. Without memory to grow
 * its chains become longer.
 *
 * Threads: the loop's, unless a comment says otherwise.
 */
#ifndef VOLLEY_TRANSFER_ZONE_TABLE_H
#define VOLLEY_TRANSFER_ZONE_TABLE_H

#include <stdint.h>

#include "config/config.h"
#include "dns/name.h"

struct primary_zone;
struct secondary_zone;

struct transfer_zone {
	struct transfer_zone *next; /* in its bucket */
	unsigned int apex_len;
	uint32_t hash;
	const struct config_zone *config; /* shared: a reference (config/zone_pool.h) */
	struct secondary_zone *secondary; /* NULL: it has no primaries */
	struct primary_zone *primary;     /* NULL: no remote gets NOTIFY */
	uint8_t apex[];                   /* folded wire form */
};

struct transfer_zones {
	struct transfer_zone **buckets;
	uint32_t mask;
	uint32_t n;
};

/* By folded name. NULL: the zone is unknown. */
struct transfer_zone *transfer_zones_find(const struct transfer_zones *zones, const uint8_t *apex);
/* 0; or -ENOMEM: no memory for the first table. */
int transfer_zones_insert(struct transfer_zones *zones, struct transfer_zone *zone)
	__attribute__((warn_unused_result));
void transfer_zones_remove(struct transfer_zones *zones, struct transfer_zone *zone);
/* The next zone, in no order; @zone NULL: the first. A walk may remove the zones before @zone. */
struct transfer_zone *transfer_zones_next(const struct transfer_zones *zones,
					  const struct transfer_zone *zone);
/* Takes a reference to the settings. NULL: no memory. Any thread. */
struct transfer_zone *transfer_zone_new(const uint8_t *apex, const struct config_zone *config);
void transfer_zone_free(struct transfer_zone *zone);
/* Moves the config of @from to @zone, and frees @from. */
void transfer_zone_adopt(struct transfer_zone *zone, struct transfer_zone *from);

#endif
