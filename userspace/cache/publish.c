/* SPDX-License-Identifier: GPL-2.0-only */
/* The writer's side: an entry is written whole, then one word makes it visible. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "cache/internal.h"
#include "xdp/sum.h"

#define QUESTION_OFFSET 12u /* the DNS header */
#define RACES_MAX       4   /* lost against other writers, then the answer is not cached */

static uint32_t entry_bytes(const struct cache_key *key, const struct cache_answer *answer)
{
	uint32_t bytes =
		(uint32_t)sizeof(struct volley_entry) + (key->n_words - 1) * 8 + answer->full_bytes;

	return (bytes + VOLLEY_UNIT_BYTES - 1) / VOLLEY_UNIT_BYTES * VOLLEY_UNIT_BYTES;
}

/* Of `n` octets that lie at `offset` of a message. */
static uint16_t body_sum(const uint8_t *body, uint32_t n, uint32_t offset)
{
	uint64_t sum = 0;
	uint16_t half;
	uint32_t i;

	for (i = 0; i + 1 < n; i += 2) {
		memcpy(&half, body + i, sizeof(half));
		sum += half;
	}
	if (n & 1)
		sum += body[n - 1]; /* the low octet, little endian as in xdp/question.h */
	return (uint16_t)sum_at(sum_fold(sum), offset);
}

static void write_entry(struct volley_entry *e, uint32_t bytes, const struct cache_key *key,
			const struct cache_answer *a, uint32_t now_s)
{
	const struct volley_key *k = (const struct volley_key *)key->words;
	uint32_t body_at = QUESTION_OFFSET + k->name_bytes + 4;
	uint32_t name_bytes = (key->n_words - 1) * 8;

	*e = (struct volley_entry){
		.hash = key->hash,
		.bytes = bytes,
		.expires_s = a->expires_s,
		.zone_slot = a->zone_slot,
		.zone_gen = a->zone_gen,
		.born_s = now_s,
		.flags = htons(a->flags),
		.ancount = htons(a->ancount),
		.nscount = htons(a->nscount),
		.arcount_full = htons(a->arcount_full),
		.arcount_short = htons(a->arcount_short),
		.full_bytes = a->full_bytes,
		.short_bytes = a->short_bytes,
		.full_sum = body_sum(a->body, a->full_bytes, body_at),
		.short_sum = body_sum(a->body, a->short_bytes, body_at),
		.body_offset = (uint16_t)(sizeof(*e) + name_bytes),
		.key = *k,
	};
	memcpy(e->name, &key->words[1], name_bytes);
	memcpy(e->name + name_bytes, a->body, a->full_bytes);
}

/* Where a word may go, and what is there now. */
struct place {
	uint64_t *slot;
	uint64_t word;
	enum { PLACE_NONE, PLACE_VICTIM, PLACE_DEAD, PLACE_EMPTY, PLACE_SAME } kind;
	uint8_t freq; /* of a victim */
};

static bool is_better(const struct place *new, const struct place *old)
{
	if (new->kind != old->kind)
		return new->kind > old->kind;
	return new->kind == PLACE_VICTIM &&new->freq < old->freq;
}

static struct place judge(const struct cache *cache, uint64_t *slot, const struct cache_key *key,
			  uint32_t now_s)
{
	struct place place = { .slot = slot, .word = load_word(slot), .kind = PLACE_EMPTY };
	const struct volley_entry *e;

	if (!place.word)
		return place;
	e = word_entry(cache, place.word);
	place.freq = __atomic_load_n(&e->freq, __ATOMIC_RELAXED);
	if (place.word >> 32 == volley_tag(key->hash) &&
	    !memcmp(&e->key, key->words, key->n_words * 8))
		place.kind = PLACE_SAME;
	else if (entry_verdict(cache, e, now_s) != CACHE_HIT)
		place.kind = PLACE_DEAD;
	else
		place.kind = PLACE_VICTIM;
	return place;
}

/* The best slot of both buckets: this key's own, an empty one, a dead one, the least asked one. */
static struct place find_place(const struct cache *cache, const struct cache_key *key,
			       uint32_t now_s)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	uint64_t *buckets[2] = { bucket_words(cache, volley_bucket(key->hash, n)),
				 bucket_words(cache, volley_bucket2(key->hash, n)) };
	struct place best = { .kind = PLACE_NONE };
	unsigned int i;

	for (i = 0; i < 2 * VOLLEY_BUCKET_SLOTS; i++) {
		struct place place =
			judge(cache, &buckets[i / VOLLEY_BUCKET_SLOTS][i % VOLLEY_BUCKET_SLOTS],
			      key, now_s);

		if (is_better(&place, &best))
			best = place;
	}
	return best;
}

