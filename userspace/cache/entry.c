/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an entry: its sums, its TTLs that age, and the check that they agree.
 *
 *	body     | ... TTL ....... TTL ... | ..... TTL ... |      stored as published
 *	ttls         ^             ^                ^             offsets, after the body
 *	sums     without the TTLs: a reader adds the TTLs that it writes
 */
#include <arpa/inet.h>

#include "base/wire.h"
#include "cache/cache_state.h"
#include "xdp/sum.h"

#define TTL_BYTES 4u

static uint32_t octets_sum(const uint8_t *octets, uint32_t n)
{
	uint64_t sum = 0;
	uint16_t half;
	uint32_t i;

	for (i = 0; i + 1 < n; i += 2) {
		memcpy(&half, octets + i, sizeof(half));
		sum += half;
	}
	if (n & 1)
		sum += octets[n - 1]; /* the low octet, little endian as in xdp/question.h */
	return sum_fold(sum);
}

uint16_t entry_body_sum(const uint8_t *body, uint32_t n, uint32_t offset, const uint16_t *ttls,
			uint32_t n_ttls)
{
	uint64_t sum = 0;
	uint32_t at = 0, i;

	for (i = 0; i < n_ttls && ttls[i] < n; i++) {
		sum += sum_at(octets_sum(body + at, ttls[i] - at), at);
		at = ttls[i] + TTL_BYTES;
	}
	sum += sum_at(octets_sum(body + at, n - at), at);
	return (uint16_t)sum_fold(sum_at(sum_fold(sum), offset));
}

bool entry_ttls_are_sound(const uint16_t *ttls, uint32_t n, uint32_t full_bytes,
			  uint32_t short_bytes)
{
	uint32_t least = 0, i;

	for (i = 0; i < n; i++) {
		uint32_t end = ttls[i] + TTL_BYTES;

		if (ttls[i] < least || end > full_bytes ||
		    (ttls[i] < short_bytes && end > short_bytes))
			return false;
		least = end;
	}
	return true;
}

static bool are_lengths_sound(const struct volley_entry *e, size_t room_bytes)
{
	return room_bytes >= sizeof(*e) && e->bytes <= room_bytes &&
	       e->bytes % VOLLEY_UNIT_BYTES == 0 && e->key.name_bytes &&
	       e->body_offset == sizeof(*e) + volley_name_padded(e->key.name_bytes) &&
	       volley_ttls_offset(e) + e->n_ttls * 2u <= e->bytes &&
	       e->short_bytes <= e->full_bytes;
}

bool entry_is_sound(const struct volley_entry *e, size_t room_bytes)
{
	const uint16_t *ttls = cache_entry_ttls(e);
	const uint8_t *body = cache_entry_body(e);
	uint32_t body_at;

	if (!are_lengths_sound(e, room_bytes) || e->key.view >= VOLLEY_N_VIEWS ||
	    (!e->key.view && e->ede) ||
	    !entry_ttls_are_sound(ttls, e->n_ttls, e->full_bytes, e->short_bytes))
		return false;
	body_at = entry_body_at(&e->key);
	return entry_body_sum(body, e->full_bytes, body_at, ttls, e->n_ttls) == e->full_sum &&
	       entry_body_sum(body, e->short_bytes, body_at, ttls, e->n_ttls) == e->short_sum;
}

bool cache_entry_is_sound(const struct volley_entry *entry, size_t room_bytes)
{
	return entry_is_sound(entry, room_bytes);
}

void cache_answer_of(struct cache_answer *answer, const struct volley_entry *entry, uint32_t now_s)
{
	*answer = (struct cache_answer){
		.body = cache_entry_body(entry),
		.full_bytes = entry->full_bytes,
		.short_bytes = entry->short_bytes,
		.ancount = ntohs(entry->ancount),
		.nscount = ntohs(entry->nscount),
		.arcount_full = ntohs(entry->arcount_full),
		.arcount_short = ntohs(entry->arcount_short),
		.partial = entry->partial,
		.ede = entry->ede,
		.flags = ntohs(entry->flags),
		.zone_slot = entry->zone_slot,
		.zone_gen = entry->zone_gen,
		.expires_s = entry->expires_s,
		.ttls = cache_entry_ttls(entry),
		.n_ttls = entry->n_ttls,
		.refresh_s = entry->refresh_s,
		.memory = entry->memory,
		/* The publisher may have read its clock later than this reader. */
		.age_s = now_s > entry->born_s ? now_s - entry->born_s : 0,
	};
}

void cache_answer_age(const struct cache_answer *answer, uint8_t *body, size_t n)
{
	uint32_t i;

	for (i = 0; i < answer->n_ttls && answer->ttls[i] < n; i++) {
		uint8_t *at = body + answer->ttls[i];
		uint32_t ttl = wire_load_be32(at);

		if (answer->stale_ttl_s)
			ttl = answer->stale_ttl_s;
		else
			ttl = ttl > answer->age_s ? ttl - answer->age_s : 0;
		wire_store_be32(at, ttl);
	}
}
