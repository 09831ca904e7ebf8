/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers, and the sums of their counters. */
#include <errno.h>
#include <stdlib.h>

#include "cache/cache_state.h"

int cache_writer_new(struct cache_writer **out, struct cache *cache)
{
	struct cache_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->cache = cache;
	pthread_mutex_lock(&cache->lock);
	writer->home = cache->n_writers++;
	writer->next = cache->writers;
	cache->writers = writer;
	pthread_mutex_unlock(&cache->lock);
	*out = writer;
	return 0;
}

static void add_cache_stats_counters(struct cache_counters *sum, const struct cache_counters *part)
{
#define ADD(name, words) sum->name += __atomic_load_n(&part->name, __ATOMIC_RELAXED);
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
	pthread_mutex_lock(&cache->lock);
	for (link = &cache->writers; *link != writer; link = &(*link)->next)
		;
	*link = writer->next;
	add_cache_stats_counters(&cache->past, &writer->counters);
	pthread_mutex_unlock(&cache->lock);
	free(writer);
}

#define ESTIMATE_BUCKETS 32768u

/* Counts one bucket of each `stride`: keys lie by their hash, so all buckets hold about as many. */
static uint64_t count_words(const struct cache *cache, uint32_t stride)
{
	uint64_t n_words = 0, n_seen = 0;

	for (uint32_t b = 0; b < cache->memory.sizes.n_buckets; b += stride, n_seen++)
		for (size_t i = 0; i < VOLLEY_BUCKET_SLOTS; i++)
			n_words +=
				load_word(
					&cache->memory.index[(size_t)b * VOLLEY_BUCKET_SLOTS + i]) !=
				0;
	return n_seen ? n_words * cache->memory.sizes.n_buckets / n_seen : 0;
}

static void read_stats(struct cache *cache, struct cache_stats *stats, uint32_t stride)
{
	const struct cache_writer *writer;
	size_t i;

	*stats = (struct cache_stats){ .sizes = cache->memory.sizes };
	stats->n_entries = count_words(cache, stride);
	for (i = 0; i < cache->memory.sizes.n_segments; i++) {
		const struct volley_segment *s = segment_at(cache, (uint32_t)i);

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != VOLLEY_SEGMENT_FREE)
			stats->used_bytes += __atomic_load_n(&s->used_bytes, __ATOMIC_RELAXED);
	}
	pthread_mutex_lock(&cache->lock);
	stats->n_free = cache->free.n;
	stats->n_probation = cache->queues[QUEUE_PROBATION].n + cache->queues[QUEUE_DENIAL].n;
	stats->n_main = cache->queues[QUEUE_MAIN].n;
	stats->counters = cache->past;
	for (writer = cache->writers; writer; writer = writer->next)
		add_cache_stats_counters(&stats->counters, &writer->counters);
	pthread_mutex_unlock(&cache->lock);
}

void cache_stats_read(struct cache *cache, struct cache_stats *stats)
{
	read_stats(cache, stats, 1);
}

void cache_stats_estimate(struct cache *cache, struct cache_stats *stats)
{
	uint32_t stride = cache->memory.sizes.n_buckets / ESTIMATE_BUCKETS;

	/* odd: else only one half of each page of buckets would be seen */
	read_stats(cache, stats, stride > 1 ? stride | 1 : 1);
}
