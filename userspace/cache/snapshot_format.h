/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The format of a snapshot, for snapshot*.c. All in host order. */
#ifndef VOLLEY_CACHE_SNAPSHOT_FORMAT_H
#define VOLLEY_CACHE_SNAPSHOT_FORMAT_H

#include "cache/cache_state.h"

#define SNAPSHOT_MAGIC   0x0a314e5359454c56ull /* "VLEYSN1\n"; of another byte order: no snapshot */
#define SNAPSHOT_VERSION 1u

/* A block of entries ends at the first part of the walk that brings it to this size. */
#define SNAPSHOT_BLOCK_BYTES (1u << 20)
#define SNAPSHOT_PART_WORDS  512u
#define SNAPSHOT_ENTRY_MAX   (98u * 1024) /* room for the longest body with its TTLs */
#define SNAPSHOT_BLOCK_MAX   (SNAPSHOT_BLOCK_BYTES + SNAPSHOT_PART_WORDS * SNAPSHOT_ENTRY_MAX)

struct snapshot_header {
	uint64_t magic;
	uint32_t version;
	uint32_t abi;
	uint64_t wall_s;
	uint8_t boot_id[16];
	uint32_t now_s;
	uint32_t reserved;
	uint64_t sum; /* of all members before it */
};

enum snapshot_kind {
	SNAPSHOT_ENTRIES = 1,
	SNAPSHOT_ZONES, /* the last block, perhaps an empty one */
};

struct snapshot_block {
	uint32_t kind;
	uint32_t n_bytes; /* the octets that follow, a multiple of 16 */
	uint64_t sum;     /* snapshot_sum() */
};

#define SNAPSHOT_WAS_MAIN 1u /* it was in the main queue */
#define SNAPSHOT_MEMORY   2u /* the entry's memory is 1 */

/*
 * An entry is struct volley_entry with key, body and TTLs as in the store, but: hash is 0;
 * expires_s is the seconds it had to live (VOLLEY_NEVER: it lives for good), born_s its age,
 * zone_slot and zone_gen are those of struct snapshot_zone, and memory has the bits above. The TTLs
 * have their original values; refreshing has no meaning.
 */

struct snapshot_zone {
	uint32_t slot; /* in ascending order */
	uint32_t gen;
	uint64_t name_id[2];
	uint64_t digest[2];
	uint64_t reserved;
};

_Static_assert(sizeof(struct snapshot_header) == 56, "no padding that differs");
_Static_assert(sizeof(struct snapshot_block) == 16, "entries lie aligned");
_Static_assert(sizeof(struct snapshot_zone) == 48, "no padding, a multiple of 16");

struct snapshot {
	struct cache *cache;
	struct volley_zone *zones; /* a copy of volley_zones at the beginning */
	uint32_t n_zones;
};

/* The header's own sum. The sum of the first block starts from it. */
uint64_t snapshot_header_sum(const struct snapshot_header *header);

/* The sum of a block's kind, length and octets; it continues `before`, the previous sum. */
uint64_t snapshot_sum(uint64_t before, const struct snapshot_block *block, const void *bytes);

/* True if a zone can have answers and its generation has a digest. */
static inline bool snapshot_zone_stands(const struct volley_zone *zone)
{
	return zone->name_id[0] && zone->gen && (zone->digest[0] || zone->digest[1]);
}

#endif
