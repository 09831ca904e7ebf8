/* SPDX-License-Identifier: GPL-2.0-only */
/* Making room: the oldest segment gives up what is not asked for. */
#include "cache/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cache/internal.h"

/* Of the segments in use, so many belong to the probation queue at least before main gives way. */
#define PROBATION_SHARE 10u
#define KEEP_BYTES_MAX  (VOLLEY_SEGMENT_BYTES / 4 * 3)
#define BATCH_MAX       64u /* segments retired for one grace period */

/* The slot whose word still leads to this entry, or NULL. */
static uint64_t *slot_of(const struct cache *cache, const struct volley_entry *e)
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

static uint8_t freq_of(const struct volley_entry *e)
{
	return __atomic_load_n(&e->freq, __ATOMIC_RELAXED);
}

/* The next entry of a segment, or NULL at its end. Begins with e = NULL. */
static struct volley_entry *next_entry(struct volley_segment *segment, struct volley_entry *e)
{
	uint8_t *at = e ? (uint8_t *)e + e->bytes : (uint8_t *)segment + sizeof(*segment);

	return at < (uint8_t *)segment + segment->used_bytes ? (struct volley_entry *)at : NULL;
}

/*
 * The least freq with which an entry is kept, so that what is kept fills at most KEEP_BYTES_MAX:
 * else a cache in which everything is hot would copy it all, again and again.
 */
static uint8_t keep_from(const struct cache *cache, struct volley_segment *segment, uint32_t now_s)
{
	uint32_t bytes[VOLLEY_FREQ_MAX + 1] = { 0 };
	struct volley_entry *e = NULL;
	uint32_t sum = 0;
	uint8_t freq;

	while ((e = next_entry(segment, e)))
		if (entry_verdict(cache, e, now_s) == CACHE_HIT)
			bytes[freq_of(e) & VOLLEY_FREQ_MAX] += e->bytes;
	for (freq = VOLLEY_FREQ_MAX; freq > 0; freq--) {
		sum += bytes[freq];
		if (sum > KEEP_BYTES_MAX)
			break;
	}
	return freq < VOLLEY_FREQ_MAX ? (uint8_t)(freq + 1) : VOLLEY_FREQ_MAX;
}

