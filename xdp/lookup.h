/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds a key's entry: two buckets at most, eight tags each, the full key compared.
 *
 * Words are read once; what is read decides, whatever writers do meanwhile (abi.h).
 */
#ifndef VOLLEY_XDP_LOOKUP_H
#define VOLLEY_XDP_LOOKUP_H

#include "xdp/abi.h"
#include "xdp/key.h"

struct bucket {
	__u64 words[VOLLEY_BUCKET_SLOTS];
};

/* The entry that a location names, or NULL when no entry can lie there. */
static __always_inline struct volley_entry *entry_at(void *store, __u32 location)
{
	__u32 segment = location / VOLLEY_SEGMENT_UNITS;
	__u32 offset = location % VOLLEY_SEGMENT_UNITS * VOLLEY_UNIT_BYTES;
	void *base = bpf_map_lookup_elem(store, &segment);

	asm volatile("" : "+r"(offset)); /* else clang checks one copy and uses another */
	if (!base || offset > VOLLEY_START_MAX)
		return NULL;
	return base + offset;
}

/* The key word and the name, word by word. */
static __always_inline int is_key_of(const struct volley_entry *e, const struct volley_cpu *cpu)
{
	const __u64 *theirs = (const void *)&e->key;
	__u32 n = 1 + (cpu->name_bytes + 7) / 8;
	__u32 i;

	for (i = 0; i <= VOLLEY_NAME_WORDS; i++) {
		if (i >= n)
			return 1;
		if (theirs[i] != cpu->folded[i])
			return 0;
	}
	return 1;
}

/* VOLLEY_HIT_FULL for a valid entry, else why it is none. */
static __always_inline int entry_check(const struct volley_entry *e, void *zones, __u32 now_s)
{
	__u32 slot = e->zone_slot;
	const struct volley_zone *zone = bpf_map_lookup_elem(zones, &slot);

	if (!zone || !zone->gen || zone->gen != e->zone_gen)
		return VOLLEY_UP_STALE;
	if (now_s >= e->expires_s)
		return VOLLEY_UP_EXPIRED;
	return VOLLEY_HIT_FULL;
}

#endif
