/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys, and the reader's side of the cache: the same steps as xdp/lookup.h. */
#include "cache/internal.h"

uint64_t key_hash(const struct cache *cache, const uint64_t *words, uint32_t n_words)
{
	const __u64 *secrets = cache->memory.state->hash_keys;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n_words; i++)
		sum += volley_hash_word(words[i], secrets[i]);
	return volley_hash_mix(sum);
}

void cache_key_init(struct cache_key *key, const struct cache *cache, const uint8_t *folded,
		    uint32_t name_bytes, uint16_t qtype, uint16_t qclass, uint8_t key_flags,
		    uint8_t view)
{
	struct volley_key word = {
		.qtype = __builtin_bswap16(qtype),
		.qclass = __builtin_bswap16(qclass),
		.flags = key_flags,
		.view = view,
		.name_bytes = (uint8_t)name_bytes,
	};

	key->n_words = 1 + volley_name_padded(name_bytes) / 8;
	key->words[key->n_words - 1] = 0;
	memcpy(&key->words[0], &word, sizeof(word));
	memcpy(&key->words[1], folded, name_bytes);
	key->hash = key_hash(cache, key->words, key->n_words);
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

	if (freq < VOLLEY_FREQ_MAX) /* stored only when it changes: the line stays shared */
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

static struct volley_entry *find_in(const struct cache *cache, const struct cache_key *key,
				    uint32_t bucket, uint32_t now_s, enum cache_verdict *verdict)
{
	const uint64_t *words = bucket_words(cache, bucket);
	unsigned int i;

	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t word = load_word(&words[volley_slot(key->hash) ^ i]);
		struct volley_entry *e;
		enum cache_verdict found;

		if (word >> 32 != volley_tag(key->hash) || !(uint32_t)word)
			continue;
		e = word_entry(cache, word);
		if (!entry_is_of(e, key))
			continue;
		found = entry_verdict(cache, e, now_s);
		*verdict = found;
		if (found == CACHE_HIT)
			return e;
	}
	return NULL;
}

enum cache_verdict cache_lookup(struct cache *cache, const struct cache_key *key, uint32_t now_s,
				bool count, const struct volley_entry **entry)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	enum cache_verdict verdict = CACHE_MISS;
	struct volley_entry *e;

	e = find_in(cache, key, volley_bucket(key->hash, n), now_s, &verdict);
	if (!e)
		e = find_in(cache, key, volley_bucket2(key->hash, n), now_s, &verdict);
	if (e && count)
		count_hit(e);
	*entry = e;
	return verdict;
}
