/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limits/block_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/wire.h"
#include "xdp/names.h"

#define BUCKET_LOAD    4u /* blocks for each bucket of a full table: half of its words */
#define OCTETS_A_BLOCK 2u /* of a filter */
#define COUNT_MAX      255u
#define HEAD_UNITS     (VOLLEY_BLOCK_HEAD_BYTES / VOLLEY_BLOCK_BYTES)

/* ---- Sizes ----------------------------------------------------------------------------------- */

static uint32_t buckets_for(uint32_t cap)
{
	uint32_t n = cap / BUCKET_LOAD + 1;

	return (n + VOLLEY_PAGE_BUCKETS - 1) / VOLLEY_PAGE_BUCKETS * VOLLEY_PAGE_BUCKETS;
}

/* The first block is behind filters, head and buckets. So no block has location 0, which means
 * none. */
static uint32_t first_location(uint32_t cap)
{
	return VOLLEY_BLOCK_HEAD * VOLLEY_BLOCK_IN_CHUNK + HEAD_UNITS +
	       buckets_for(cap) * (VOLLEY_BLOCK_LINE / VOLLEY_BLOCK_BYTES);
}

uint32_t block_table_chunks(uint32_t cap)
{
	return (first_location(cap) + cap + VOLLEY_BLOCK_IN_CHUNK - 1) / VOLLEY_BLOCK_IN_CHUNK;
}

static uint32_t lines_for(uint32_t cap)
{
	uint32_t n = VOLLEY_BLOCK_LINES_MIN;

	while (n < VOLLEY_BLOCK_LINES_MAX && n * VOLLEY_BLOCK_LINE < cap * OCTETS_A_BLOCK)
		n *= 2;
	return n;
}

/* ---- Life ------------------------------------------------------------------------------------ */

