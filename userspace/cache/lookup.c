/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, and the reader's side of the cache: the same steps as xdp/lookup.h. */
#include "cache/cache_state.h"

uint64_t key_hash(const struct cache *cache, const uint64_t *words, uint32_t n_words)
{
	const __u64 *secrets = cache->memory.state->hash_keys;
	struct volley_key first;
	uint64_t word, sum;
	uint32_t i;

	memcpy(&first, words, sizeof(first));
	first.view = 0;
	memcpy(&word, &first, sizeof(word));
	sum = volley_hash_word(word, secrets[0]);
	for (i = 1; i < n_words; i++)
		sum += volley_hash_word(words[i], secrets[i]);
	return volley_hash_mix(sum);
}

void cache_key_from(struct cache_key *key, const struct cache *cache,
		    const struct volley_key *first, const uint8_t *folded)
{
	key->n_words = 1 + volley_name_padded(first->name_bytes) / 8;
	key->words[key->n_words - 1] = 0;
	key->first = *first;
	memcpy(&key->words[1], folded, first->name_bytes);
	key->hash = key_hash(cache, key->words, key->n_words);
}

void cache_key_init(struct cache_key *key, const struct cache *cache, const uint8_t *folded,
		    uint32_t name_bytes, uint16_t qtype, uint16_t qclass, uint8_t key_flags,
		    uint8_t view)
{
	const struct volley_key first = {
		.qtype = __builtin_bswap16(qtype),
		.qclass = __builtin_bswap16(qclass),
		.flags = key_flags,
		.view = view,
		.name_bytes = (uint8_t)name_bytes,
	};

	cache_key_from(key, cache, &first, folded);
}

enum cache_verdict entry_verdict(const struct cache *cache, const struct volley_entry *e,
				 uint32_t now_s)
{
	uint32_t gen;

	if (e->zone_slot >= cache->memory.sizes.n_zones)
		return CACHE_STALE;
	gen = __atomic_load_n(&cache->memory.zones[e->zone_slot].gen, __ATOMIC_ACQUIRE);
	if (!gen || gen != e->zone_gen)
		return CACHE_STALE;
	return now_s >= e->expires_s ? CACHE_EXPIRED : CACHE_HIT;
}

static void count_hit(struct volley_entry *e)
{
	uint8_t freq = entry_freq(e);

	/* stored only if it changes, so that the cache line stays shared */
	if (freq < VOLLEY_FREQ_MAX)
		__atomic_store_n(&e->freq, (uint8_t)(freq + 1), __ATOMIC_RELAXED);
}

uint64_t *entry_word_slot(const struct cache *cache, const struct volley_entry *e)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	uint64_t *buckets[2] = { bucket_words(cache, volley_bucket(e->hash, n)),
				 bucket_words(cache, volley_bucket2(e->hash, n)) };
	uint64_t word = entry_word(cache, e);
	unsigned int i;

	for (i = 0; i < 2 * VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t *slot = &buckets[i / VOLLEY_BUCKET_SLOTS][i % VOLLEY_BUCKET_SLOTS];

		if (load_word(slot) == word)
			return slot;
	}
	return NULL;
}

struct found {
	enum cache_verdict verdict;
	struct volley_entry *entry; /* valid or expired; else NULL */
};

/* True if a valid entry is found. Of dead ones an expired one is preferred to a stale one. */
static bool find_in_cached(const struct cache *cache, const struct cache_key *key, uint32_t bucket,
			   uint32_t now_s, struct found *found)
{
	const uint64_t *words = bucket_words(cache, bucket);
	unsigned int i;

	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t word = load_word(&words[volley_slot(key->hash) ^ i]);
		enum cache_verdict verdict;
		struct volley_entry *e;

		if (word >> 32 != volley_tag(key->hash) || !(uint32_t)word)
			continue;
		e = word_entry(cache, word);
		if (!entry_is_of(e, key))
			continue;
		verdict = entry_verdict(cache, e, now_s);
		if (verdict == CACHE_HIT) {
			*found = (struct found){ verdict, e };
			return true;
		}
		if (!found->entry)
			*found = (struct found){ verdict, verdict == CACHE_EXPIRED ? e : NULL };
	}
	return false;
}

enum cache_verdict cache_lookup(struct cache *cache, const struct cache_key *key, uint32_t now_s,
				bool count, const struct volley_entry **entry)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	struct found found = { CACHE_MISS, NULL };

	if (!find_in_cached(cache, key, volley_bucket(key->hash, n), now_s, &found))
		find_in_cached(cache, key, volley_bucket2(key->hash, n), now_s, &found);
	if (found.verdict == CACHE_HIT && count)
		count_hit(found.entry);
	*entry = found.entry;
	return found.verdict;
}

void cache_prefetch(const struct cache *cache, const struct cache_key *key)
{
	__builtin_prefetch(
		bucket_words(cache, volley_bucket(key->hash, cache->memory.sizes.n_buckets)));
}

/*
 * Looks only in the first bucket, where most entries are. An entry may begin anywhere in a cache
 * line, so its body is in the next lines.
 */
void cache_prefetch_entry(const struct cache *cache, const struct cache_key *key)
{
	const uint64_t *words =
		bucket_words(cache, volley_bucket(key->hash, cache->memory.sizes.n_buckets));
	unsigned int i;

	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t word = load_word(&words[volley_slot(key->hash) ^ i]);
		const uint8_t *entry;

		if (word >> 32 != volley_tag(key->hash) || !(uint32_t)word)
			continue;
		entry = (const uint8_t *)word_entry(cache, word);
		__builtin_prefetch(entry);
		__builtin_prefetch(entry + 64);
		__builtin_prefetch(entry + 128);
		return;
	}
}

bool cache_refresh_is_due(const struct volley_entry *entry, uint32_t now_s)
{
	/* readers write one octet, as with freq */
	struct volley_entry *e = (struct volley_entry *)entry;

	if (!e->refresh_s || now_s >= e->expires_s || e->expires_s - now_s > e->refresh_s ||
	    __atomic_load_n(&e->refreshing, __ATOMIC_RELAXED))
		return false;
	return !__atomic_exchange_n(&e->refreshing, 1, __ATOMIC_RELAXED);
}

const struct volley_entry *cache_refresh_entry(const struct cache *cache,
					       const struct volley_refresh *refresh)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	const uint64_t *buckets[2] = { bucket_words(cache, volley_bucket(refresh->hash, n)),
				       bucket_words(cache, volley_bucket2(refresh->hash, n)) };
	unsigned int i;

	for (i = 0; i < 2 * VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t word =
			load_word(&buckets[i / VOLLEY_BUCKET_SLOTS][i % VOLLEY_BUCKET_SLOTS]);
		const struct volley_entry *e;

		if (word >> 32 != volley_tag(refresh->hash) || !(uint32_t)word)
			continue;
		/* compared by hash: the keeper may have moved the entry */
		e = word_entry(cache, word);
		if (e->hash == refresh->hash && e->born_s == refresh->born_s && e->refresh_s)
			return e;
	}
	return NULL;
}