static int publish_word(struct cache_writer *writer, const struct cache_key *key, uint64_t word,
			uint32_t now_s)
{
	int races;

	for (races = 0; races < RACES_MAX; races++) {
		struct place place = find_place(writer->cache, key, now_s);

		if (!__atomic_compare_exchange_n(place.slot, &place.word, word, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		writer->counters.published++;
		writer->counters.replaced += place.kind == PLACE_SAME;
		writer->counters.displaced += place.kind == PLACE_VICTIM;
		return 0;
	}
	return -EAGAIN;
}

int cache_publish(struct cache_writer *writer, const struct cache_key *key,
		  const struct cache_answer *answer, uint32_t now_s)
{
	uint32_t bytes = entry_bytes(key, answer);
	enum queue queue = QUEUE_PROBATION;
	struct volley_entry *e;

	if (answer->zone_slot >= writer->cache->memory.sizes.n_zones ||
	    answer->short_bytes > answer->full_bytes) {
		writer->counters.too_large++;
		return -EMSGSIZE;
	}
	if (ghost_recall(&writer->cache->ghost, key->hash)) {
		queue = QUEUE_MAIN;
		writer->counters.readmitted++;
	}
	e = segment_reserve(writer, queue, bytes);
	if (!e) {
		writer->counters.no_room++;
		return -ENOSPC;
	}
	write_entry(e, bytes, key, answer, now_s);
	segment_commit(writer, queue, e);
	return publish_word(writer, key, entry_word(writer->cache, e), now_s);
}

static bool withdraw_in(struct cache *cache, const struct cache_key *key, uint32_t bucket)
{
	uint64_t *words = bucket_words(cache, bucket);
	bool any = false;
	unsigned int i;

	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t word = load_word(&words[i]);

		if (!word || word >> 32 != volley_tag(key->hash) ||
		    memcmp(&word_entry(cache, word)->key, key->words, key->n_words * 8))
			continue;
		any |= __atomic_compare_exchange_n(&words[i], &word, 0, false, __ATOMIC_ACQ_REL,
						   __ATOMIC_RELAXED);
	}
	return any;
}

int cache_withdraw(struct cache *cache, const struct cache_key *key)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	bool any = withdraw_in(cache, key, volley_bucket(key->hash, n));

	any |= withdraw_in(cache, key, volley_bucket2(key->hash, n));
	return any ? 0 : -ENOENT;
}

int cache_writer_new(struct cache_writer **out, struct cache *cache)
{
	struct cache_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->cache = cache;
	pthread_mutex_lock(&cache->lock);
	writer->next = cache->writers;
	cache->writers = writer;
	pthread_mutex_unlock(&cache->lock);
	*out = writer;
	return 0;
}

static void add_counters(struct cache_counters *sum, const struct cache_counters *part)
{
#define ADD(name, words) sum->name += part->name;
	CACHE_COUNTERS(ADD)
#undef ADD
}

void cache_writer_free(struct cache_writer *writer)
{
	struct cache_writer **link;
	struct cache *cache;

	if (!writer)
		return;
	cache = writer->cache;
	segment_seal(writer, QUEUE_PROBATION);
	segment_seal(writer, QUEUE_MAIN);
	pthread_mutex_lock(&cache->lock);
	for (link = &cache->writers; *link != writer; link = &(*link)->next)
		;
	*link = writer->next;
	add_counters(&cache->past, &writer->counters);
	pthread_mutex_unlock(&cache->lock);
	free(writer);
}

void cache_stats_read(struct cache *cache, struct cache_stats *stats)
{
	size_t n_words = (size_t)cache->memory.sizes.n_buckets * VOLLEY_BUCKET_SLOTS, i;
	const struct cache_writer *writer;

	*stats = (struct cache_stats){ .sizes = cache->memory.sizes };
	for (i = 0; i < n_words; i++)
		stats->n_entries += load_word(&cache->memory.index[i]) != 0;
	for (i = 0; i < cache->memory.sizes.n_segments; i++) {
		const struct volley_segment *s = segment_at(cache, (uint32_t)i);

		if (s->state != VOLLEY_SEGMENT_FREE)
			stats->used_bytes += s->used_bytes;
	}
	pthread_mutex_lock(&cache->lock);
	stats->n_free = cache->free.n;
	stats->n_probation = cache->queues[QUEUE_PROBATION].n;
	stats->n_main = cache->queues[QUEUE_MAIN].n;
	stats->counters = cache->past;
	for (writer = cache->writers; writer; writer = writer->next)
		add_counters(&stats->counters, &writer->counters);
	pthread_mutex_unlock(&cache->lock);
}
