/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes entries of the answer cache by hand, in the layout of xdp/abi.h: right ones, and ones that
 * cache_publish() would never write. It shares only the hash (xdp/key.h) with the cache's code.
 *
 * Entries lie end to end from the first segment on; the owner of the memory keeps the count.
 */
#ifndef VOLLEY_TESTS_LIB_ENTRY_H
#define VOLLEY_TESTS_LIB_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"

#define ENTRY_ZONE_SLOT 7u
#define ENTRY_ZONE_GEN  3u

/* A question and its answer. 0 means: type A (type 0 with a kind), class IN, ENTRY_ZONE_*, never
 * expires. */
struct entry {
	const uint8_t *name; /* wire form, in any case; with a kind: as in the key */
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

/* Sets the state up: magic, sizes, hash keys that are always the same, one zone. */
void entry_set_up(const struct cache_memory *memory);

uint64_t entry_hash(const struct cache_memory *memory, const struct entry *e);

/*
 * Writes an entry at `location` (0: the beginning of the store) and sets `*next` to the next
 * location. Returns its index word.
 */
uint64_t entry_write(const struct cache_memory *memory, const struct entry *e, uint32_t location,
		     uint32_t *next);

/* A slot of the index, in the first or, with `second`, in the second bucket of this hash. */
uint64_t *entry_slot(const struct cache_memory *memory, uint64_t hash, bool second,
		     unsigned int slot);

/* Octet `i` of the body of an entry whose `body` is NULL. */
uint8_t entry_pattern(size_t i);

#endif
