/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/entry.h"

#include <arpa/inet.h>
#include <string.h>

#include "tests/lib/packet.h"
#include "xdp/key.h"

void entry_set_up(const struct cache_memory *memory)
{
	struct volley_state *state = memory->state;
	uint64_t secret = 0x9e3779b97f4a7c15u;

	state->abi = VOLLEY_ABI;
	state->n_buckets = memory->sizes.n_buckets;
	state->n_segments = memory->sizes.n_segments;
	state->n_zones = memory->sizes.n_zones;
	state->serve_until_s = VOLLEY_NEVER;
	state->max_udp_bytes = 1232;
	for (size_t i = 0; i < VOLLEY_NAME_WORDS + 1; i++) {
		secret ^= secret << 13;
		secret ^= secret >> 7;
		secret ^= secret << 17;
		state->hash_keys[i] = secret;
	}
	memory->zones[ENTRY_ZONE_SLOT].gen = ENTRY_ZONE_GEN;
	__atomic_store_n(&state->magic, VOLLEY_MAGIC, __ATOMIC_RELEASE);
}

/* Makes the key word and the folded name, and returns the number of words. All views of a question
 * have one hash. */
static size_t make_key(uint64_t words[1 + VOLLEY_NAME_WORDS], const struct entry *e, uint8_t view)
{
	size_t n = pkt_name_bytes(e->name);
	struct volley_key key = {
		.qtype = htons(e->qtype || e->kind ? e->qtype : 1),
		.qclass = htons(e->qclass ? e->qclass : 1),
		.flags = e->key_flags,
		.view = view,
		.name_bytes = (uint8_t)n,
		.kind = e->kind,
	};
	uint8_t *name = (uint8_t *)&words[1];

	memset(words, 0, (1 + VOLLEY_NAME_WORDS) * sizeof(*words));
	memcpy(words, &key, sizeof(key));
	for (size_t i = 0; i < n; i++) {
		uint8_t octet = e->name[i];

		name[i] = octet >= 'A' && octet <= 'Z' && !e->kind ? (uint8_t)(octet + 32) : octet;
	}
	return 1 + (n + 7) / 8;
}

uint64_t entry_hash(const struct cache_memory *memory, const struct entry *e)
{
	uint64_t words[1 + VOLLEY_NAME_WORDS];
	size_t n = make_key(words, e, 0);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += volley_hash_word(words[i], memory->state->hash_keys[i]);
	return volley_hash_mix(sum);
}

uint8_t entry_pattern(size_t i)
{
	return (uint8_t)(i * 167 + (i >> 8) * 13 + 5);
}

/*
 * The sum as defined in abi.h: of the octets in a message in which they begin at `offset`, with
 * TTLs of 0.
 */
static uint16_t sum_of(const struct entry *e, const uint8_t *body, size_t n, size_t offset)
{
	uint8_t without[UINT16_MAX];
	uint16_t sum;

	memcpy(without, body, n);
	for (size_t i = 0; i < e->n_ttls; i++) {
		if (e->ttls[i] + 4u <= n)
			memset(without + e->ttls[i], 0, 4);
	}
	sum = (uint16_t)~pkt_checksum(without, n, 0);
	return offset % 2 ? sum : htons(sum);
}

static void fill_body(uint8_t *body, const struct entry *e)
{
	if (e->body) {
		memcpy(body, e->body, e->full_bytes);
		return;
	}
	for (size_t i = 0; i < e->full_bytes; i++)
		body[i] = entry_pattern(i);
}

uint64_t entry_write(const struct cache_memory *memory, const struct entry *e, uint32_t location,
		     uint32_t *next)
{
	uint32_t first = sizeof(struct volley_segment) / VOLLEY_UNIT_BYTES;
	uint64_t words[1 + VOLLEY_NAME_WORDS];
	size_t n = make_key(words, e, e->view);
	size_t body_at = PKT_DNS_HEADER + pkt_name_bytes(e->name) + 4;
	struct volley_entry *to;
	uint8_t *body;

	location = location ? location : first;
	to = (void *)(memory->store + (size_t)location * VOLLEY_UNIT_BYTES);
	memset(to, 0, sizeof(*to));
	memcpy(&to->key, words, n * sizeof(*words));
	to->body_offset = (uint16_t)(offsetof(struct volley_entry, key) + n * sizeof(*words));
	body = (uint8_t *)to + to->body_offset;
	fill_body(body, e);
	to->hash = entry_hash(memory, e);
	to->expires_s = e->expires_s ? e->expires_s : VOLLEY_NEVER;
	to->zone_slot = e->zone_slot ? e->zone_slot : ENTRY_ZONE_SLOT;
	to->zone_gen = e->zone_gen ? e->zone_gen : ENTRY_ZONE_GEN;
	to->flags = htons(e->flags | PKT_QR);
	to->ancount = htons(e->ancount);
	to->nscount = htons(e->nscount);
	to->arcount_full = htons(e->arcount_full);
	to->arcount_short = htons(e->arcount_short);
	to->full_bytes = e->full_bytes;
	to->short_bytes = e->short_bytes;
	to->full_sum = sum_of(e, body, e->full_bytes, body_at);
	to->short_sum = sum_of(e, body, e->short_bytes, body_at);
	to->born_s = e->born_s;
	to->refresh_s = e->refresh_s;
	to->n_ttls = e->n_ttls;
	if (e->n_ttls)
		memcpy((uint8_t *)to + volley_ttls_offset(to), e->ttls,
		       e->n_ttls * sizeof(*e->ttls));
	to->bytes = (volley_ttls_offset(to) + e->n_ttls * 2u + VOLLEY_UNIT_BYTES - 1u) /
		    VOLLEY_UNIT_BYTES * VOLLEY_UNIT_BYTES;
	*next = location + to->bytes / VOLLEY_UNIT_BYTES;
	if (*next % VOLLEY_SEGMENT_UNITS > VOLLEY_START_MAX / VOLLEY_UNIT_BYTES)
		*next = (*next / VOLLEY_SEGMENT_UNITS + 1) * VOLLEY_SEGMENT_UNITS + first;
	return (to->hash >> 32) << 32 | location;
}

uint64_t *entry_slot(const struct cache_memory *memory, uint64_t hash, bool second,
		     unsigned int slot)
{
	uint32_t n = memory->sizes.n_buckets;
	uint32_t bucket = second ? volley_bucket2(hash, n) : volley_bucket(hash, n);

	return memory->index + (size_t)bucket * VOLLEY_BUCKET_SLOTS + slot;
}
