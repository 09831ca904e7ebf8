/* SPDX-License-Identifier: GPL-2.0-only */
/* Writers, and the sums of what they counted. */
#include <errno.h>
#include <stdlib.h>

#include "cache/internal.h"

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

static void add_counters(struct cache_counters *sum, const struct cache_counters *part)
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

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != VOLLEY_SEGMENT_FREE)
			stats->used_bytes += __atomic_load_n(&s->used_bytes, __ATOMIC_RELAXED);
	}
	pthread_mutex_lock(&cache->lock);
	stats->n_free = cache->free.n;
	stats->n_probation = cache->queues[QUEUE_PROBATION].n + cache->queues[QUEUE_DENIAL].n;
	stats->n_main = cache->queues[QUEUE_MAIN].n;
	stats->counters = cache->past;
	for (writer = cache->writers; writer; writer = writer->next)
		add_counters(&stats->counters, &writer->counters);
	pthread_mutex_unlock(&cache->lock);
}
