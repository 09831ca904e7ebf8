/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers records to parts of RRsets. A part ends when another type or owner follows. Then its
 * records are put in canonical order, duplicates are dropped, and if the arena has the same octets
 * already, the part uses them: a registry has many delegations, but few different NS RRsets.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/wire.h"
#include "zone/building.h"
#include "zone/image.h"
#include "dns/rdata.h"

/*
 * Slots for rdata seen lately, one for each hash: a later one replaces the earlier. 512 KiB; four
 * times as many found 1 % more in a zone of 5,000 hosters. Small zones have 16 KiB: to build one of
 * five records then takes 4.5 us, not 9.
 */
#define SHARED_CAP   65536u
#define SHARED_SMALL 2048u

/* --- The order of the records of one RRset --- */

struct sorted {
	const uint8_t *at; /* length and octets */
	uint32_t number;
};

static int cmp_gather_rdata(uint16_t type, const uint8_t *a, const uint8_t *b)
{
	return rdata_cmp(type, a + 2, wire_load_be16(a), b + 2, wire_load_be16(b));
}

static int cmp_sorted(const void *pa, const void *pb, void *type)
{
	const struct sorted *a = pa, *b = pb;
	int diff = cmp_gather_rdata(*(const uint16_t *)type, a->at, b->at);

	/* Of duplicates the first in the file is kept, with its letter case. */
	return diff ? diff : a->number < b->number ? -1 : 1;
}

static bool is_canonical(const struct zone_rrset *part, const uint8_t *at)
{
	for (unsigned i = 1; i < part->n; i++) {
		const uint8_t *next = at + 2 + wire_load_be16(at);

		if (cmp_gather_rdata(part->type, at, next) >= 0)
			return false;
		at = next;
	}
	return true;
}

/* Sorts the records of the last part of the arena and drops duplicates. @copy has their room. */
static void put_in_order(struct build_arena *arena, struct zone_rrset *part, uint8_t *copy,
			 struct sorted *sorted)
{
	uint8_t *to = arena->bytes + part->rdata;
	const uint8_t *at = copy, *before = NULL;
	unsigned n = part->n;

	memcpy(copy, to, arena->n - part->rdata);
	for (unsigned i = 0; i < n; i++) {
		sorted[i] = (struct sorted){ at, i };
		at += 2 + wire_load_be16(at);
	}
	qsort_r(sorted, n, sizeof(*sorted), cmp_sorted, &part->type);
	part->n = 0;
	for (unsigned i = 0; i < n; i++) {
		size_t bytes = 2u + wire_load_be16(sorted[i].at);

		if (before && !cmp_gather_rdata(part->type, before, sorted[i].at))
			continue;
		before = sorted[i].at;
		memcpy(to, before, bytes);
		to += bytes;
		part->n++;
	}
	arena->n = (size_t)(to - arena->bytes);
}

static int make_canonical(struct build_arena *arena, struct zone_rrset *part)
{
	struct sorted *sorted;
	uint8_t *copy;

	if (is_canonical(part, arena->bytes + part->rdata))
		return 0;
	sorted = malloc(part->n * sizeof(*sorted));
	copy = malloc(arena->n - part->rdata);
	if (sorted && copy)
		put_in_order(arena, part, copy, sorted);
	free(sorted);
	free(copy);
	return sorted && copy ? 0 : -ENOMEM;
}

/* --- Equal rdata --- */

/* Rdata of these types differs from owner to owner. */
static bool is_unique(uint16_t type)
{
	return type == DNS_TYPE_RRSIG || type == DNS_TYPE_NSEC || type == DNS_TYPE_NSEC3 ||
	       type == DNS_TYPE_DS;
}

/* When the table grows, the rdata seen before is forgotten. */
static int shared_reserve(struct zone_builder *b)
{
	size_t cap = b->n_parts > SHARED_SMALL / 8 ? SHARED_CAP : SHARED_SMALL;

	if (b->shared && b->shared_cap >= cap)
		return 0;
	free(b->shared);
	b->shared = calloc(cap, sizeof(*b->shared));
	b->shared_cap = cap;
	return b->shared ? 0 : -ENOMEM;
}

static int share(struct zone_builder *b, struct build_arena *arena, struct zone_rrset *part)
{
	uint32_t start = part->rdata, n = (uint32_t)(arena->n - start), there, check;
	struct build_shared *place;
	uint64_t hash;

	if (is_unique(part->type))
		return 0;
	if (shared_reserve(b))
		return -ENOMEM;
	hash = hash_label(b->seed, 0, arena->bytes + start, n);
	check = (uint32_t)(hash >> 32);
	place = &b->shared[hash & (b->shared_cap - 1)];
	there = place->behind - 1;
	/* Each record states its length, so equal octets are equal records. */
	if (place->behind && place->check == check && start - there >= n &&
	    !memcmp(arena->bytes + there, arena->bytes + start, n)) {
		part->rdata = there;
		arena->n = start;
	} else {
		*place = (struct build_shared){ start + 1, check };
	}
	return 0;
}

/* --- Parts --- */