/* Copies an entry to the main queue and turns its word to the copy. */
static bool copy_entry(struct cache_writer *keeper, const struct volley_entry *e, uint64_t *slot,
		       uint8_t freq)
{
	uint64_t word = entry_word(keeper->cache, e);
	struct volley_entry *copy = segment_reserve(keeper, QUEUE_MAIN, e->bytes);

	if (!copy)
		return false;
	memcpy(copy, e, e->bytes);
	copy->freq = freq;
	segment_commit(keeper, QUEUE_MAIN, copy);
	if (__atomic_compare_exchange_n(slot, &word, entry_word(keeper->cache, copy), false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		keeper->counters.kept++;
	return true;
}

static void withdraw_entry(struct cache_writer *keeper, const struct volley_entry *e,
			   uint64_t *slot, enum queue queue, bool valid)
{
	uint64_t word = entry_word(keeper->cache, e);

	if (!__atomic_compare_exchange_n(slot, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	if (!valid) {
		keeper->counters.expired++;
		return;
	}
	keeper->counters.evicted++;
	if (queue == QUEUE_PROBATION)
		ghost_remember(&keeper->cache->ghost, e->hash);
}

/* Empties a sealed segment: afterwards no word leads into it. */
static void retire(struct cache_writer *keeper, struct volley_segment *segment, uint32_t now_s)
{
	struct cache *cache = keeper->cache;
	enum queue queue = segment->queue == QUEUE_MAIN ? QUEUE_MAIN : QUEUE_PROBATION;
	uint8_t least = keep_from(cache, segment, now_s);
	struct volley_entry *e = NULL;
	uint32_t kept_bytes = 0;

	__atomic_store_n(&segment->state, VOLLEY_SEGMENT_RETIRED, __ATOMIC_RELEASE);
	while ((e = next_entry(segment, e))) {
		uint64_t *slot = slot_of(cache, e);
		bool valid = entry_verdict(cache, e, now_s) == CACHE_HIT;
		uint8_t freq = freq_of(e);

		if (!slot)
			continue;
		if (valid && freq >= least && kept_bytes + e->bytes <= KEEP_BYTES_MAX &&
		    copy_entry(keeper, e, slot, queue == QUEUE_MAIN ? (uint8_t)(freq - 1) : 0))
			kept_bytes += e->bytes;
		else
			withdraw_entry(keeper, e, slot, queue, valid);
	}
	keeper->counters.segments_retired++;
}

/* The queue that gives way: probation, once it has its share. */
static bool take_oldest(struct cache *cache, uint32_t *number)
{
	struct fifo *probation = &cache->queues[QUEUE_PROBATION];
	struct fifo *main_queue = &cache->queues[QUEUE_MAIN];
	bool from_probation, taken;

	pthread_mutex_lock(&cache->lock);
	from_probation = !main_queue->n ||
			 probation->n * PROBATION_SHARE > probation->n + main_queue->n;
	taken = from_probation ? fifo_pop(probation, number) : fifo_pop(main_queue, number);
	pthread_mutex_unlock(&cache->lock);
	return taken;
}

static void give_back(struct cache *cache, const uint32_t *numbers, uint32_t n)
{
	uint32_t i;

	pthread_mutex_lock(&cache->lock);
	for (i = 0; i < n; i++) {
		__atomic_store_n(&segment_at(cache, numbers[i])->state, VOLLEY_SEGMENT_FREE,
				 __ATOMIC_RELEASE);
		fifo_push(&cache->free, numbers[i]);
	}
	cache->wanted = false;
	pthread_mutex_unlock(&cache->lock);
}

static uint32_t n_free(struct cache *cache)
{
	uint32_t n;

	pthread_mutex_lock(&cache->lock);
	n = cache->free.n;
	pthread_mutex_unlock(&cache->lock);
	return n;
}

uint32_t cache_keep(struct cache *cache, uint32_t now_s, cache_grace_fn *grace, void *user)
{
	struct cache_writer *keeper = cache->keeper_writer;
	uint32_t reserve = segments_reserve(cache);
	uint32_t numbers[BATCH_MAX];
	uint32_t n = 0;

	while (n < BATCH_MAX && n_free(cache) + n < reserve && take_oldest(cache, &numbers[n])) {
		retire(keeper, segment_at(cache, numbers[n]), now_s);
		n++;
	}
	if (!n)
		return 0;
	grace(user);
	keeper->counters.grace_periods++;
	give_back(cache, numbers, n);
	return n;
}

void cache_keeper_wait(struct cache *cache, int timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&cache->lock);
	while (!cache->wanted)
		if (pthread_cond_timedwait(&cache->room_wanted, &cache->lock, &until))
			break;
	cache->wanted = false;
	pthread_mutex_unlock(&cache->lock);
}

struct cache_keeper {
	struct cache *cache;
	cache_grace_fn *grace;
	void *user;
	pthread_t thread;
	bool stopping;
};

#define ROUND_MS 200

static uint32_t coarse_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint32_t)now.tv_sec;
}

static void *keeper_main(void *arg)
{
	struct cache_keeper *keeper = arg;

	while (!__atomic_load_n(&keeper->stopping, __ATOMIC_ACQUIRE)) {
		cache_keeper_wait(keeper->cache, ROUND_MS);
		while (cache_keep(keeper->cache, coarse_s(), keeper->grace, keeper->user) &&
		       !__atomic_load_n(&keeper->stopping, __ATOMIC_ACQUIRE))
			;
	}
	return NULL;
}

int cache_keeper_start(struct cache_keeper **out, struct cache *cache, cache_grace_fn *grace,
		       void *user)
{
	struct cache_keeper *keeper = calloc(1, sizeof(*keeper));
	int err;

	if (!keeper)
		return -ENOMEM;
	*keeper = (struct cache_keeper){ .cache = cache, .grace = grace, .user = user };
	err = pthread_create(&keeper->thread, NULL, keeper_main, keeper);
	if (err) {
		free(keeper);
		return -err;
	}
	*out = keeper;
	return 0;
}

void cache_keeper_stop(struct cache_keeper *keeper)
{
	if (!keeper)
		return;
	__atomic_store_n(&keeper->stopping, true, __ATOMIC_RELEASE);
	pthread_mutex_lock(&keeper->cache->lock);
	keeper->cache->wanted = true;
	pthread_cond_signal(&keeper->cache->room_wanted);
	pthread_mutex_unlock(&keeper->cache->lock);
	pthread_join(keeper->thread, NULL);
	free(keeper);
}