int block_table_secrets(struct volley_block_head *secrets)
{
	uint8_t *octets = (uint8_t *)secrets;
	size_t n = 0;

	while (n < sizeof(*secrets)) {
		ssize_t got = getrandom(octets + n, sizeof(*secrets) - n, 0);

		if (got < 0 && errno != EINTR)
			return -errno;
		n += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int block_table_init(struct block_table *t, void *memory, uint32_t cap,
		     const struct volley_block_head *secrets)
{
	uint32_t n_lines = lines_for(cap);

	assert(cap && cap <= BLOCK_TABLE_MAX);
	*t = (struct block_table){
		.memory = memory,
		.cap = cap,
		.n_lines = n_lines,
		.first_at = first_location(cap),
		.counts[0] = calloc(n_lines * 8, VOLLEY_BLOCK_LINE),
		.counts[1] = calloc(n_lines * 8, VOLLEY_BLOCK_LINE),
		.next = calloc(cap, sizeof(*t->next)),
	};
	if (!t->counts[0] || !t->counts[1] || !t->next) {
		block_table_fini(t);
		return -ENOMEM;
	}
	t->head = block_chunk(memory, VOLLEY_BLOCK_HEAD);
	*t->head = *secrets;
	t->head->n_buckets = buckets_for(cap);
	t->head->filter_shift = 64 - (uint32_t)__builtin_ctz(n_lines);
	t->head->groups[0] = t->head->groups[1] = 0;
	return 0;
}

void block_table_fini(struct block_table *t)
{
	free(t->counts[0]);
	free(t->counts[1]);
	free(t->next);
	*t = (struct block_table){ 0 };
}

/* ---- Keys ------------------------------------------------------------------------------------ */

struct volley_block_key block_key_prefix(bool is_ipv6, const uint8_t *address, unsigned int bits)
{
	uint64_t high = (uint64_t)wire_load_be32(address) << 32;
	uint64_t low = 0;
	uint32_t kind = is_ipv6 ? VOLLEY_BLOCK_PREFIX6 : VOLLEY_BLOCK_PREFIX4;

	if (is_ipv6) {
		high |= wire_load_be32(address + 4);
		low = (uint64_t)wire_load_be32(address + 8) << 32 | wire_load_be32(address + 12);
	}
	return (struct volley_block_key){
		.high = volley_block_high(high, bits),
		.low = volley_block_low(low, bits),
		.kind_bits = kind | bits << 8,
	};
}

struct volley_block_key block_key_type(uint16_t type)
{
	return (struct volley_block_key){ .high = type, .kind_bits = VOLLEY_BLOCK_TYPE };
}

struct volley_block_key block_key_name(const struct volley_block_head *secrets,
				       const uint8_t *folded, unsigned int bytes)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < bytes; i++)
		sum += volley_names_part(secrets->name_keys, folded[i], bytes - 1 - i);
	return (struct volley_block_key){
		.high = volley_hash_mix(sum),
		.kind_bits = VOLLEY_BLOCK_NAME | bytes << 8,
	};
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* The position of a key in a filter. */
struct spot {
	int filter; /* 0: IPv4; 1: the others */
	uint32_t group;
	uint64_t hash;
	uint64_t fine; /* of a prefix only */
	uint32_t bit;
};

static struct spot spot_of(const struct volley_block_head *head, const struct volley_block_key *key)
{
	const uint32_t kind = key->kind_bits & 0xff, bits = key->kind_bits >> 8;
	struct spot s = { .filter = kind != VOLLEY_BLOCK_PREFIX4 };
	uint64_t sum = 0;

	if (kind == VOLLEY_BLOCK_NAME || kind == VOLLEY_BLOCK_TYPE) { /* types have no filter */
		s.hash = key->high;
		s.bit = VOLLEY_BLOCK_BIT(s.hash);
		return s;
	}
	s.group = bits / 8;
	for (uint32_t i = 0; i < s.group; i++)
		sum += volley_block_octet(key->high, key->low, i) * head->octet_keys[i];
	s.hash = sum + head->group_keys[s.filter][s.group];
	s.fine = volley_block_fine(s.hash, volley_block_octet(key->high, key->low, s.group & 15),
				   bits % 8);
	s.bit = 1u << bits % 8;
	return s;
}

/* Counts a block for a bit of an octet, and sets or clears the bit when needed. */
static void count_bit(struct block_table *t, const struct spot *s, uint64_t octet, uint32_t bit,
		      bool is_added)
{
	size_t at = (size_t)volley_block_line(t->head, s->hash) * VOLLEY_BLOCK_LINE + octet;
	uint8_t *filter = block_chunk(t->memory, (uint32_t)s->filter);
	uint8_t *count = &t->counts[s->filter][at * 8 + (uint32_t)__builtin_ctz(bit)];
	uint8_t old = filter[at];

	if (*count == COUNT_MAX) /* too many to count: the bit stays set */
		return;
	*count = (uint8_t)(is_added ? *count + 1 : *count - 1);
	if (is_added && *count == 1)
		__atomic_store_n(&filter[at], (uint8_t)(old | bit), __ATOMIC_RELAXED);
	if (!*count)
		__atomic_store_n(&filter[at], (uint8_t)(old & ~bit), __ATOMIC_RELAXED);
}

static void count_group(struct block_table *t, const struct spot *s, bool is_added)
{
	uint32_t *n = &t->n_in_group[s->filter][s->group];
	uint32_t *groups = &t->head->groups[s->filter];

	*n = is_added ? *n + 1 : *n - 1;
	if (*n <= 1)
		__atomic_store_n(groups,
				 *n ? *groups | 1u << s->group : *groups & ~(1u << s->group),
				 __ATOMIC_RELAXED);
}

static void count_block(struct block_table *t, const struct volley_block_key *key, bool is_added)
{
	const uint32_t kind = key->kind_bits & 0xff;
	const struct spot s = spot_of(t->head, key);

	if (kind != VOLLEY_BLOCK_TYPE) {
		count_bit(t, &s, VOLLEY_BLOCK_OCTET1(s.hash), s.bit, is_added);
		count_bit(t, &s, VOLLEY_BLOCK_OCTET2(s.hash), s.bit, is_added);
		count_bit(t, &s, VOLLEY_BLOCK_OCTET3(s.hash), s.bit, is_added);
	}
	if (kind == VOLLEY_BLOCK_PREFIX4 || kind == VOLLEY_BLOCK_PREFIX6) {
		count_bit(t, &s, VOLLEY_BLOCK_FINE1(s.fine), VOLLEY_BLOCK_FINE1_BIT(s.fine),
			  is_added);
		count_bit(t, &s, VOLLEY_BLOCK_FINE2(s.fine), VOLLEY_BLOCK_FINE2_BIT(s.fine),
			  is_added);
		count_group(t, &s, is_added);
	}
	t->n = is_added ? t->n + 1 : t->n - 1;
	t->n_of[kind] += is_added ? 1 : -1u;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static struct volley_block *block_at(const struct block_table *t, uint32_t location)
{
	return volley_block_at(t->memory, location);
}

/* A free location, or 0: there is none. */
static uint32_t take_block_place(struct block_table *t)
{
	uint32_t place = t->free;

	if (place)
		t->free = t->next[place - 1];
	else if (t->n_ever < t->cap)
		place = ++t->n_ever;
	return place ? t->first_at + place - 1 : 0;
}

static void give_back_block(struct block_table *t, uint32_t location, uint32_t *chain)
{
	uint32_t place = location - t->first_at + 1;

	t->next[place - 1] = *chain;
	*chain = place;
}

bool block_table_retire(struct block_table *t)
{
	if (!t->limbo || t->retired)
		return false;
	t->retired = t->limbo;
	t->limbo = 0;
	return true;
}

void block_table_reclaim(struct block_table *t)
{
	while (t->retired) {
		uint32_t place = t->retired;

		t->retired = t->next[place - 1];
		t->next[place - 1] = t->free;
		t->free = place;
	}
}

/* ---- Words ----------------------------------------------------------------------------------- */

static uint64_t *bucket_of_block(const struct block_table *t, uint64_t hash, uint32_t n)
{
	uint32_t bucket = volley_bucket(hash, t->head->n_buckets);
	uint8_t *page = volley_block_page(t->memory, bucket);

	return (uint64_t *)(void *)(page +
				    (size_t)volley_block_try(bucket, hash, n) * VOLLEY_BLOCK_LINE);
}

static uint32_t location_of(uint64_t word)
{
	return (uint32_t)word & ~VOLLEY_BLOCK_MORE;
}

static uint64_t *block_free_slot(uint64_t *words, uint64_t hash)
{
	uint32_t at = volley_slot(hash);

	for (uint32_t i = 0; i < VOLLEY_BUCKET_SLOTS; i++, at++)
		if (!location_of(words[at % VOLLEY_BUCKET_SLOTS]))
			return &words[at % VOLLEY_BUCKET_SLOTS];
	return NULL;
}

/* First marks the buckets tried before with MORE, then stores the word. */
static bool publish_block(struct block_table *t, uint64_t hash, uint32_t location)
{
	const uint64_t word = (uint64_t)volley_tag(hash) << 32 | location;
	uint64_t *slot = NULL;
	uint32_t n;

	for (n = 0; n < VOLLEY_BLOCK_TRIES && !slot; n++)
		slot = block_free_slot(bucket_of_block(t, hash, n), hash);
	if (!slot)
		return false;
	for (n--; n-- > 0;) {
		uint64_t *first = bucket_of_block(t, hash, n);

		__atomic_store_n(first, *first | VOLLEY_BLOCK_MORE, __ATOMIC_RELAXED);
	}
	__atomic_store_n(slot, word | (*slot & VOLLEY_BLOCK_MORE), __ATOMIC_RELEASE);
	return true;
}

static uint64_t *find_word(const struct block_table *t, uint64_t hash,
			   const struct volley_block *block)
{
	for (uint32_t n = 0; n < VOLLEY_BLOCK_TRIES; n++) {
		uint64_t *words = bucket_of_block(t, hash, n);

		for (uint32_t i = 0; i < VOLLEY_BUCKET_SLOTS; i++)
			if (location_of(words[i]) && block_at(t, location_of(words[i])) == block)
				return &words[i];
	}
	return NULL;
}

/* ---- What is called -------------------------------------------------------------------------- */

struct volley_block *block_table_get(const struct block_table *t,
				     const struct volley_block_key *key)
{
	return volley_block_find(t->memory, t->head, key);
}

int block_table_set(struct block_table *t, const struct volley_block_key *key, uint64_t rule)
{
	struct volley_block *block = block_table_get(t, key);
	uint32_t location;

	if (block) {
		__atomic_store_n(&block->rule, rule, __ATOMIC_RELAXED);
		return 0;
	}
	location = take_block_place(t);
	if (!location)
		return -ENOSPC;
	*block_at(t, location) = (struct volley_block){ key->high, key->low, rule, 0 };
	count_block(t, key, true);
	if (publish_block(t, volley_block_hash(t->head, key->high, key->low, key->kind_bits),
			  location))
		return 0;
	count_block(t, key, false);
	give_back_block(t, location, &t->free);
	return -ENOSPC;
}

bool block_table_remove(struct block_table *t, const struct volley_block_key *key)
{
	struct volley_block *block = block_table_get(t, key);
	uint32_t location;
	uint64_t *word;

	if (!block)
		return false;
	word = find_word(t, volley_block_hash(t->head, key->high, key->low, key->kind_bits), block);
	assert(word);
	location = location_of(*word);
	__atomic_store_n(word, *word & VOLLEY_BLOCK_MORE, __ATOMIC_RELEASE);
	count_block(t, key, false);
	give_back_block(t, location, &t->limbo);
	return true;
}

int block_table_each(const struct block_table *t, block_table_fn *fn, void *user)
{
	for (uint32_t number = 0; number < t->head->n_buckets; number++) {
		const uint8_t *page = volley_block_page(t->memory, number);
		const uint64_t *words =
			(const void *)(page + number % VOLLEY_PAGE_BUCKETS * VOLLEY_BLOCK_LINE);

		for (uint32_t i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
			uint32_t location = location_of(words[i]);
			const struct volley_block *block = location ? block_at(t, location) : NULL;
			struct volley_block_key key;
			int code;

			if (!block)
				continue;
			key = (struct volley_block_key){ block->high, block->low,
							 (uint32_t)(block->rule >> 32 & 0xffff),
							 0 };
			code = fn(user, &key, block);
			if (code)
				return code;
		}
	}
	return 0;
}

uint32_t block_table_kinds(const struct block_table *t)
{
	uint32_t kinds = 0;

	if (t->n_of[VOLLEY_BLOCK_PREFIX4] || t->n_of[VOLLEY_BLOCK_PREFIX6])
		kinds |= VOLLEY_BLOCKS_PREFIXES;
	if (t->n_of[VOLLEY_BLOCK_NAME])
		kinds |= VOLLEY_BLOCKS_NAMES;
	if (t->n_of[VOLLEY_BLOCK_TYPE])
		kinds |= VOLLEY_BLOCKS_TYPES;
	return kinds;
}