static int end_part(struct zone_builder *b, struct build_arena *arena)
{
	struct zone_rrset *part;
	int rc;

	if (!arena->open)
		return 0;
	part = &b->parts[arena->open - 1];
	arena->open = 0;
	rc = make_canonical(arena, part);
	return rc ? rc : share(b, arena, part);
}

int gather_end(struct zone_builder *b)
{
	int rc = 0;

	for (unsigned i = 0; i < N_ARENAS && !rc; i++)
		rc = end_part(b, &b->arenas[i]);
	return rc;
}

static int parts_reserve(struct zone_builder *b)
{
	void *parts = b->parts, *origins = b->origins;
	int rc;

	if (b->n_parts >= UINT32_MAX - 1)
		return ERR_LIMIT;
	rc = builder_grow(&parts, &b->parts_cap, b->n_parts + 1, sizeof(*b->parts));
	b->parts = parts;
	if (!rc)
		rc = builder_grow(&origins, &b->origins_cap, b->n_parts + 1, sizeof(*b->origins));
	b->origins = origins;
	return rc;
}

static int new_part(struct zone_builder *b, uint32_t node, const struct zone_builder_record *rec)
{
	struct build_arena *arena = &b->arenas[arena_of(rec->type)];
	int rc = end_part(b, arena);

	if (!rc)
		rc = parts_reserve(b);
	if (rc)
		return rc;
	b->parts[b->n_parts] = (struct zone_rrset){ .rdata = (uint32_t)arena->n,
						    .ttl = rec->ttl,
						    .type = rec->type };
	b->origins[b->n_parts] = (struct build_origin){ .node = node };
	arena->open = (uint32_t)++b->n_parts;
	return 0;
}

static int arena_reserve(struct build_arena *arena, size_t n)
{
	void *bytes = arena->bytes;
	int rc;

	if (arena->n + n > UINT32_MAX)
		return ERR_LIMIT;
	rc = builder_grow(&bytes, &arena->cap, arena->n + n, 1);
	arena->bytes = bytes;
	return rc;
}

/* True if a record of @node and @type can be added to the open part. */
static bool is_open_for(const struct zone_builder *b, const struct build_arena *arena,
			uint32_t node, uint16_t type)
{
	uint32_t number = arena->open - 1;

	return arena->open && b->origins[number].node == node && b->parts[number].type == type &&
	       b->parts[number].n < UINT16_MAX;
}

int gather_add(struct zone_builder *b, uint32_t node, const struct zone_builder_record *rec)
{
	struct build_arena *arena = &b->arenas[arena_of(rec->type)];
	struct build_origin *origin;
	struct zone_rrset *part;
	int rc = arena_reserve(arena, 2u + rec->rdata_bytes);

	if (!rc && !is_open_for(b, arena, node, rec->type))
		rc = new_part(b, node, rec);
	if (rc)
		return rc;
	part = &b->parts[arena->open - 1];
	origin = &b->origins[arena->open - 1];
	wire_store_be16(arena->bytes + arena->n, rec->rdata_bytes);
	if (rec->rdata_bytes)
		memcpy(arena->bytes + arena->n + 2, rec->rdata, rec->rdata_bytes);
	arena->n += 2u + rec->rdata_bytes;
	origin->ttls_differ |= rec->ttl != part->ttl;
	origin->line = rec->at.line;
	origin->file = rec->at.file;
	part->ttl = rec->ttl < part->ttl ? rec->ttl : part->ttl;
	part->n++;
	return 0;
}

static size_t part_bytes(const struct build_arena *arena, const struct zone_rrset *part)
{
	const uint8_t *at = arena->bytes + part->rdata, *end = at;

	for (unsigned i = 0; i < part->n; i++)
		end += 2 + wire_load_be16(end);
	return (size_t)(end - at);
}

/* More records than zone_rrset.n can count are left out: zone_check() refuses the zone. */
int gather_join(struct zone_builder *b, size_t first, size_t n)
{
	struct zone_rrset *whole = &b->parts[first];
	struct build_arena *arena = &b->arenas[arena_of(whole->type)];
	uint32_t start = (uint32_t)arena->n;
	unsigned n_records = 0;
	bool differ = false, too_many = false;
	int rc;

	for (size_t i = first; i < first + n; i++) {
		const struct zone_rrset *part = &b->parts[i];
		size_t bytes = part_bytes(arena, part);

		too_many |= n_records + part->n > UINT16_MAX;
		if (too_many)
			break;
		rc = arena_reserve(arena, bytes);
		if (rc)
			return rc;
		memcpy(arena->bytes + arena->n, arena->bytes + part->rdata, bytes);
		arena->n += bytes;
		n_records += part->n;
		differ |= b->origins[i].ttls_differ || part->ttl != whole->ttl;
		whole->ttl = part->ttl < whole->ttl ? part->ttl : whole->ttl;
	}
	b->origins[first] = b->origins[first + n - 1];
	b->origins[first].ttls_differ = differ;
	b->origins[first].too_many = too_many;
	whole->rdata = start;
	whole->n = (uint16_t)n_records;
	rc = make_canonical(arena, whole);
	return rc ? rc : share(b, arena, whole);
}
