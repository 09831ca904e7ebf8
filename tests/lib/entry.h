/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of the answer cache, written by hand into memory that follows xdp/abi.h: whole ones, and
 * such that cache_publish() would never write. Beside the hash (xdp/key.h) no code of the cache.
 *
 * Entries are laid end to end from the first segment on; the maker of the memory keeps the count.
 */
#ifndef VOLLEY_TESTS_LIB_ENTRY_H
#define VOLLEY_TESTS_LIB_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"

#define ENTRY_ZONE_SLOT 7u
#define ENTRY_ZONE_GEN  3u

/* What is asked, and what is answered. 0 means: type A (but of a kind: 0), class IN, ENTRY_ZONE_*,
 * never expires. */
struct entry {
	const uint8_t *name; /* wire form, in any case; of a kind: as it stands in the key */
	uint16_t qtype, qclass;
	uint8_t key_flags, view, kind;
	uint16_t flags; /* host order, as the counts; QR is set */
	uint16_t ancount, nscount, arcount_full, arcount_short;
	const uint8_t *body; /* NULL: a pattern */
	uint16_t full_bytes, short_bytes;
	uint32_t zone_slot, zone_gen, expires_s;
	uint32_t born_s;
	const uint16_t *ttls; /* offsets in the body, ascending; the sums take these TTLs as 0 */
	uint16_t n_ttls, refresh_s;
};

/* State for one million tests: magic, sizes, hash keys that are always the same, one zone. */
void entry_set_up(const struct cache_memory *memory);

uint64_t entry_hash(const struct cache_memory *memory, const struct entry *e);

/*
 * Writes an entry at `location` (0: where the store begins) and sets `*next` to where the next
 * goes. Returns the word that names it.
 */
uint64_t entry_write(const struct cache_memory *memory, const struct entry *e, uint32_t location,
		     uint32_t *next);

/* The slot of the index: `second` of the two buckets of this hash. */
uint64_t *entry_slot(const struct cache_memory *memory, uint64_t hash, bool second,
		     unsigned int slot);

/* The octet at `i` of the body that is put where none is given. */
uint8_t entry_pattern(size_t i);

#endif
