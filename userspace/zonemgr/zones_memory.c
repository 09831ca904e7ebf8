/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of one zone of a million: decision 0078. */
#include <string.h>

#include "transfer/transfer.h"
#include "zone/set.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"

/* What malloc() needs for a block beside the octets that are asked for: its size, and rounding. */
#define BLOCK_BYTES 16u

/* A block of this size, if there is one. */
static size_t block_bytes(const void *block, size_t bytes)
{
	return block ? bytes + BLOCK_BYTES : 0;
}

static size_t sentence_bytes(const struct sentence *s)
{
	return sentence_is_set(s) ? block_bytes(s, strlen(sentence_text(s)) + 1) : 0;
}

static size_t known_bytes(const struct zones_known *known)
{
	struct store_zone zone;

	if (!known->member)
		return 0;
	zones_known_get(known, &zone);
	return block_bytes(known->member,
			   3u + zone.catalog_bytes + zone.member_bytes + zone.group_bytes);
}

static size_t compaction_bytes(const struct zones_compaction *c)
{
	size_t bytes = block_bytes(c, sizeof(*c));

	for (size_t i = 0; c && i < c->n; i++)
		bytes += sizeof(*c->since) + block_bytes(&c->since[i], c->since[i].n_bytes);
	return bytes;
}

/* In the two tables of zones, and in the set of the workers with its table of hashes. */
static size_t table_bytes(const struct zones_entry *entry)
{
	return 2 * sizeof(struct zones_entry *) + sizeof(struct zone_member) + entry->apex_len +
	       3 * sizeof(uint32_t);
}

size_t zones_memory_bytes(const struct zones_entry *entry)
{
	const struct zone *newest = zones_newest(entry);

	return block_bytes(entry, sizeof(*entry) + entry->apex_len + strlen(entry->name) + 1) +
	       block_bytes(entry->file, entry->file ? strlen(entry->file) + 1 : 0) +
	       transfer_zone_bytes(entry->apex_len, zones_is_secondary(entry)) +
	       table_bytes(entry) + known_bytes(&entry->stored.known) +
	       compaction_bytes(entry->compaction) +
	       block_bytes(entry->published.withdrawn, sizeof(*entry->published.withdrawn)) +
	       block_bytes(entry->loading.load, sizeof(*entry->loading.load)) +
	       block_bytes(entry->loading.fresh, sizeof(*entry->loading.fresh)) +
	       sentence_bytes(&entry->error) + sentence_bytes(&entry->warning) +
	       sentence_bytes(&entry->stored.error) + sentence_bytes(&entry->stored.warning) +
	       (newest ? zone_memory_bytes(newest) : 0);
}
